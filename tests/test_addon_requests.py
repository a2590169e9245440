"""What of a spider's request the frontier keeps, what keeps it in the process, and the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.settings import Settings

from incrawl.requests import RequestForm

URL = "https://example.com/list"


class Shop(Spider):
    name = "shop"
    rates = {"EUR": 1.0}  # noqa: RUF012 - an attribute that is no method

    def parse(self, response: Any) -> None: ...

    def parse_book(self, response: Any, category: str = "") -> None: ...

    def not_there(self, failure: Any) -> None: ...


def some_function(response: Any) -> None: ...


@pytest.fixture
def spider() -> Shop:
    return make_spider()


def make_spider(**settings: Any) -> Shop:
    spider = Shop()
    spider.settings = Settings(settings)
    return spider


def test_a_plain_link_costs_nothing(spider: Shop) -> None:
    assert RequestForm(spider).to_json(Request(URL, meta={"depth": 3}, headers={"Referer": URL})) == ""


def test_what_a_request_carries_comes_back(spider: Shop) -> None:
    form = RequestForm(spider)
    request = Request(
        URL,
        spider.parse_book,
        errback=spider.not_there,
        meta={"page": 2, "tags": ["a", None], "handle_httpstatus_list": [404]},
        cb_kwargs={"category": "Novels"},
        headers={"X-Requested-With": "XMLHttpRequest"},
    )
    kept = form.to_json(request)
    assert kept is not None
    again = form.from_json(URL, kept)
    assert (again.url, again.callback, again.errback) == (URL, spider.parse_book, spider.not_there)
    assert (again.meta, again.cb_kwargs) == (request.meta, request.cb_kwargs)
    assert again.headers["X-Requested-With"] == b"XMLHttpRequest"


def test_meta_handed_on_from_a_response_keeps_no_book_keeping(spider: Shop) -> None:
    meta = {
        "depth": 1, "download_slot": "example.com", "download_latency": 0.1, "download_timeout": 30.0,
        "retry_times": 1, "redirect_urls": ["x"], "incrawl": object(), "incrawl_turn": object(), "page": 7,
    }  # fmt: skip
    assert json.loads(RequestForm(spider).to_json(Request(URL, meta=meta)) or "") == {"meta": {"page": 7}}


@pytest.mark.parametrize(("limit", "kept"), [(0, ""), (5, '{"meta":{"depth":3}}')])
def test_the_depth_is_kept_where_it_is_limited(limit: int, kept: str) -> None:
    form = RequestForm(make_spider(DEPTH_LIMIT=limit))
    assert form.to_json(Request(URL, meta={"depth": 3})) == kept


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest(URL, formdata={"a": "b"}),
        Request(URL, method="HEAD"),
        Request(URL, body="x"),
        Request(URL, some_function),
        Request(URL, lambda response: None),
        Request(URL, meta={"book": object()}),
        Request(URL, meta={"pair": (1, 2)}),
        Request(URL, cb_kwargs={"by_number": {1: "a"}}),
        Request(URL, meta={"proxy": "http://localhost:8080"}),
        Request(URL, meta={"dont_obey_robotstxt": True}),
        Request(URL, cookies={"session": "secret"}),
        Request(URL, headers={"Authorization": "Bearer secret"}),
    ],
    ids=(
        [
            "form",
            "head",
            "body",
            "function",
            "lambda",
            "object",
            "tuple",
            "number-as-key",
            "proxy",
            "robots",
            "cookies",
            "authorization",
        ]
    ),
)
def test_what_only_this_process_can_make_stays_here(spider: Shop, request_: Request) -> None:
    assert RequestForm(spider).to_json(request_) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"meta":{"proxy":"http://evil","dont_obey_robotstxt":true,"bindaddress":"x","incrawl":1,"incrawl_purpose":"robots"}}',
        '{"headers":{"Authorization":"x","Cookie":"y","User-Agent":"z"}}',
        '{"callback":"closed"}',
        '{"callback":"__init__"}',
        '{"callback":"update_settings","errback":"rates"}',
        '{"callback":"no_such_method"}',
        '{"callback":["parse"],"meta":[],"cb_kwargs":3,"headers":"x"}',
        "[1]",
        "nonsense",
        "[" * 100_000,
    ],
)  # fmt: skip
def test_what_redis_must_not_say_is_not_heard(spider: Shop, text: str) -> None:
    request = RequestForm(spider).from_json(URL, text)
    assert (request.callback, request.errback) == (None, None)
    assert (request.meta, request.cb_kwargs, dict(request.headers)) == ({}, {}, {})
