"""Walks the imports of the package and holds the directions between its rooms (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "incrawl"
LUA = PACKAGE / "frontier" / "lua"

FRAMEWORKS = {"scrapy", "twisted", "redis", "scrapy_redis"}

# What a room may know of the package besides itself. Rooms that are not named here are Scrapy's side:
# they may know all that is named, and one another.
MAY_KNOW = {
    "errors": set(),
    "core": {"errors"},
    "config": {"core", "errors"},
    "visits": {"core"},
    "summary": {"core"},
    "frontier": {"core", "config", "errors"},
    "repository": {"core", "config", "errors"},
    "collection": {"core", "config", "errors", "frontier", "repository"},
    "recovery": {"core", "config", "errors", "frontier", "repository", "visits"},
    "cli": {"core", "config", "errors", "frontier", "repository"},
    "dashboard": {"core", "config", "errors", "frontier", "repository"},
    "network": {"core", "config", "errors", "refusals"},
}

# Frameworks that a room may import; rooms that are not named may import all.
MAY_USE = {
    "errors": set(),
    "core": set(),
    "config": set(),
    "visits": set(),
    "summary": set(),
    "repository": set(),
    "collection": set(),
    "recovery": set(),
    "frontier": {"redis", "scrapy_redis"},
    "dashboard": {"redis"},
}

# Front doors: Scrapy finds them by name, nobody imports them.
FRONT_DOORS = {"commands", "spiders", "settings"}


@dataclass(frozen=True)
class Import:
    source: str  # the module that imports
    target: str  # the module that is imported
    at_start: bool  # neither inside a function nor for type checkers only

    def __str__(self) -> str:
        return f"{self.source} imports {self.target}"


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    return {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports() -> tuple[Import, ...]:
    return tuple(each for name, path in modules().items() for each in imports_of(name, path))


def imports_of(name: str, path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = {id(inner) for node in ast.walk(tree) if is_later(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        for target in targets(node):
            yield Import(name, target, id(node) not in later)


def is_later(node: ast.AST) -> bool:
    """Whether what is inside runs after the module was imported, or never."""
    for_checkers = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    return for_checkers or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0 and node.module, "imports are written in full"
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        named = [each for each in inner if each in modules()]
        yield from named or [node.module]


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_rooms_know_only_whom_they_may() -> None:
    wrong = [
        str(each)
        for each in imports()
        if each.target.startswith("incrawl.")
        and room(each.source) in MAY_KNOW
        and room(each.target) not in MAY_KNOW[room(each.source)] | {room(each.source)}
    ]
    assert wrong == []


def test_frameworks_stay_in_their_rooms() -> None:
    wrong = [
        str(each)
        for each in imports()
        if (framework := each.target.partition(".")[0]) in FRAMEWORKS
        and framework not in MAY_USE.get(room(each.source), FRAMEWORKS)
    ]
    assert wrong == []


def test_nobody_imports_the_front_doors() -> None:
    wrong = [
        str(each)
        for each in imports()
        if each.target.startswith("incrawl.")
        and room(each.target) in FRONT_DOORS
        and room(each.source) != room(each.target)
    ]
    assert wrong == []


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: {each.target for each in imports() if each.source == name and each.at_start}
             for name in modules()}  # fmt: skip
    known = {name: targets & graph.keys() - {name} for name, targets in graph.items()}
    try:
        TopologicalSorter(known).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' → '.join(error.args[1])}")


def test_the_core_runs_without_any_framework() -> None:
    names = [name for name in modules() if room(name) in {"core", "visits", "errors", "config", "repository"}]
    script = (
        f"import importlib, sys\nsys.modules.update(dict.fromkeys({sorted(FRAMEWORKS)!r}))\n"
        f"for name in {names!r}:\n    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def verbs() -> list[str]:
    return sorted(path.stem for path in LUA.glob("*.lua"))


def names_defined_in(lua: str) -> set[str]:
    lists = re.findall(r"^local (?:function )?([\w, ]+?)(?=\(| =|$)", lua, re.MULTILINE)
    return {name for names in lists for name in names.split(", ")}


@pytest.mark.parametrize("path", sorted(LUA.rglob("*.lua")), ids=lambda path: path.stem)
def test_every_script_names_the_parts_that_it_uses_and_no_others(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parts = {part.stem: part.read_text(encoding="utf-8") for part in LUA.glob("parts/*.lua")}
    del parts["base"]
    words = set(re.findall(r"\w+", re.sub(r"--.*", "", text))) - names_defined_in(text)
    used = {name for name, part in parts.items() if words & names_defined_in(part)}
    declared = re.search(r"^-- needs: (.+)$", text, re.MULTILINE)
    assert set(declared[1].split(", ") if declared else ()) == used


@cache
def words_of_frontier() -> frozenset[str]:
    """All text constants in the frontier's Python files."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (PACKAGE / "frontier").glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return frozenset(n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))


@pytest.mark.parametrize("verb", verbs())
def test_every_script_is_used_and_says_what_it_takes(verb: str) -> None:
    head = (LUA / f"{verb}.lua").read_text(encoding="utf-8")
    assert verb in words_of_frontier()
    assert head.startswith(f"-- {verb}: ")
    assert "-- ARGV: " in head and "-- Returns " in head


def test_there_is_no_pickle() -> None:
    wrong = [
        str(each) for each in imports() if each.target.partition(".")[0] in {"pickle", "marshal", "shelve"}
    ]
    assert wrong == []


def test_files_that_the_docs_name_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:incrawl|tests|docs)/[\w./-]+)`", text)
    assert len(named) > 50
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_pages_that_the_docs_link_to_exist() -> None:
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        links = re.findall(r"\]\(([\w./-]+\.md)", page.read_text(encoding="utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == [], page.name
