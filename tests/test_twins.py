"""One page at two addresses, in real crawls: moved, canonical, duplicate, and those that only pretend."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crawls import DUE_NEXT_TIME, ROOT, Crawl, Done, Reply, Site, html

from incrawl.core.elsewhere import Relation, own_address
from incrawl.frontier.inheritance import inherit
from incrawl.frontier.operations import Known

MOVED, CANONICAL, DUPLICATE = Relation.MOVED, Relation.CANONICAL, Relation.DUPLICATE
WORDS = "The quick brown fox jumps over the lazy dog, and nobody minds. "


def to(target: str, status: int = 301) -> Reply:
    return Reply(status=status, headers={"Location": target})


def page(text: str, *links: str, canonical: str = "") -> Reply:
    head = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    return Reply(html(*links, text=text * 3).replace("<head>", f"<head>{head}"))


def rounds(state_dir: Path, **settings: str) -> Crawl:
    """A crawl whose pages are all due again in the next run."""
    return Crawl(state_dir, **DUE_NEXT_TIME, **settings)


def ended(done: Done) -> Done:
    assert done.code == 0 and "Traceback" not in done.log, done.log
    return done


class Told:
    """A site, its crawl, and what is known of its pages."""

    def __init__(self, site: Site, state_dir: Path) -> None:
        self.site = site
        self.crawl = rounds(state_dir)

    def round(self, **arguments: str) -> Done:
        return ended(self.crawl.run(**arguments))

    def first(self, path: str = "/") -> Done:
        return self.round(urls=self.site.url(path))

    def known(self, path: str) -> Known:
        return self.crawl.one(self.site.url(path))

    def elsewhere(self, path: str) -> tuple[Relation, str, bool] | None:
        found = self.known(path).record.elsewhere
        return (
            None
            if found is None
            else (found.relation, found.url.removeprefix(self.site.url("")), found.settled)
        )

    def asked_for(self, path: str) -> int:
        return self.site.paths().count(path)

    def asked(self, *words: str) -> str:
        """What a command prints."""
        settings = [word for name, value in self.crawl.settings.items() for word in ("-s", f"{name}={value}")]
        command = [sys.executable, "-m", "scrapy", *words, *settings]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    def outcomes(self, path: str) -> list[str]:
        record = self.known(path).record
        history = self.crawl.repository().history(record.url, record.document)
        return [str(entry.outcome) for entry in history][::-1]


@pytest.fixture
def on(state_dir: Path) -> Any:
    """`on(pages)` starts a site; the test ends it."""
    sites: list[Site] = []

    def start(pages: dict[str, Any]) -> Told:
        site = Site(pages)
        site.__enter__()
        sites.append(site)
        return Told(site, state_dir)

    yield start
    for site in sites:
        site.__exit__()


On = Callable[[dict[str, Any]], Told]


def test_a_page_that_has_moved_takes_its_history_along_once_seen_twice(on: On) -> None:
    told = on({"/": page("Front. ", "/old"), "/old": page(WORDS)})
    told.first()
    told.round()
    told.site.pages |= {"/old": to("/new"), "/new": page(WORDS)}
    told.round()
    assert told.elsewhere("/old") == (MOVED, "/new", False)
    assert told.crawl.known(told.site.url("/new")) == [None]
    assert told.outcomes("/old") == ["new", "unchanged", "unchanged"]
    before = told.known("/old").record
    told.round()
    assert told.elsewhere("/old") == (MOVED, "/new", True)
    new = told.known("/new").record
    assert (new.visits, new.changes, len(new.history)) == (before.visits + 1, 0, len(before.history) + 1)
    assert told.outcomes("/new") == ["new", "unchanged", "unchanged", "unchanged"]
    assert told.known("/old").record.document == before.document
    counted = told.asked_for("/old")
    told.site.pages["/new"] = page(WORDS + "And then it is another day. ")
    told.round()
    assert told.asked_for("/old") == counted, "the old address rests"
    assert told.outcomes("/new") == ["new", "unchanged", "unchanged", "unchanged", "changed"]
    repository, new = told.crawl.repository(), told.known("/new").record
    assert len(list(repository.versions(new.url, new.document))) == 3


def test_an_address_that_only_ever_redirected_costs_no_second_document(on: On) -> None:
    told = on({"/": to("/home", 308), "/home": page(WORDS, "/x"), "/x": page("Another page. ")})
    told.first()
    assert told.site.paths() == ["/", "/home", "/x"]
    assert told.known("/").record.document is None
    assert told.elsewhere("/") == (MOVED, "/home", False)
    assert (told.known("/home").record.visits, told.outcomes("/home")) == (1, ["new"])
    told.round()
    assert told.elsewhere("/") == (MOVED, "/home", True)
    counted = told.asked_for("/")
    told.round()
    assert told.asked_for("/") == counted


def test_another_pages_history_is_never_overwritten(on: On) -> None:
    told = on({"/": page("Front. ", "/old", "/new"), "/old": page(WORDS), "/new": page("Its own. " + WORDS)})
    told.first()
    told.site.pages["/new"] = page("Its own, by now. " + WORDS)
    told.round()
    told.site.pages |= {"/old": to("/new"), "/new": page(WORDS)}
    told.round()
    told.round()
    assert told.elsewhere("/old") == (MOVED, "/new", True)
    assert told.outcomes("/new")[:3] == ["new", "changed", "changed"]
    assert told.outcomes("/old")[:2] == ["new", "unchanged"]


def test_a_wave_of_redirects_to_a_login_page_merges_nothing(on: On) -> None:
    paths = [f"/members/{word}" for word in ("apple", "pear", "plum", "fig")]
    own = {path: page(f"All about the {path[9:]}, and what to make of it. ") for path in paths}
    told = on({"/": page("Front. ", *paths), **own})
    told.first()
    documents = {path: told.known(path).record.document for path in paths}
    told.site.pages |= {path: to("/login") for path in paths}
    told.site.pages["/login"] = page("Please tell us who you are. ")
    told.round()
    told.round()
    for path in paths:
        assert told.known(path).record.document == documents[path]
        assert told.elsewhere(path) == (MOVED, "/login", False)
        assert told.outcomes(path) == ["new", "moved", "moved"]
    assert told.outcomes("/login")[0] == "new"
    assert told.known("/login").record.visits == told.asked_for("/login") - 2 * len(paths)
    told.site.pages |= own
    told.round()
    assert all(told.outcomes(path)[-1] == "unchanged" for path in paths)
    assert all(told.elsewhere(path) is None for path in paths)


def test_pages_that_look_alike_and_lead_to_one_merge_nothing_either(on: On) -> None:
    paths = ["/a", "/b", "/c"]
    told = on({"/": page("Front. ", *paths), **{path: page(WORDS, f"{path}#note") for path in paths}})
    told.first()
    told.site.pages |= {path: to("/one") for path in paths}
    told.site.pages["/one"] = page(WORDS, "/one#note")
    told.round()
    told.round()
    told.round()
    assert [told.elsewhere(path) for path in paths] == [(MOVED, "/one", True)] * 3
    assert told.outcomes("/one")[0] == "new"
    assert told.known("/one").record.visits == 3, "its own ones"


def test_a_page_that_comes_back_is_visited_again_for_its_own_sake(on: On) -> None:
    told = on({"/": page("Front. ", "/a"), "/a": to("/b"), "/b": page(WORDS)})
    told.first()
    told.round()
    assert told.elsewhere("/a") == (MOVED, "/b", True)
    told.site.pages |= {"/a": page(WORDS), "/b": to("/a")}
    told.round()
    told.round()
    assert told.elsewhere("/b") == (MOVED, "/a", True)
    told.round()
    assert told.elsewhere("/a") is None
    assert told.known("/a").record.document is not None


def test_a_site_that_moves_is_followed_and_a_single_page_elsewhere_is_not_gone_into(on: On) -> None:
    new_home = {"/": page("The new home. ", "/deeper"), "/deeper": page("Deeper. ")}
    with Site({**new_home, "/out": page("Far away. ", "/not/asked/for")}, host="127.0.0.2") as other:
        told = on({"/": to(other.url("/")), "/gate": page("A gate. ", "/go"), "/go": to(other.url("/out"))})
        told.round(urls=f"{told.site.url('/')},{told.site.url('/gate')}")
        assert sorted(other.paths()) == ["/", "/deeper", "/out"]


def test_a_canonical_address_goes_on_and_the_others_rest(on: On) -> None:
    body = page(WORDS, canonical="/article")
    told = on({"/": page("Front. ", "/article?ref=1", "/article?ref=2"), "/article?ref=1": body,
               "/article?ref=2": body, "/article": body})  # fmt: skip
    told.first()
    told.round()
    counted = {path: told.asked_for(path) for path in told.site.pages}
    done = told.round()
    assert told.asked_for("/article") > counted["/article"]
    assert told.elsewhere("/article") is None
    for path in ("/article?ref=1", "/article?ref=2"):
        assert told.elsewhere(path) == (CANONICAL, "/article", True)
        assert told.asked_for(path) == counted[path]
        assert counted[path] <= 2
    assert done.visits() == {"unchanged": 2}


def test_a_canonical_that_lies_lays_nothing_to_rest(on: On) -> None:
    with Site({"/": page(WORDS + "/elsewhere")}, host="127.0.0.2") as other:
        told = on(
            {
                "/": page("Front. ", "/different", "/abroad", "/a", "/b", "/to-front"),
                "/different": page(WORDS, canonical="/a"),
                "/abroad": page(WORDS + "/elsewhere", canonical=other.url("/")),
                "/a": page("First. ", canonical="/b"),
                "/b": page("First. ", canonical="/a"),
                "/to-front": page("Frond. ", "/different", "/abroad", "/a", "/b", "/to-front", canonical="/"),
            }
        )
        told.first()
        for _ in range(3):
            told.round()
        for path in ("/different", "/abroad", "/to-front"):
            assert told.elsewhere(path) is None, path
            assert told.asked_for(path) == 4
        assert [told.known(path).record.elsewhere for path in ("/a", "/b")].count(None) >= 1
        assert other.hits == []


def test_duplicate_content_is_revisited_once(on: On) -> None:
    same = page(WORDS)
    told = on({"/": page("Front. ", "/a", "/copy/of/a"), "/a": same, "/copy/of/a": same})
    told.first()
    told.round()
    related = {path: told.elsewhere(path) for path in ("/a", "/copy/of/a")}
    [copy] = [path for path, found in related.items() if found is not None]
    [original] = related.keys() - {copy}
    assert related[copy] == (DUPLICATE, original, True)
    told.round()
    assert (told.asked_for(copy), told.asked_for(original)) == (2, 3)


def test_pages_that_were_different_once_are_never_taken_for_duplicates(on: On) -> None:
    """One bad day on which every page says the same does not lay the site to rest."""
    paths = ["/a", "/b", "/c"]
    told = on({"/": page("Front. ", *paths), **{path: page(f"The page {path}. " + WORDS) for path in paths}})
    told.first()
    told.site.pages |= {path: page("Back in a minute. ") for path in paths}
    told.round()
    told.round()
    assert [told.elsewhere(path) for path in paths] == [None] * 3
    told.round()
    assert [told.asked_for(path) for path in paths] == [4] * 3


def test_a_move_that_was_interrupted_is_brought_to_its_end(on: On) -> None:
    """A worker died when the new address had the record, and before the old one was acknowledged."""
    told = on({"/": page("Front. ", "/old"), "/old": page(WORDS)})
    told.first()
    told.site.pages |= {"/old": to("/new"), "/new": page(WORDS)}
    told.round()
    moved = told.known("/old").record._replace(url=told.site.url("/new"), elsewhere=None)
    assert told.crawl.ask(lambda frontier: inherit(frontier, moved, 1000.0))
    assert not told.crawl.ask(lambda frontier: inherit(frontier, moved, 0.0)), "it has a history by now"
    told.round()
    assert told.elsewhere("/old") == (MOVED, "/new", True)
    assert told.known("/new").record.visits == moved.visits


def test_the_record_says_where_a_page_has_moved(on: On) -> None:
    told = on({"/": to("/home"), "/home": page(WORDS)})
    told.first()
    told.round()
    there = {"relation": "moved", "url": told.site.url("/home"), "settled": True}
    assert json.loads(told.asked("record", "--json", told.site.url("/")))["elsewhere"] == there
    assert f"moved to {told.site.url('/home')}" in told.asked("record", told.site.url("/"))
    assert json.loads(told.asked("record", "--json", told.site.url("/home")))["elsewhere"] is None


def test_names_and_passwords_are_not_kept_with_an_address() -> None:
    assert own_address("http://a.test/x", "http://user:secret@a.test/y") == "http://a.test/y"
    assert own_address("http://a.test/x", "http://b.test/y") == ""
    assert own_address("http://a.test/x", "javascript:alert(1)") == ""
