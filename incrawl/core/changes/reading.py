"""From the body of a page to its Analysis."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from incrawl.core.changes.analysis import Analysis
from incrawl.core.changes.decode import Form, form_of, to_utf8
from incrawl.core.changes.digest import body_hash, digest
from incrawl.core.changes.extras import Extras
from incrawl.core.changes.links import Links, find_links, link_hashes, normal_targets, scripts_in_links
from incrawl.core.changes.markup import Markup
from incrawl.core.changes.normal import attribute_digests
from incrawl.core.changes.paragraphs import measure
from incrawl.core.changes.parse import read_page
from incrawl.core.changes.rules import NO_RULES, IgnoreRules
from incrawl.core.changes.signatures import Signatures, outline
from incrawl.core.changes.text import Text, owners, paragraphs_at, read_text, without_patterns
from incrawl.core.changes.tree import Tree
from incrawl.core.changes.vocabulary import KNOWN

_TITLE = KNOWN.index("title")
_TITLE_AMONG = 1000  # paragraphs among which it is looked for


def analyse(
    body: bytes,
    *,
    url: str,
    encoding: str | None = None,
    rules: IgnoreRules = NO_RULES,
    unread: bool = False,
) -> Analysis:
    """Signatures, text and links of a page. Whatever the bytes are, this returns, in time linear to them.

    `encoding` is the one that the server named, if it did; a byte order mark outranks it. Elements and
    text that `rules` name are left out, and links with them. `unread`: only its bytes are compared.
    """
    page = b"" if unread else to_utf8(body, encoding)
    form = Form.OPAQUE if unread else form_of(page)
    markup, extras = read_page(page, form, rules)
    text = read_text(markup)
    extras.ignored.count("comment", page.count(b"<!--"))
    if rules.expressions:
        text = without_patterns(text, rules.expressions, extras.ignored)
    paragraphs = text.letters.paragraphs()
    base = _resolved(url, extras.base) or url
    links = find_links(markup, base)
    opaque = body if form is Form.OPAQUE else b""
    return Analysis(
        signatures=_signatures(body, markup, text, paragraphs, links, extras, opaque, rules.key),
        text=tuple(paragraphs),
        all_links=links,
        title=_title(text, paragraphs, markup),
        robots=extras.robots,
        canonical=_resolved(base, extras.canonical),
        feeds=tuple(_resolved(base, feed) for feed in extras.feeds),
        ignored=extras.ignored,
    )


def _resolved(base: str, target: str) -> str:
    """`target` as an absolute URL, "" where that cannot be."""
    try:
        return urljoin(base, target) if target else ""
    except ValueError:
        return ""


def _title(text: Text, paragraphs: list[bytes], markup: Markup) -> str:
    """The text of the first title element."""
    titles = markup.opening[markup.numbers == _TITLE].tolist()
    tags = text.tags[:_TITLE_AMONG].tolist()
    return (
        paragraphs[tags.index(titles[0])].decode("utf-8", "replace") if titles and titles[0] in tags else ""
    )


def _signatures(
    body: bytes,
    markup: Markup,
    text: Text,
    paragraphs: list[bytes],
    links: Links,
    extras: Extras,
    opaque: bytes,
    rules: int,
) -> Signatures:
    tree = Tree.of(markup.numbers, markup.levels, markup.vocabulary)
    tree_columns, own_names = outline(tree), tree.names[len(KNOWN) :]
    targets = normal_targets(links, extras.ignored)
    attributes = attribute_digests(markup.attributes, extras.ignored)
    digests: dict[str, Any] = {
        "text": digest(b" ".join(paragraphs), opaque),
        "structure": digest("\0".join(own_names).encode(), tree_columns),
        "arrangement": digest(text.arrangement),
        "links": digest(b"\0".join(targets)),
        "appearance": attributes.appearance,
        "styles": digest(*_encoded(extras.styles)),
        "handlers": attributes.handlers,
        "data": attributes.data,
        "scripts": digest(*_encoded(extras.scripts), *scripts_in_links(links)),
    }
    nodes = owners(text, markup, tree)
    where = paragraphs_at(text, markup.opening[links.elements])
    return Signatures(
        body_hash=body_hash(body),
        digest=digest(*digests.values()),
        **digests,
        **measure(text, paragraphs, markup, nodes),
        nodes=nodes.astype("<u4").tobytes(),
        link_hashes=link_hashes(targets, where, len(paragraphs)).tobytes(),
        tag_names=own_names,
        outline=tree_columns,
        rules=rules,
    )


def _encoded(texts: list[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]
