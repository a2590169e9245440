"""Settings: read from text and from Python values alike, checked, documented."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from incrawl.config import PREFIX, Config
from incrawl.errors import ConfigError

ROOT = Path(__file__).parents[1]


def config(**settings: Any) -> Config:
    return Config.from_settings({PREFIX + name: value for name, value in settings.items()})


@pytest.mark.parametrize(
    ("name", "values", "read"),
    [
        ("LEASE_TIME", ["90", 90, 90.0, "90s", "1.5m"], 90.0),
        ("HOST_INTERVAL", ["0", 0, "0s"], 0.0),
        ("MAX_REFRESH_TIME", ["2w", "14d", 14 * 86400], 14 * 86400.0),
        ("CONTINUOUS", ["1", "true", "Yes", "on", True, 1], True),
        ("CONTINUOUS", ["0", "false", "No", "off", False, 0, None, ""], False),
        ("PARTITIONS", ["4", 4], 4),
        ("PL", ["0.25", 0.25], 0.25),
        ("MAX_BODY", ["1048576", "1m", "1MiB", "1 MB", 1048576], 1048576),
        ("HOST_INTERVALS", ["Example.com=2s, localhost:8000=0", {"example.com": 2, "localhost:8000": "0"}],
         {"example.com": 2.0, "localhost:8000": 0.0}),
        ("CONTENT_TYPES", ["text/html, Text/Plain", ["text/html", "text/plain"]],
         {"text/html", "text/plain"}),
        ("STATE_DIR", ["/tmp/a", Path("/tmp/a")], Path("/tmp/a")),
        ("NAMESPACE", [" shop/books ", "shop/books"], "shop/books"),
    ],
)  # fmt: skip
def test_text_and_python_values_mean_the_same(name: str, values: list[Any], read: Any) -> None:
    for value in values:
        assert getattr(config(**{name: value}), name.lower()) == read, value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEASE_TIME", "0"),
        ("LEASE_TIME", "-1"),
        ("LEASE_TIME", "a while"),
        ("LEASE_TIME", True),
        ("LEASE_TIME", "inf"),
        ("HOST_INTERVAL", "-5"),
        ("CONTINUOUS", "perhaps"),
        ("PARTITIONS", "0"),
        ("PARTITIONS", "2.5"),
        ("PARTITIONS", True),
        ("PARTITIONS", "1000000"),
        ("PARTITIONS", "inf"),
        ("PL", "0"),
        ("PL", "1.1"),
        ("PL", "nan"),
        ("PL", "x"),
        ("MAX_BODY", "0"),
        ("MAX_BODY", "big"),
        ("HOST_INTERVALS", "example.com"),
        ("HOST_INTERVALS", 5),
        ("CONTENT_TYPES", 5),
        ("ALLOW_NETWORKS", "10.0.0.0/99"),
        ("STATE_DIR", "~nobody-of-this-name/state"),
    ],
)
def test_a_wrong_value_is_told_with_its_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as error:
        config(**{name: value})
    sentence = str(error.value)
    assert sentence.startswith(f"{PREFIX}{name} cannot be {value!r}: ")
    assert sentence.endswith(".") and "\n" not in sentence
    assert "literal" not in sentence and "convert" not in sentence, "Python's own words"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"PL": 0.7, "PG": 0.7}, "INCRAWL_PL (0.7) must be below INCRAWL_PG (0.7)."),
        ({"INTEREST_PL": 0.9}, "INCRAWL_INTEREST_PL must be below INCRAWL_INTEREST_PG."),
        ({"MIN_REFRESH_TIME": "100d"}, "INCRAWL_MIN_REFRESH_TIME must not be above INCRAWL_MAX"),
        ({"REFRESH_TIMES": "1d"}, "INCRAWL_REFRESH_TIMES is not a setting of incrawl."),
        ({"HOST_INTERVALL": "1"}, "INCRAWL_HOST_INTERVALL is not a setting of incrawl. Did you mean"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_or_does_not_exist_is_told(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        config(**settings)
    assert str(error.value).startswith(sentence)


def test_the_state_directory_hangs_on_the_user_and_not_on_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = config()
    monkeypatch.chdir(tmp_path)
    assert config() == before
    assert before.state_dir == tmp_path / "state" / "incrawl"
    assert before.repository_dir == before.state_dir / "repository"
    assert config(STATE_DIR="") == before
    monkeypatch.setenv("INCRAWL_STATE_DIR", "elsewhere")
    assert config().state_dir == tmp_path / "elsewhere"
    assert config(STATE_DIR=tmp_path).state_dir == tmp_path


def test_every_setting_says_what_it_means() -> None:
    for item in fields(Config):
        doc = item.metadata["doc"]
        assert doc.endswith(".") and doc[0].isupper(), item.name


def test_the_settings_page_is_made_from_the_code() -> None:
    script = (
        "import sys; sys.path.insert(0, 'docs'); import generate; print(generate.settings_page(), end='')"
    )
    made = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == made.stdout, "run: python docs/generate.py"
