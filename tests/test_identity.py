"""Who the crawler says it is, whom it does not crawl anonymously, and what must not get into logs."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from crawls import Crawl, Reply, Site, html

from incrawl.core.addresses import AddressPolicy, read_networks
from incrawl.core.identity import (
    check_addresses,
    check_contact,
    contact_in,
    robots_name,
    user_agent,
    without_credentials,
)
from incrawl.core.log_text import safe_line
from incrawl.errors import ConfigError
from incrawl.log_guard import SafeText


@pytest.mark.parametrize(
    ("name", "contact", "agent"),
    [
        ("incrawl/0.1", "https://a.test/bot", "incrawl/0.1 (+https://a.test/bot)"),
        ("incrawl/0.1", "me@a.test", "incrawl/0.1 (me@a.test)"),
        ("incrawl/0.1", "", "incrawl/0.1"),
        ("mine/1 (+https://a.test/bot)", "https://a.test/bot", "mine/1 (+https://a.test/bot)"),
        ("incrawl/0.1", "me@a.test\r\nX-Evil: 1", "incrawl/0.1 (me@a.test X-Evil: 1)"),
    ],
)
def test_user_agent(name: str, contact: str, agent: str) -> None:
    assert user_agent(name, contact) == agent


@pytest.mark.parametrize(
    ("agent", "contact"),
    [
        ("mine/1 (+https://a.test/bot)", "https://a.test/bot"),
        ("mine/1 (me@a.test)", "me@a.test"),
        ("mine/1", ""),
        ("Scrapy/2.19 (+https://scrapy.org)", ""),
        ("Mozilla/5.0 (X11; Linux x86_64)", ""),
    ],
)
def test_a_contact_in_the_agent_counts(agent: str, contact: str) -> None:
    assert contact_in(agent) == contact


@pytest.mark.parametrize(("agent", "name"), [("incrawl/0.1 (x)", "incrawl"), ("My-Bot", "my-bot"), ("", "*")])
def test_the_name_for_robots_txt(agent: str, name: str) -> None:
    assert robots_name(agent) == name


@pytest.mark.parametrize(
    ("networks", "url", "is_real"),
    [
        ("", "http://example.com/", True),
        ("", "http://127.0.0.1/", True),
        ("loopback", "http://127.0.0.1:8000/", False),
        ("loopback", "http://[::1]:8000/", False),
        ("loopback", "http://localhost:8000/", False),
        ("loopback", "http://demo.localhost/", False),
        ("loopback", "http://10.0.0.1/", True),
        ("loopback", "http://localhost.evil.test/", True),
        ("loopback", "http://intranet/", True),
        ("private", "http://10.0.0.1/", False),
        ("any", "http://example.com/", False),
    ],
)
def test_real_sites_need_a_contact(networks: str, url: str, is_real: bool) -> None:
    policy = AddressPolicy(read_networks(networks))
    check_contact("me@a.test", [url], policy)
    if is_real:
        with pytest.raises(ConfigError, match="INCRAWL_CONTACT"):
            check_contact("", [url], policy)
    else:
        check_contact("", [url], policy)


@pytest.mark.parametrize(
    ("networks", "host", "is_open"),
    [
        ("", "example.com", True),
        ("", "8.8.8.8", True),
        ("", "127.0.0.1", False),
        ("", "[::1]", False),
        ("", "localhost", False),
        ("loopback", "localhost", True),
        ("loopback", "10.0.0.1", False),
        ("private", "10.0.0.1", True),
    ],
)
def test_a_seed_that_could_only_be_refused_is_told_with_the_setting(
    networks: str, host: str, is_open: bool
) -> None:
    policy, urls = AddressPolicy(read_networks(networks)), [f"http://{host}:8000/"]
    if is_open:
        check_addresses(urls, policy)
    else:
        with pytest.raises(ConfigError, match="INCRAWL_ALLOW_NETWORKS"):
            check_addresses(urls, policy)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("http://a.test/x@y", "http://a.test/x@y"),
        ("http://user:pw@a.test/x", "http://a.test/x"),
        ("http://user@a.test", "http://a.test"),
        ("http://a:b@c:d@a.test/", "http://c:d@a.test/"),
        ("Redirecting to <GET http://u:p@a.test/> from <GET http://u:p@b.test/>",
         "Redirecting to <GET http://a.test/> from <GET http://b.test/>"),
        ("mail me@a.test", "mail me@a.test"),
        ("http://a.test/?mail=me@b.test", "http://a.test/?mail=me@b.test"),
    ],
)  # fmt: skip
def test_credentials_are_taken_out(text: str, clean: str) -> None:
    assert without_credentials(text) == clean


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain\ttext äß 大", "plain\ttext äß 大"),
        ("a\n2026-11-18 [x] ERROR: forged", "a\n    2026-11-18 [x] ERROR: forged"),
        ("a\r\nb", "a\\r\n    b"),
        ("a\rb", "a\\rb"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("right\u202eleft", "right\\u202eleft"),
        ("a\u2028b", "a\\u2028b"),
        ("\ud800", "\\ud800"),
        ("GET http://u:p@a.test/", "GET http://a.test/"),
    ],
)
def test_log_lines_cannot_be_forged(text: str, safe: str) -> None:
    assert safe_line(text) == safe


def test_the_filter_sees_arguments_too() -> None:
    record = logging.LogRecord("x", logging.INFO, "x", 1, "Got %s", ("a\nb",), None)
    assert SafeText().filter(record)
    assert record.getMessage() == "Got a\n    b"


def test_a_crawl_of_real_sites_without_a_contact_does_not_start(state_dir: Path) -> None:
    done = Crawl(state_dir, INCRAWL_CONTACT="").run(urls="http://example.com/")
    assert done.code == 2
    assert "example.com needs a contact" in done.log
    assert "make crawl SEEDS=… CONTACT=…" in done.log


def test_in_a_crawl_the_contact_is_sent_and_nothing_is_forged(state_dir: Path) -> None:
    pages = {
        "/": Reply(html("/a%0aFORGED", "//user:secret@127.0.0.1:1/x", "/to-credentials")),
        "/a%0aFORGED": Reply(html()),
        "/to-credentials": Reply(status=302, headers={"Location": "http://user:secret@127.0.0.1:1/x"}),
    }
    with Site(pages) as site:
        settings = {"INCRAWL_CONTACT": "https://a.test/bot", "LOG_LEVEL": "DEBUG"}
        done = Crawl(state_dir, **settings).run(urls=site.url("/"))
        assert done.code == 0, done.log
        assert {hit.headers["User-Agent"] for hit in site.hits} == {"incrawl/0.1 (+https://a.test/bot)"}
        assert done.stats["incrawl/address/credentials"] == 1
        assert "secret" not in done.log
        assert not [line for line in done.log.splitlines() if line.startswith("FORGED")]
