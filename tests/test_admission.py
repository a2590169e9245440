"""What may become known, in real crawls: filters, content, link limits, session ids, traps."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from crawls import ROOT, Crawl, Reply, Site, html
from hostile import Exchange, HostileServer

from incrawl.frontier.trapped import known_traps


def test_links_pass_all_rules_before_they_become_known(state_dir: Path) -> None:
    filters = state_dir / "filters.txt"
    filters.write_text("deny prefix /private/\n", encoding="utf-8")
    links = [
        "/kept",
        "/kept?PHPSESSID=1",
        "/kept;jsessionid=2",
        "/private/1",
        "/style.css",
        "/report.pdf",
        "/a/b/a/b/a/b",
        "/moved",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "data:text/html,x",
        "/" + "x" * 3000,
    ]
    pages = {
        "/": Reply(html(*links)),
        "/kept": Reply(html(*(f"/n{n}" for n in range(30)))),
        "/moved": Reply(status=301, headers={"Location": "/private/2"}),
        **{f"/n{n}": Reply(html(text=f"page {n}")) for n in range(30)},
    }
    with Site(pages) as site:
        crawl = Crawl(state_dir, INCRAWL_FILTERS=str(filters), INCRAWL_MAX_LINKS="12")
        done = crawl.run(urls=site.url("/"))
        assert done.code == 0, done.log
        assert sorted(site.paths()) == sorted(["/", "/kept", "/moved", *(f"/n{n}" for n in range(12))])
        counted = {name: done.stats[f"incrawl/{name}"] for name in (
            "filters/links", "filters/requests", "content/links", "traps/repeats", "limits/links",
        )}  # fmt: skip
        assert counted == {
            "filters/links": 1,
            "filters/requests": 1,
            "content/links": 2,
            "traps/repeats": 1,
            "limits/links": 18,
        }


def test_a_filter_file_that_has_changed_is_applied_to_what_is_known(state_dir: Path) -> None:
    filters = state_dir / "filters.txt"
    filters.write_text("deny prefix /never\n", encoding="utf-8")
    pages = {"/": Reply(html("/a", "/b")), "/a": Reply(html(text="One.")), "/b": Reply(html(text="Two."))}
    with Site(pages) as site:
        crawl = Crawl(state_dir, INCRAWL_FILTERS=str(filters))
        assert crawl.run(urls=site.url("/")).code == 0
        before = crawl.one(site.url("/a"))
        filters.write_text("deny prefix /a\n", encoding="utf-8")
        left = crawl.run()
        assert (left.stats["incrawl/filters/left"], left.stats["incrawl/filters/returned"]) == (1, 0)
        barred = crawl.one(site.url("/a"))
        assert (barred.state, barred.record.barred) == ("retired", "filters")
        assert barred.record.document == before.record.document
        assert crawl.one(site.url("/b")).state == "queued"
        again = crawl.run()
        assert "incrawl/filters/left" not in again.stats, "the file is the same"
        del crawl.settings["INCRAWL_FILTERS"]
        back = crawl.run()
        assert back.stats["incrawl/filters/returned"] == 1
        known = crawl.one(site.url("/a"))
        assert (known.state, known.record.barred, known.record.visits) == ("queued", "", 2)


def test_a_trap_is_left_and_the_rest_of_the_host_goes_on(state_dir: Path) -> None:
    async def calendar(exchange: Exchange) -> None:
        day = int(exchange.seen.path.rpartition("=")[2] or 0) if "=" in exchange.seen.path else 0
        links = "".join(f"<a href='/calendar?day={each}'>x</a>" for each in range(day * 5 + 1, day * 5 + 6))
        await exchange.reply(f"<p>Nothing happens on day {day} of the year</p>{links}")

    async def article(exchange: Exchange) -> None:
        number = int(exchange.seen.path.rpartition("/")[2])
        words = " ".join(
            f"{chr(97 + number % 26)}{chr(97 + number // 26)}{word}" for word in ("river", "stone", "apple")
        )
        following = [number * 3 + 1, number * 3 + 2, number * 3 + 3]
        links = "".join(f"<a href='/article/{each}'>x</a>" for each in following if each < 150)
        await exchange.reply(f"<p>{words}</p>{links}")

    pages = {"/calendar": calendar, "/article": article}
    with HostileServer(pages) as server:
        seeds = f"{server.url('/calendar')} level=200,{server.url('/article/0')} level=200"
        crawl = Crawl(state_dir, CONCURRENT_REQUESTS="4")
        done = crawl.run(urls=seeds)
        assert done.code == 0, done.log
        paths = server.paths()
        assert len([path for path in paths if path.startswith("/article/")]) == 150
        assert len([path for path in paths if path.startswith("/calendar")]) < 80
        assert done.stats["incrawl/traps/found"] >= 1
        assert done.stats["incrawl/traps/pattern"] > 0
        assert "/calendar?day said nothing new" in done.log
        # Operators see it, and later runs know it from the start.
        found: dict[str, str] = crawl.ask(known_traps)
        assert any(pattern.endswith("/calendar?day") for pattern in found)
        later = crawl.run(urls=server.url("/calendar?day=99999"))
        assert later.stats["incrawl/traps/pattern"] == 1
        assert "/calendar?day=99999" not in server.paths()


def test_hosts_without_number_are_one_trap(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_NAMES", json.dumps({"*.trap.test": ["127.0.0.1"]}))

    async def welcome(exchange: Exchange) -> None:
        port = exchange.seen.host.rpartition(":")[2]
        chance = Random(exchange.seen.host)
        names = ["".join(chance.choices("abcdefghijklmnop", k=8)) for _ in range(3)]
        links = "".join(f"<a class=next href='http://{name}.trap.test:{port}/'>x</a>" for name in names)
        await exchange.reply(f"<p>Welcome to the one and only page of this site</p>{links}")

    with HostileServer({"/": welcome}) as server:
        # A spider that follows links to other hosts; the one of our own stays on its site.
        project, resolver = ROOT / "tests" / "example_project", "probe_resolver.TableResolver"
        crawl = Crawl(state_dir, project=project, fresh=True, TWISTED_DNS_RESOLVER=resolver)
        done = crawl.run("books", shop=server.url("", "www.trap.test"))
        assert done.code == 0, done.log
        assert done.stats["incrawl/traps/found"] >= 1
        assert 10 < len(server.paths()) < 300
