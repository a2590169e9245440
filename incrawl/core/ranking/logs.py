"""Reading who asked for which page: access logs in common or combined format, or CSV url,user,time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from urllib.parse import urljoin

from incrawl.core.ranking.interest import Hit
from incrawl.core.urls import canonical, is_web_url

_ROBOT = re.compile(r"bot\b|bot/|crawl|spider|slurp|incrawl", re.IGNORECASE)
_MONTHS = {name: number for number, name in enumerate(
    ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
)}  # fmt: skip
_READ = frozenset({"200", "203", "206", "304"})


@dataclass(slots=True)
class LogReader:
    """Turns lines into hits; what a line was worth is counted, and no line is fatal.

    `site` (`https://example.com`) completes the paths of a log that does not name its host.
    """

    site: str = ""
    hits: int = 0
    robots: int = 0  # crawlers are no readers, this one included
    other: int = 0  # not a page that was read: errors, redirects, POST
    bad: int = 0
    _is_csv: bool | None = field(default=None)

    def read(self, lines: Iterable[str]) -> Iterator[Hit]:
        """The hits in the lines of one file, whose first line tells its format."""
        self._is_csv = None
        for line in lines:
            if self._is_csv is None:
                self._is_csv = '"' not in line and line.count(",") >= 2
                if self._is_csv and line.strip().lower() == "url,user,time":
                    continue
            hit = self.from_csv(line) if self._is_csv else self.from_access_log(line)
            if hit is not None:
                self.hits += 1
                yield hit

    def from_csv(self, line: str) -> Hit | None:
        """`url,user,time`: the URL may hold commas, the other two may not."""
        url, _, rest = line.rstrip("\r\n").rpartition(",")
        url, _, user = url.rpartition(",")
        time, address = csv_time(rest), address_of(url.strip('"'), self.site)
        if time is None or not user or address is None:
            self.bad += 1
            return None
        return Hit(address, user, time)

    def from_access_log(self, line: str) -> Hit | None:
        """A line is cut at its quotes, which is twice as fast as one regular expression:
        `host ident user [time] "request" status size "referrer" "agent"`."""
        parts = line.split('"', 6)
        client, _, rest = parts[0].partition(" [")
        names, request = client.split(), parts[1].split() if len(parts) > 2 else ()
        if not 3 <= len(names) <= 4 or len(request) < 2 or not parts[2][1:4].isdigit():
            self.bad += 1
            return None
        agent = parts[5] if len(parts) > 5 else ""
        if request[0] != "GET" or parts[2][1:4] not in _READ:
            self.other += 1
            return None
        if is_robot(agent):
            self.robots += 1
            return None
        return self.hit(names, rest.partition("]")[0], request[1], agent)

    def hit(self, names: list[str], stamp: str, path: str, agent: str) -> Hit | None:
        """`names` are host, ident and user, after the site's own name in vhost_combined."""
        site = self.site or (f"http://{names[0]}" if len(names) == 4 else "")
        time, address = log_time(stamp), address_of(path, site)
        if time is None or address is None:
            self.bad += 1
            return None
        return Hit(address, f"{names[-3]} {agent}" if names[-1] == "-" else names[-1], time)


@lru_cache(4096)
def is_robot(agent: str) -> bool:
    return _ROBOT.search(agent) is not None


@lru_cache(65536)
def address_of(path: str, site: str) -> str | None:
    """The canonical URL of a path as logged, or None where it names no page on the web."""
    try:
        url = urljoin(site, path) if site else path
        return canonical(url) if is_web_url(url) else None
    except ValueError:
        return None


@lru_cache(4096)
def log_time(stamp: str) -> float | None:
    """Unix seconds of `10/Oct/2000:13:55:36 -0700`."""
    try:
        day, month, rest = stamp[:2], stamp[3:6], stamp[7:]
        year, hour, minute, second = rest[:4], rest[5:7], rest[8:10], rest[11:13]
        zone = rest[14:] or "+0000"
        offset = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:5]))
        return datetime(
            int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second), tzinfo=timezone(offset)
        ).timestamp()
    except (ValueError, KeyError, IndexError):
        return None


def csv_time(text: str) -> float | None:
    """Unix seconds from a number or an ISO 8601 date; a date without a zone is UTC."""
    try:
        if "-" not in text[1:]:
            return float(text)
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
