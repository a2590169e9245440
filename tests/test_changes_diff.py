"""`scrapy diff`, as typed: two files, or a page of the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from scrapy.cmdline import execute
from scrapy.settings import Settings

from incrawl.core.records import Outcome
from incrawl.repository import Repository, Sidecar

PAGE = "https://example.com/news"
OLD = "<title>News</title><h1>News</h1><p>The mayor resigns today.</p><p>Weather: fair.</p>"
NEW = "<title>News</title><h1>News</h1><p>The mayor stays today.</p><p>Weather: fair.</p><ul><li>More</ul>"


class Shell:
    """Types commands in an empty project."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.home, self.capture = home, capture

    def type(self, *words: str) -> tuple[int, str, str]:
        settings = Settings({"BOT_NAME": "shop", "COMMANDS_MODULE": "incrawl.commands"})
        settings.set("INCRAWL_STATE_DIR", str(self.home), "project")
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", "diff", *words], settings)
        seen = self.capture.readouterr()
        return int(end.value.code or 0), seen.out, seen.err

    def json(self, *words: str) -> Any:
        code, out, err = self.type(*words, "--json")
        assert (code, err, out.count("\n")) == (0, "", 1)
        return json.loads(out)

    def file(self, name: str, text: str) -> str:
        path = self.home / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


def test_two_files_as_text(shell: Shell) -> None:
    code, out, err = shell.type(shell.file("a.html", OLD), shell.file("b.html", NEW))
    assert (code, err) == (0, "")
    assert "changed: content, structural (major)" in out
    assert "- The mayor resigns today." in out
    assert "+ The mayor stays today." in out
    assert "/html/body/p[1]" in out
    assert "levels 3, 4, below /html/body" in out
    assert "Weather" not in out


def test_two_files_as_json(shell: Shell) -> None:
    report = shell.json(shell.file("a.html", OLD), shell.file("b.html", NEW))
    assert (report["changed"], report["kinds"], report["size"]) == (True, ["content", "structural"], "major")
    changed = report["paragraphs"][0]
    assert (changed["old"], changed["new"]) == ("The mayor resigns today.", "The mayor stays today.")
    assert html.fromstring(NEW).getroottree().xpath(changed["place"])[0].text == changed["new"]
    for side in ("old", "new"):
        assert {"rms", "checksum", "levels", "fingerprints", "paragraphs"} <= set(report[side])
        assert {"text", "rms", "checksum"} <= set(report[side]["paragraphs"][0])
    assert report["old"]["levels"] == [1, 2, 4]
    assert report["new"]["fingerprints"] == ["hhtbhppul", "ldey1ppli"]


def test_equal_files(shell: Shell) -> None:
    path = shell.file("a.html", OLD)
    assert shell.type(path, path) == (0, "unchanged\n", "")
    report = shell.json(path, path)
    assert (report["changed"], report["kinds"], report["size"], report["paragraphs"]) == (
        False,
        [],
        "none",
        [],
    )


def test_side_by_side_page_is_inert(shell: Shell) -> None:
    evil = "<p>&lt;script&gt;alert(1)&lt;/script&gt; \x1b[31m \u202e one</p>"
    page = shell.home / "diff.html"
    code, _, err = shell.type(
        shell.file("a", evil), shell.file("b", evil.replace("one", "two")), "--html", str(page)
    )
    assert (code, err) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert [mark.text for mark in html.fromstring(text).iter("del", "ins")] == ["one", "two"]


def test_page_text_cannot_command_the_terminal(shell: Shell) -> None:
    old, new = "<p>\x9b31mred [bold]a[/bold] \u202e</p>", "<p>\x9b2Jred [bold]b[/bold]</p>"
    _, out, _ = shell.type(shell.file("a", old), shell.file("b", new))
    assert "[bold]" in out
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)


def test_what_did_not_count_is_listed(shell: Shell) -> None:
    page = '<p>{0}</p><input type=hidden name=csrf value="{0}"><script src="/app.js?v={0}"></script>'
    old, new = shell.file("a", page.format(1)), shell.file("b", page.format(2))
    assert "left out: 1 × hidden field, 1 × version in address" in shell.type(old, new)[1]
    listed = shell.type(old, new, "--ignored")[1]
    assert "csrf=1" in listed
    assert "/app.js?v=2" in listed
    assert shell.json(old, new)["new"]["ignored_examples"]["hidden field"] == ["csrf=2"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["missing.html", "missing.html"], "missing.html cannot be read: No such file or directory."),
        (["one.html"], "'one.html' is one file, and a comparison takes two (or the URL of a page)."),
        (["/", "/"], "/ cannot be read: Is a directory."),
        (["--colour", "a", "b"], "There is no option --colour; see --help."),
        (["http:///", "--json"], "'http:///' is no URL: write it in full, as https://example.com/page."),
    ],
)
def test_mistakes_are_told_in_a_sentence(shell: Shell, words: list[str], complaint: str) -> None:
    assert shell.type(*words) == (2, "", f"incrawl: {complaint}\n")


def test_html_file_that_cannot_be_written(shell: Shell) -> None:
    path = shell.file("a.html", OLD)
    code, _, err = shell.type(path, path, "--html", str(shell.home / "no" / "such" / "place"))
    assert code == 2
    assert "cannot be written" in err


def stored(shell: Shell, body: str, time: float, previous: str | None = None) -> str:
    """Puts a version into the repository, in a run of its own."""
    repository = Repository(shell.home / "repository", "shop/incremental")
    outcome = Outcome.CHANGED if previous else Outcome.NEW
    sidecar = Sidecar(url=PAGE, time=time, outcome=outcome, previous=previous, encoding="latin-1")
    staged = repository.stage(sidecar, body.encode("latin-1"))
    repository.promote(staged)
    return staged.run


def test_last_two_versions_of_a_page(shell: Shell) -> None:
    first = stored(shell, OLD, 1e9)
    second = stored(shell, OLD.replace("fair", "caf\xe9"), 1e9 + 60, first)
    stored(shell, NEW, 1e9 + 120, second)
    assert "The mayor stays today." in shell.type("HTTPS://example.com:443/news#top")[1]
    report = shell.json(PAGE, "--run", second)
    assert [paragraph["new"] for paragraph in report["paragraphs"]] == ["Weather: caf\xe9."]


def test_page_without_two_versions(shell: Shell) -> None:
    code, _, err = shell.type(PAGE)
    assert (code, err) == (1, f"incrawl: The repository has no version of {PAGE}.\n")
    stored(shell, OLD, 1e9)
    code, _, err = shell.type(PAGE)
    assert (code, err) == (
        1,
        f"incrawl: {PAGE} has not changed since it was first seen, 2001-09-09 01:46:40 UTC.\n",
    )
