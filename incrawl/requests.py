"""Scrapy requests and URL records: what of a request the frontier keeps, and the way back.

Redis holds no code and no secrets: a callback is kept by its name and must be a method of the spider;
meta and cb_kwargs are JSON; cookies, and headers but for a few, keep a request in this process. Keys of
meta that change how a request is sent are not taken from Redis.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from scrapy import Request, Spider
from twisted.python.failure import Failure

from incrawl.outcomes import outcome_of_failure
from incrawl.page_visit import META_KEY, PageVisit
from incrawl.refusals import Held, Refused

# These change where a request goes or what it is allowed to do: only code may set them.
_SENDING_KEYS = frozenset(
    {"proxy", "bindaddress", "dont_obey_robotstxt", "dont_cache", "allow_offsite", "download_maxsize"}
    | {"download_warnsize", "download_fail_on_dataloss", "max_retry_times", "give_up_log_level"}
    | {"cookiejar", "dont_merge_cookies", "referrer_policy", "ftp_user", "ftp_password", "ftp_local_filename"}
)
_BASE_CALLBACKS = frozenset({"parse", "_parse"})
# Book-keeping of Scrapy: made anew for each request, and no part of what a spider asks for, though
# spiders that hand on `response.meta` hand it on, too.
_OWN_KEYS = frozenset(
    {"depth", "download_latency", "download_slot", "download_timeout", "is_start_request", "retry_times"}
    | {"redirect_reasons", "redirect_times", "redirect_ttl", "redirect_urls", "cache_timestamp"}
    | {"_auth_proxy", "_dont_cache", "_scheme_proxy"}
)
_KEPT_HEADERS = frozenset({b"Accept", b"Accept-Language", b"X-Requested-With"})
_KEPT_NAMES = frozenset(name.decode() for name in _KEPT_HEADERS)
_IGNORED_HEADERS = frozenset({b"Referer"})


class RequestForm:
    """Translates between a spider's requests and the JSON that records keep of them."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        # The depth is worth its bytes only where something depends on it.
        self._own_keys = _OWN_KEYS - {"depth"} if spider.settings.getint("DEPTH_LIMIT") else _OWN_KEYS

    def to_json(self, request: Request) -> str | None:
        """What the frontier keeps of a request, or None if only this process can make it."""
        if request.method != "GET" or request.body or request.cookies:
            return None
        headers = request.headers.keys() - _IGNORED_HEADERS
        meta = {key: value for key, value in request.meta.items() if not self._is_own(key)}
        if not (headers or meta or request.callback or request.errback or request.cb_kwargs):
            return ""  # the usual link: nothing to be kept
        names = [self._method_name(function) for function in (request.callback, request.errback)]
        if None in names or headers - _KEPT_HEADERS or meta.keys() & _SENDING_KEYS:
            return None
        return _dumped(
            {
                "callback": names[0],
                "errback": names[1],
                "meta": meta,
                "cb_kwargs": request.cb_kwargs,
                "headers": {
                    name.decode(): b",".join(request.headers.getlist(name)).decode("latin-1")
                    for name in headers
                },
            }
        )

    def from_json(self, url: str, text: str) -> Request:
        """The request that a record asks for. What cannot be understood falls back to the spider's parse."""
        kept = _parsed(text)
        meta, headers = _dict(kept, "meta"), _dict(kept, "headers")
        return Request(
            url,
            callback=self._method(kept.get("callback")),
            errback=self._method(kept.get("errback")),
            meta={key: meta[key] for key in meta if key not in _SENDING_KEYS and not self._is_own(key)},
            headers={name: str(headers[name]) for name in headers if name in _KEPT_NAMES},
            cb_kwargs=_dict(kept, "cb_kwargs"),
            dont_filter=True,
        )

    def _is_own(self, key: Any) -> bool:
        return key in self._own_keys or str(key).startswith(META_KEY)

    def _method_name(self, function: Callable[..., Any] | None) -> str | None:
        """The name of a spider's method, "" for none, None for any other function."""
        if function is None:
            return ""
        name = getattr(function, "__name__", "")
        return name if name and getattr(self._spider, name, None) == function else None

    def _method(self, name: Any) -> Callable[..., Any] | None:
        """A method that the spider's author wrote; Scrapy's own are not to be called by a record."""
        if not isinstance(name, str) or (hasattr(Spider, name) and name not in _BASE_CALLBACKS):
            return None
        method = getattr(self._spider, name, None)
        return method if inspect.ismethod(method) else None


def local_request(request: Request, visit: PageVisit) -> Request:
    """A request that only this process can make, as part of the visit that asked for it."""
    child = visit.child()
    meta = {key: value for key, value in request.meta.items() if not str(key).startswith(META_KEY)}
    return request.replace(meta={**meta, META_KEY: child}, errback=ending_visit(child, request.errback))


def ending_visit(visit: PageVisit, errback: Callable[..., Any] | None) -> Callable[[Failure], Any]:
    """An errback that ends the visit, whatever the spider's own errback does."""

    def end(failure: Failure) -> Any:
        if isinstance(failure.value, Held):
            visit.put_back(failure.value.seconds)
        if isinstance(failure.value, Refused) and failure.value.bars:
            visit.barred_by = failure.value.part
        visit.end(outcome_of_failure(failure), why=failure.getErrorMessage())
        try:
            return errback(failure) if errback is not None else None
        finally:
            if not visit.arrived:  # else what the errback gives goes the way of a callback's output
                visit.request_done()

    return end


def _dumped(kept: dict[str, Any]) -> str | None:
    kept = {key: value for key, value in kept.items() if value}
    try:
        text = json.dumps(kept, separators=(",", ":"), sort_keys=True)
    except (TypeError, ValueError):
        return None
    # Tuples, integer keys and the like come back as something else: such a request stays here, too.
    return (text if kept else "") if json.loads(text) == kept else None


def _parsed(text: str) -> dict[str, Any]:
    try:
        kept = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _dict(kept: dict[str, Any], name: str) -> dict[str, Any]:
    value = kept.get(name, {})
    return value if isinstance(value, dict) else {}
