"""The repository: versions, their sidecars, history and changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from incrawl.core.records import Outcome
from incrawl.repository import Repository, RepositoryError, Sidecar, Staged, VisitEntry

START = 1_794_983_569.0  # 2026-11-18 06:32:49 UTC
PAGE = "https://example.com/news"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def a_sidecar(url: str = PAGE, time: float = START, **facts: object) -> Sidecar:
    return Sidecar(url=url, time=time, **{"outcome": Outcome.NEW, **facts})  # type: ignore[arg-type]


def stored(repository: Repository, sidecar: Sidecar, body: bytes = b"<p>one</p>") -> str:
    staged = repository.stage(sidecar, body)
    repository.promote(staged)
    return staged.run


def files(repository: Repository) -> set[str]:
    return {str(path.relative_to(repository.root)) for path in repository.root.rglob("*") if path.is_file()}


def test_a_version_is_read_back_as_it_was_stored(repository: Repository) -> None:
    sidecar = a_sidecar(
        kinds=("content", "structural"),
        size="minor",
        paragraphs=("/html/body/p[2]",),
        previous="20261117T063249Z-0000",
        title="News \x1b[31m\ud800",
        links=("https://example.com/a", "https://example.com/b"),
        status=203,
        type="text/html",
        encoding="utf-8",
        length=10,
        etag='W/"1"',
        last_modified="Wed, 18 Nov 2026 06:32:49 GMT",
        signatures=b"\x00\xff",
        volatility=b"\x01",
    )
    run = stored(repository, sidecar)
    assert repository.document(PAGE, run) == b"<p>one</p>"
    assert repository.sidecar(PAGE, run) == sidecar
    assert (repository.root / run / "example.com" / "news.htm").read_bytes() == b"<p>one</p>"


def test_a_run_is_named_by_utc_time_and_a_suffix(repository: Repository) -> None:
    run = stored(repository, a_sidecar())
    stamp, _, suffix = run.partition("-")
    assert stamp == "20261118T063249Z"
    assert len(suffix) == 4


def test_nothing_is_made_before_something_is_stored(repository: Repository) -> None:
    assert list(repository.changes()) == []
    assert repository.document(PAGE, "20261118T063249Z-a1b2") is None
    assert list(repository.history(PAGE, "20261118T063249Z-a1b2")) == []
    assert not repository.root.exists()


def test_pages_of_a_process_share_a_run_for_a_day(repository: Repository) -> None:
    first = stored(repository, a_sidecar())
    assert stored(repository, a_sidecar(PAGE + "/1", START + 86_399)) == first
    assert stored(repository, a_sidecar(PAGE + "/2", START + 86_400)) != first


def test_a_second_version_of_a_page_opens_a_new_run(repository: Repository) -> None:
    first = stored(repository, a_sidecar(), b"one")
    second = stored(repository, a_sidecar(time=START + 1, previous=first), b"two")
    assert first != second
    assert repository.document(PAGE, first) == b"one"
    assert repository.document(PAGE, second) == b"two"
    assert stored(repository, a_sidecar(PAGE + "/other")) == second


def test_two_visits_of_a_page_in_flight_do_not_touch_each_other(repository: Repository) -> None:
    late = repository.stage(a_sidecar(), b"late")
    good = repository.stage(a_sidecar(), b"good")
    repository.discard(late)
    repository.promote(good)
    assert repository.document(PAGE, good.run) == b"good"
    assert repository.document(PAGE, late.run) is None


def test_a_discarded_version_leaves_nothing(repository: Repository) -> None:
    staged = repository.stage(a_sidecar(), b"one")
    repository.discard(staged)
    assert files(repository) == {f"{staged.run}/.staged/alive", f"{staged.run}/run.json"}
    assert repository.document(PAGE, staged.run) is None
    assert list(repository.changes()) == []
    assert repository.stage(a_sidecar(), b"again").run == staged.run


def test_a_staged_version_that_a_record_names_is_promoted_by_its_reader(repository: Repository) -> None:
    staged = repository.stage(a_sidecar(), b"one")
    assert list(repository.changes()) == []
    reader = Repository(repository.root)
    assert reader.sidecar(PAGE, staged.run) == staged.sidecar
    assert reader.document(PAGE, staged.run) == b"one"
    repository.promote(staged)
    assert [change.url for change in reader.changes()] == [PAGE]
    assert not any(".staged/" in name and "alive" not in name for name in files(repository))


def test_history_runs_over_all_versions_newest_first(repository: Repository) -> None:
    first = stored(repository, a_sidecar())
    repository.note_visit(PAGE, first, VisitEntry(START + 10, Outcome.UNCHANGED, 200))
    repository.note_visit(PAGE, first, VisitEntry(START + 20, Outcome.NOT_MODIFIED, 304))
    changed = a_sidecar(
        time=START + 30, outcome=Outcome.CHANGED, kinds=("content",), size="major", previous=first
    )
    second = stored(repository, changed, b"two")
    repository.note_visit(PAGE, second, VisitEntry(START + 40, Outcome.FAILED))
    assert list(repository.history(PAGE, second)) == [
        VisitEntry(START + 40, Outcome.FAILED, run=second),
        VisitEntry(START + 30, Outcome.CHANGED, 200, ("content",), "major", second),
        VisitEntry(START + 20, Outcome.NOT_MODIFIED, 304, run=first),
        VisitEntry(START + 10, Outcome.UNCHANGED, 200, run=first),
        VisitEntry(START, Outcome.NEW, 200, run=first),
    ]
    assert [run for run, _ in repository.versions(PAGE, second)] == [second, first]


def test_history_survives_a_line_cut_off_by_a_crash(repository: Repository) -> None:
    run = stored(repository, a_sidecar())
    repository.note_visit(PAGE, run, VisitEntry(START + 10, Outcome.UNCHANGED))
    log = repository.root / run / "example.com" / "news.htm.visits"
    log.write_bytes(log.read_bytes() + b'{"time":17949')
    repository.note_visit(PAGE, run, VisitEntry(START + 20, Outcome.UNCHANGED))
    assert [entry.time - START for entry in repository.history(PAGE, run)] == [20, 10, 0]


def test_history_ends_where_old_runs_were_removed(repository: Repository) -> None:
    run = stored(repository, a_sidecar(previous="20250101T000000Z-0000"))
    assert [version for version, _ in repository.versions(PAGE, run)] == [run]
    repository.note_visit(PAGE, "20250101T000000Z-0000", VisitEntry(START, Outcome.UNCHANGED))
    assert not (repository.root / "20250101T000000Z-0000").exists()


def test_a_circle_of_versions_ends(repository: Repository) -> None:
    first = repository.stage(a_sidecar(), b"one")
    looping = Staged(first.run, a_sidecar(previous=first.run))
    repository.discard(first)
    again = repository.stage(looping.sidecar, b"one")
    repository.promote(again)
    assert [run for run, _ in repository.versions(PAGE, again.run)] == [first.run]


def test_changes_of_all_runs_come_newest_first(tmp_path: Path) -> None:
    workers = [Repository(tmp_path), Repository(tmp_path)]
    for number in range(600):
        worker = workers[number % 2]
        # Pages in flight together end in any order.
        stored(worker, a_sidecar(f"{PAGE}/{number}", START + (number ^ 3), kinds=("content",), size="minor"))
    changes = list(workers[0].changes())
    assert [change.time for change in changes] == sorted((START + n for n in range(600)), reverse=True)
    assert len({change.run for change in changes}) == 2
    assert (changes[0].kinds, changes[0].size, changes[0].previous) == (("content",), "minor", None)


def test_namespaces_have_runs_of_their_own(tmp_path: Path) -> None:
    shop, news = Repository(tmp_path, "shop/a"), Repository(tmp_path, "news/b")
    run = stored(shop, a_sidecar(PAGE + "/shop"))
    stored(news, a_sidecar(PAGE + "/news"))
    assert [change.run for change in shop.changes()] == [run]
    assert len(list(Repository(tmp_path).changes())) == 2


def test_the_journal_is_lines_of_json(repository: Repository) -> None:
    run = stored(repository, a_sidecar(paragraphs=tuple(map(str, range(100)))))
    line = json.loads((repository.root / run / "changes.jsonl").read_text())
    assert line["url"] == PAGE
    assert len(line["paragraphs"]) == 20


def test_many_threads_stage_and_promote(repository: Repository) -> None:
    def visit(number: int) -> str:
        return stored(repository, a_sidecar(f"{PAGE}/{number}"), b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(visit, range(100)))
    assert len(set(runs)) == 1
    assert all(repository.document(f"{PAGE}/{n}", runs[n]) == b"%d" % n for n in range(100))
    assert {change.url for change in repository.changes()} == {f"{PAGE}/{n}" for n in range(100)}


def test_the_identity_is_made_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        seen = set(pool.map(lambda _: Repository(tmp_path / "new").identity, range(16)))
    assert len(seen) == 1
    assert Repository(tmp_path / "new").identity in seen
    assert Repository(tmp_path / "other").identity not in seen
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"repository.json"}


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"id":"x","layout":99}'])
def test_a_damaged_identity_stops_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "repository.json").write_text(text)
    with pytest.raises(RepositoryError, match=str(tmp_path)):
        _ = Repository(tmp_path).identity


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x80", b"\x93\x01\x02\x03", b"\x81\xa6schema\x01"])
def test_a_damaged_sidecar_counts_as_none(repository: Repository, data: bytes) -> None:
    run = stored(repository, a_sidecar())
    (repository.root / run / "example.com" / "news.htm.meta").write_bytes(data)
    assert repository.sidecar(PAGE, run) is None


def test_a_sidecar_of_a_later_schema_is_not_guessed_at(repository: Repository) -> None:
    run = stored(repository, a_sidecar())
    (repository.root / run / "example.com" / "news.htm.meta").write_bytes(b"\x81\xa6schema\x63")
    with pytest.raises(RepositoryError, match="newer version"):
        repository.sidecar(PAGE, run)


@pytest.mark.parametrize("run", ["", "..", "../..", "20261118T063249Z-a1b2/..", "/etc", "\0"])
def test_a_run_that_is_none_leads_nowhere(repository: Repository, run: str) -> None:
    stored(repository, a_sidecar())
    (repository.root.parent / "example.com").mkdir()
    (repository.root.parent / "example.com" / "news.htm").write_text("secret")
    assert repository.document(PAGE, run) is None
    assert repository.sidecar(PAGE, run) is None


def links_out_of(root: Path, run: str) -> Iterator[Path]:
    yield root / run / "example.com" / "news.htm"
    yield root / run / "example.com"
    yield root / run


@pytest.mark.parametrize("step", range(3))
def test_a_link_never_leads_out_of_the_repository(repository: Repository, tmp_path: Path, step: int) -> None:
    run = stored(repository, a_sidecar())
    link = list(links_out_of(repository.root, run))[step]
    outside = link.rename(tmp_path / "outside")
    link.symlink_to(outside)
    with pytest.raises(RepositoryError):
        repository.document(PAGE, run)
    if step > 0:
        with pytest.raises(RepositoryError):
            repository.note_visit(PAGE, run, VisitEntry(START, Outcome.UNCHANGED))


def test_a_place_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    repository = Repository(tmp_path / "file" / "repository")
    with pytest.raises(RepositoryError, match="INCRAWL_REPOSITORY_DIR"):
        repository.stage(a_sidecar(), b"one")
    with pytest.raises(RepositoryError, match="INCRAWL_REPOSITORY_DIR"):
        _ = repository.identity
