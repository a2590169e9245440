"""Document fingerprint (paper 003, section 4.1.1.2): two strings over the opening tags of a page.

String 1 takes the first character of each tag name, string 2 the last. They collide for tags such
as `td` and `thead`, so they explain a change; the digest decides whether there is one.
"""

from __future__ import annotations

from collections.abc import Iterable


def fingerprints(tags: Iterable[str]) -> tuple[str, str]:
    """Both strings, for tag names in document order.

    >>> fingerprints(["html", "head", "title", "body", "table", "tr", "td", "p", "img"])
    ('hhtbtttpi', 'ldeyerdpg')
    """
    names = [tag for tag in tags if tag]
    return "".join([name[0] for name in names]), "".join([name[-1] for name in names])
