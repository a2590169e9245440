"""The address guard: which addresses are open, and that nothing else is ever connected to."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hostile import Exchange, HostileServer, redirect
from probe import probe

from incrawl.core.addresses import AddressBook, AddressPolicy, read_networks

GUARD: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {"incrawl.middlewares.address_guard.AddressGuardMiddleware": 900},
    "HTTPPROXY_ENABLED": False,
    "INCRAWL_CONTACT": "tests@localhost",
}


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),  # NAT64 of 8.8.8.8
        ("2002:808:808::1", True),  # 6to4 of 8.8.8.8
        ("127.0.0.1", False),
        ("127.8.9.10", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),  # cloud metadata
        ("100.64.0.1", False),  # carrier-grade NAT
        ("192.0.2.1", False),
        ("198.18.0.1", False),
        ("192.88.99.1", False),
        ("224.0.0.1", False),
        ("239.255.255.250", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::7f00:1", False),  # IPv4-compatible 127.0.0.1
        ("::808:808", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:a00:1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::808:808", False),
        ("2002:7f00:1::", False),
        ("2002:a9fe:a9fe::1", False),
        ("2001::1", False),  # Teredo
        ("2001:db8::1", False),
        ("3fff::1", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("fec0::1", False),
        ("fc00::1", False),
        ("fd00:ec2::254", False),
        ("ff02::1", False),
        ("100::1", False),
        ("not an address", False),
        ("", False),
    ],
)
def test_only_global_addresses_are_open(address: str, is_open: bool) -> None:
    assert AddressPolicy().allows(address) is is_open


@pytest.mark.parametrize(
    ("networks", "address", "is_open"),
    [
        ("loopback", "127.0.0.1", True),
        ("loopback", "::1", True),
        ("loopback", "::ffff:127.0.0.1", True),
        ("loopback", "10.0.0.1", False),
        ("private", "10.0.0.1", True),
        ("private", "127.0.0.1", False),
        ("private", "169.254.169.254", False),
        ("10.1.0.0/16, ::1", "10.1.2.3", True),
        ("10.1.0.0/16, ::1", "10.2.0.1", False),
        ("10.1.0.0/16, ::1", "::1", True),
        ("10.1.2.3/16", "10.1.9.9", True),
        ("any", "169.254.169.254", True),
        ("any", "ff02::1", True),
    ],
)
def test_networks_open_what_they_name(networks: str, address: str, is_open: bool) -> None:
    assert AddressPolicy(read_networks(networks)).allows(address) is is_open


def test_a_wrong_network_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="intranet"):
        read_networks("intranet")


def test_the_address_book_is_bounded_in_time_and_size() -> None:
    book = AddressBook(lifetime=10, size=2, miss_lifetime=1)
    book.add("a", ["8.8.8.8"], 0, now=0)
    book.add("b", [], 1, now=0)
    assert book.get("a", 9.9) is not None
    assert book.get("a", 10.0) is None
    assert book.get("b", 0.9) is not None
    assert book.get("b", 1.0) is None
    for name in "cde":
        book.add(name, ["8.8.8.8"], 0, now=0)
    assert list(book.pairs()) == [("d", "8.8.8.8"), ("e", "8.8.8.8")]


async def close_after(exchange: Exchange) -> None:
    """No keep-alive: the next request must look the name up and connect again."""
    await exchange.reply("first", Connection="close")
    exchange.writer.close()


def test_names_and_literal_addresses_are_checked_when_connecting() -> None:
    with HostileServer() as server:
        port = server.port
        private = [
            f"http://127.0.0.1:{port}/good",
            f"http://[::1]:{port}/good",
            f"http://[::ffff:127.0.0.1]:{port}/good",
            f"http://0.0.0.0:{port}/good",
            f"http://inside.test:{port}/good",
            f"http://169.254.169.254:{port}/latest/meta-data/",
        ]
        report = probe(private, {**GUARD, "INCRAWL_ALLOW_NETWORKS": ""}, {"inside.test": ["127.0.0.1"]})
        assert {url: report[url].error.partition(": ")[2][:15] for url in private} == dict.fromkeys(
            private, "address/private"
        )
        assert server.connections == 0
        assert report.stats["incrawl/address/private"] == len(private)


def test_odd_spellings_of_loopback_are_refused_by_the_system_resolver_too() -> None:
    with HostileServer() as server:
        odd = [
            f"http://{host}:{server.port}/good" for host in ("2130706433", "0x7f000001", "127.1", "localhost")
        ]
        for resolver in (
            "incrawl.network.resolver.GuardedResolver",
            "scrapy.resolver.CachingThreadedResolver",
        ):
            settings = {**GUARD, "INCRAWL_ALLOW_NETWORKS": "", "TWISTED_DNS_RESOLVER": resolver}
            report = probe(odd, settings)
            assert all("Refused: address/private" in report[url].error for url in odd), report.outcomes
        assert server.connections == 0


def test_a_name_that_turns_private_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The name is looked up anew for every connection, and its second answer is the forbidden one.
    monkeypatch.setenv("PROBE_DNS_LIFETIME", "0")
    with (
        HostileServer({"/start": close_after}) as good,
        HostileServer(address="127.0.0.2", port=good.port) as inner,
    ):
        urls = [good.url("/start", "flip.test") + f"?{number}" for number in range(3)]
        settings = {**GUARD, "INCRAWL_ALLOW_NETWORKS": "127.0.0.1", "CONCURRENT_REQUESTS": 1}
        report = probe(urls, settings, {"flip.test": ["127.0.0.1", "127.0.0.2"]})
        assert sorted(report[url].error or str(report[url].status) for url in urls) == [
            "200",
            "Refused: address/private: flip.test",
            "Refused: address/private: flip.test",
        ]
        assert inner.connections == 0


def test_of_a_mixed_answer_only_the_open_addresses_are_used() -> None:
    with HostileServer() as good, HostileServer(address="127.0.0.2", port=good.port) as inner:
        url = good.url("/good", "mixed.test")
        settings = {**GUARD, "INCRAWL_ALLOW_NETWORKS": "127.0.0.1"}
        report = probe([url], settings, {"mixed.test": ["127.0.0.2 169.254.169.254 127.0.0.1"]})
        assert (report[url].status, report[url].address) == (200, "127.0.0.1")
        assert inner.connections == 0


def test_redirects_are_checked_like_requests() -> None:
    with HostileServer() as server, HostileServer(address="127.0.0.2") as inner:
        server.pages["/to-inner"] = redirect(inner.url("/good"))
        server.pages["/to-name"] = redirect(inner.url("/good", "inner.test"))
        paths = ["/to-inner", "/to-name", "/to-metadata", "/to-file", "/to-credentials", "/good"]
        settings = {**GUARD, "INCRAWL_ALLOW_NETWORKS": "127.0.0.1"}
        report = probe([server.url(path) for path in paths], settings, {"inner.test": ["127.0.0.2"]})
        told = {path: report[server.url(path)].error or report[server.url(path)].status for path in paths}
        assert told == {
            "/to-inner": "Refused: address/private: 127.0.0.2",
            "/to-name": "Refused: address/private: inner.test",
            "/to-metadata": "Refused: address/private: 169.254.169.254",
            "/to-file": 302,
            "/to-credentials": "Refused: address/credentials: 127.0.0.1",
            "/good": 200,
        }
        assert inner.connections == 0
        assert "secret" not in report.log


def test_no_proxy_gets_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with HostileServer() as server, HostileServer(address="127.0.0.2") as inner:
        monkeypatch.setitem(os.environ, "http_proxy", inner.url("/"))
        url = server.url("/good")
        allowed = {**GUARD, "INCRAWL_ALLOW_NETWORKS": "127.0.0.1"}
        assert probe([url], allowed)[url].status == 200
        report = probe([url], {**allowed, "HTTPPROXY_ENABLED": True})
        assert report[url].error == "Refused: address/proxy"
        assert inner.connections == 0


def test_a_name_without_an_answer_ends_in_time() -> None:
    url = "http://silent.test/"
    report = probe([url], {**GUARD, "DNS_TIMEOUT": 0.5}, {"silent.test": ["never"]})
    assert report[url].error.startswith("CannotResolveHostError")


@pytest.mark.parametrize(
    ("handlers", "told"),
    [
        ({"file": "scrapy.core.downloader.handlers.file.FileDownloadHandler"}, "no handler for file"),
        (
            {"http": "scrapy.core.downloader.handlers._httpx.HttpxDownloadHandler"},
            "does not check the addresses",
        ),
    ],
)
def test_handlers_that_go_around_the_guard_stop_the_start(handlers: dict[str, str], told: str) -> None:
    from scrapy.settings import Settings

    from incrawl.errors import ConfigError
    from incrawl.middlewares.address_guard import check_handlers

    closed = dict.fromkeys(("file", "data", "ftp", "s3"))
    settings = Settings({"DOWNLOAD_HANDLERS": closed})
    check_handlers(settings)
    with pytest.raises(ConfigError, match=told):
        check_handlers(Settings({"DOWNLOAD_HANDLERS": {**closed, **handlers}}))
    check_handlers(Settings({"DOWNLOAD_HANDLERS": {**closed, **handlers}, "INCRAWL_ALLOW_NETWORKS": "any"}))
