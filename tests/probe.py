"""Runs plain Scrapy with single components of incrawl in a process of its own, and tells what happened.

`probe(urls, settings)` is for tests. Its process reads a job from a file, requests its URLs and writes
what became of each, the stats, and the memory used into another.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crawls import forker, until

SAFE_SETTINGS: dict[str, Any] = {
    "DOWNLOAD_HANDLERS": {
        "file": None,
        "data": None,
        "ftp": None,
        "s3": None,
        "http": "incrawl.network.handler.BoundedHTTP11DownloadHandler",
        "https": "incrawl.network.handler.BoundedHTTP11DownloadHandler",
    },
    "DNS_TIMEOUT": 5,
    "DOWNLOAD_TIMEOUT": 5,
    "HTTPERROR_ALLOW_ALL": True,
    "INCRAWL_ALLOW_NETWORKS": "loopback",
    "LOG_LEVEL": "WARNING",
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "TWISTED_DNS_RESOLVER": "probe_resolver.TableResolver",
}


@dataclass(frozen=True)
class Outcome:
    """What became of one URL: a response, or an exception."""

    status: int = 0
    body: str = ""
    flags: tuple[str, ...] = ()
    error: str = ""  # the exception's class and text
    url: str = ""  # where redirects led to
    address: str = ""


@dataclass(frozen=True)
class Report:
    outcomes: dict[str, Outcome]
    stats: dict[str, Any]
    peak_megabytes: float
    log: str

    def __getitem__(self, url: str) -> Outcome:
        return self.outcomes[url]


def probe(
    urls: list[str], settings: dict[str, Any], names: dict[str, list[str]] | None = None, timeout: float = 120
) -> Report:
    """Requests each URL once. `names` says what a name resolves to: at each look-up the next address."""
    job = {"urls": urls, "settings": {**SAFE_SETTINGS, **settings}}
    with TemporaryDirectory() as place:
        files = {name: Path(place, name) for name in ("job", "out", "log", "code")}
        files["job"].write_text(json.dumps(job))
        environment = {**os.environ, "PROBE_NAMES": json.dumps(names or {}), "PROBE_JOB": str(files["job"])}
        pid = forker().fork(
            [], files["log"], Path(place), environment=environment, module="probe",
            out=str(files["out"]), code=str(files["code"]),
        )  # fmt: skip
        until(lambda: files["code"].exists() and files["code"].read_text(), timeout)
        log = files["log"].read_text(errors="replace")
        assert files["code"].read_text() == "0", f"probe {pid}: {log}"
        report = json.loads(files["out"].read_text())
    outcomes = {url: Outcome(**told) for url, told in report["outcomes"].items()}
    return Report(outcomes, report["stats"], report["peak_megabytes"], log)


def main() -> None:
    import resource

    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess

    job = json.loads(Path(os.environ["PROBE_JOB"]).read_text())
    outcomes: dict[str, dict[str, Any]] = {}

    class Probe(Spider):
        name = "probe"

        async def start(self) -> Any:
            for url in job["urls"]:
                yield Request(
                    url, self.parse, errback=self.failed, dont_filter=True, cb_kwargs={"asked": url}
                )

        def parse(self, response: Any, asked: str) -> Any:
            outcomes[asked] = {
                "status": response.status,
                "body": response.body[:200].decode(errors="replace"),
                "flags": response.flags,
                "url": response.url,
                "address": str(response.ip_address or ""),
            }
            if hasattr(response, "css") and job["settings"].get("PROBE_FOLLOW"):
                for link in response.css("a::attr(href)").getall():
                    yield Request(response.urljoin(link), self.parse, cb_kwargs={"asked": link})

        def failed(self, failure: Any) -> None:
            asked = failure.request.cb_kwargs["asked"]
            outcomes[asked] = {"error": f"{failure.type.__name__}: {failure.value}"}

    process = CrawlerProcess(job["settings"])
    crawler = process.create_crawler(Probe)
    process.crawl(crawler)
    process.start()
    stats = {
        key: value for key, value in crawler.stats.get_stats().items() if isinstance(value, int | float | str)
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    json.dump({"outcomes": outcomes, "stats": stats, "peak_megabytes": peak}, sys.stdout)
