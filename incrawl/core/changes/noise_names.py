"""Names of query parameters that say nothing about where an address leads. All in lower case."""

from __future__ import annotations

_SESSIONS = """
phpsessid jsessionid aspsessionid asp.net_sessionid sid sessid sessionid session_id session sess cfid
cftoken zenid oscsid sesskey csrf csrftoken csrf_token csrfmiddlewaretoken xsrf _xsrf authenticity_token
__requestverificationtoken nonce _wpnonce wpnonce form_key formkey form_token
"""
_TRACKERS = """
fbclid gclid dclid wbraid gbraid msclkid yclid igshid srsltid mc_cid mc_eid _ga _gl _hsenc _hsmi mkt_tok
"""
_CACHE_BUSTERS = """
_ cb cachebuster cache_buster cache-buster nocache no_cache rnd rand random
"""
_FILE_VERSIONS = """
v ver version rev revision r t ts time timestamp mtime m h hash build bust cache d dc _dc itok q
"""
_SIGNED = """
expires signature sig token policy key-pair-id hmac hdnts dpl
"""

PER_VISITOR = frozenset(_SESSIONS.split()) | frozenset(_TRACKERS.split())
"""Sessions, tokens, and where a visitor came from."""

PER_VISITOR_PREFIXES = ("aspsessionid", "utm_")

BUSTERS = frozenset(_CACHE_BUSTERS.split())
"""Dropped where the value is a number or a token."""

VERSIONS = BUSTERS | frozenset(_FILE_VERSIONS.split())
"""The same, of pictures, scripts and style sheets."""

SIGNATURES = frozenset(_SIGNED.split())
"""What lets a store of files be read for a while."""

SIGNATURE_PREFIX = "x-amz-"
