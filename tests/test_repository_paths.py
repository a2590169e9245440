"""Every URL has one safe place of its own inside a run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from string import ascii_letters

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incrawl.core.records import Outcome
from incrawl.core.urls import canonical, url_id
from incrawl.repository import Repository, Sidecar, place_of
from incrawl.repository.paths import SIDECAR_ENDING, VISITS_ENDING


def path_of(url: str) -> str:
    place = place_of(url)
    return "/".join((*place.folders, place.name))


def with_doc_id(path: str, url: str) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem}~{url_id(canonical(url)).hex()}{dot}{ending}"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://example.com", "example.com/index.htm"),
        ("https://example.com/", "example.com/index.htm"),
        ("HTTPS://Example.com:443/#top", "example.com/index.htm"),
        ("https://example.com/a", "example.com/a.htm"),
        ("https://example.com/a/", "example.com/a/index.htm"),
        ("https://example.com/a/b", "example.com/a/b.htm"),
        ("https://example.com/a.html", "example.com/a.html"),
        ("https://example.com/a.htm", "example.com/a.htm.htm"),
        ("https://example.com/a.php", "example.com/a.php.htm"),
        ("https://example.com/feed.xml", "example.com/feed.xml"),
        ("http://localhost:8000/a", "localhost+8000/a.htm"),
        ("http://127.0.0.1:8000/a", "127.0.0.1+8000/a.htm"),
    ],
)
def test_plain_urls_keep_plain_names(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://example.com/a", "example.com/a.htm"),
        ("https://localhost:8000/a", "localhost+8000/a.htm"),
        ("https://example.com/A", "example.com/a.htm"),
        ("https://example.com/Docs/a.html", "example.com/docs/a.html"),
        ("https://example.com/index", "example.com/index.htm"),
        ("https://example.com/list?page=2", "example.com/list_page_2.htm"),
        ("https://example.com/?q=../../etc", "example.com/index_q_.._.._etc.htm"),
        ("https://example.com/a%00b", "example.com/a_b.htm"),
        ("https://example.com/a%2F..%2Fb", "example.com/a_.._b.htm"),
        ("https://example.com/a%5C..%5Cb", "example.com/a_.._b.htm"),
        ("https://example.com/.hidden", "example.com/_.hidden.htm"),
        ("https://example.com/-rf", "example.com/_-rf.htm"),
        ("https://example.com/con", "example.com/_con.htm"),
        ("https://example.com/nul.html", "example.com/_nul.html"),
        ("https://example.com/trailing.", "example.com/trailing.htm"),
        ("https://example.com/~user/", "example.com/_user/index.htm"),
        ("https://example.com/a.html/b", "example.com/a.html_/b.htm"),
        ("https://example.com/a.htm.meta/b", "example.com/a.htm.meta_/b.htm"),
        ("https://changes.jsonl/", "changes.jsonl_/index.htm"),
        ("https://example.com/caf%C3%A9", "example.com/café.htm"),
        ("https://example.com/cafe%CC%81", "example.com/café.htm"),
        ("https://user:secret@example.com/a", "example.com/a.htm"),
        ("http://[::1]:8000/a", "_1+8000/a.htm"),
    ],
)
def test_other_urls_carry_their_doc_id(url: str, path: str) -> None:
    assert path_of(url) == with_doc_id(path, url)


def test_long_names_and_deep_paths_are_bounded() -> None:
    deep = "https://example.com/" + "/".join(f"{letter}{'x' * 300}" for letter in ascii_letters)
    assert len(os.fsencode(path_of(deep))) < 2000
    assert path_of(deep) != path_of(deep + "/")
    wide = "https://example.com/" + "%E6%97%A5" * 200
    assert max(len(os.fsencode(name)) for name in path_of(wide).split("/")) < 128


SEGMENTS = st.sampled_from(
    ["", "a", "A", "a.html", "a.htm", "a.htm.meta", "a.visits", "index", "index.htm", "..", ".", "con", "a.",
     "%2e%2e", "a%2fb", "%00", "a~b", "a_b", "a+b", "é", "\\", ":", "*", "a b", "changes.jsonl", ".staged"]
)  # fmt: skip
HOSTS = st.sampled_from(
    ["example.com", "EXAMPLE.com", "example.com.", "localhost:8000", "localhost:80", "[::1]", "[::1]:8000",
     "[::1", "h:99999", "1_8000", "a+b", "u@h", "münchen.de", "..", "%2e%2e", "a.html", ".staged",
     "changes.jsonl"]
)  # fmt: skip
URLS = st.builds(
    lambda scheme, host, path, query: f"{scheme}://{host}/{'/'.join(path)}{query}",
    st.sampled_from(["http", "https"]),
    HOSTS,
    st.lists(SEGMENTS | st.text(max_size=8), max_size=5),
    st.sampled_from(["", "?", "?a=1", "?a=/../..", "?" + "q" * 300]),
)
ANYTHING = URLS | st.text() | st.text(alphabet=st.characters())


def safe(name: str) -> bool:
    raw = os.fsencode(name)
    return (
        0 < len(raw) < 200
        and name == name.lower()
        and name[0] not in ".-"
        and name[-1] not in ". "
        and not set(name) & set('/\\:*?"<>|\0')
        and min(map(ord, name)) > 31
    )


@given(ANYTHING)
@example("\ud800")
@example("http://x:99999999/")
def test_any_text_maps_to_a_safe_bounded_path(url: str) -> None:
    place = place_of(url)
    names = [*place.folders, place.name]
    assert all(map(safe, names)), names
    assert sum(len(os.fsencode(name)) + 1 for name in names) < 2000
    assert not any(
        folder.endswith((SIDECAR_ENDING, VISITS_ENDING, ".htm", ".html")) for folder in place.folders
    )
    assert not place.name.endswith((SIDECAR_ENDING, VISITS_ENDING))


@given(URLS, URLS)
@example("https://example.com/a/index", "https://example.com/a/")
@example("https://example.com/a", "http://example.com/a")
@example("https://example.com/a.htm", "https://example.com/a")
def test_two_pages_never_share_a_place(one: str, other: str) -> None:
    if place_of(one).doc_id != place_of(other).doc_id:
        assert path_of(one).casefold() != path_of(other).casefold()


@given(URLS)
def test_a_page_stands_beside_all_pages_above_it(url: str) -> None:
    """`/a` and `/a/b` are both pages: no folder on the way to one is the file of another."""
    scheme, _, rest = url.partition("?")[0].partition("://")
    steps = rest.split("/")
    files = {path_of(f"{scheme}://{'/'.join(steps[:end])}") for end in range(1, len(steps) + 1)}
    reserved = {file + ending for file in files for ending in ("", SIDECAR_ENDING, VISITS_ENDING)}
    folders = place_of(url).folders
    assert not reserved & {"/".join(folders[:end]) for end in range(1, len(folders) + 1)}


@settings(max_examples=40)  # each of them waits for the disk
@given(st.lists(ANYTHING, min_size=1, max_size=4))
def test_real_files_stay_inside_the_repository_and_are_found_again(urls: list[str]) -> None:
    with tempfile.TemporaryDirectory() as outside:
        root = Path(outside) / "repository"
        repository = Repository(root)
        kept = []
        for number, url in enumerate(urls):
            staged = repository.stage(Sidecar(url=url, time=1e9, outcome=Outcome.NEW), b"%d" % number)
            repository.promote(staged)
            kept.append((url, staged.run, b"%d" % number))
        for url, run, body in kept:
            assert repository.document(url, run) == body
            sidecar = repository.sidecar(url, run)
            assert sidecar is not None
            assert sidecar.url == url
        assert [path.name for path in Path(outside).iterdir()] == ["repository"]
