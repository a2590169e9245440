"""`scrapy simulate`, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

SMALL = ("--pages", "40", "--visits", "8")


class Terminal:
    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def type(self, *words: str) -> tuple[int, str, str]:
        settings = Settings({"BOT_NAME": "shop", "COMMANDS_MODULE": "incrawl.commands"})
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", "simulate", *words], settings)
        seen = self._capture.readouterr()
        return int(end.value.code or 0), seen.out, seen.err


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


def test_json_has_the_optimum_and_each_policy(terminal: Terminal) -> None:
    code, out, err = terminal.type(*SMALL, "--policies", "uniform,nutch", "--budget", "0.5", "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert 0 < report["optimum"] < 1
    assert set(report["policies"]) == {"uniform", "nutch"}
    for result in report["policies"].values():
        assert {"freshness", "ratio", "age", "requests", "hit_rate"} <= set(result)
        assert result["ratio"] == pytest.approx(result["freshness"] / report["optimum"])
    assert report["policies"]["uniform"]["requests"] == pytest.approx(40 * 8, abs=1)


def test_the_same_seed_gives_the_same_and_another_one_other_pages(terminal: Terminal) -> None:
    said = [terminal.type(*SMALL, "--policies", "uniform", "--json", "--seed", seed)[1] for seed in "112"]
    assert said[0] == said[1] != said[2]


def test_several_budgets_are_several_runs(terminal: Terminal) -> None:
    _, out, _ = terminal.type(*SMALL, "--policies", "uniform", "--budget", "0.5,2x", "--json")
    runs = json.loads(out)["runs"]
    assert runs[0]["budget"] == 0.5
    assert runs[1]["budget"] > 2  # twice the mean rate of change


def test_the_table_is_in_order_and_says_what_was_measured(terminal: Terminal) -> None:
    code, out, _ = terminal.type(*SMALL, "--policies", "proportional,uniform")
    assert code == 0
    assert out.index("every rate known") < out.index("uniform") < out.index("proportional")
    assert "after the first 50%" in out


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_plot_is_drawn(terminal: Terminal, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"plot.{ending}"
    words = (*SMALL, "--policies", "uniform,nutch", "--budget", "0.5,1", "--plot", str(path))
    assert terminal.type(*words)[0] == 0
    start = path.read_bytes()[:2000]
    assert start.startswith(b"\x89PNG") if ending == "png" else b"<svg" in start


def test_a_trace_of_real_changes(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("page_id,t\n" + "".join(f"{n % 7},{n * n * 500 + 7}\n" for n in range(200)))
    code, out, _ = terminal.type("--trace", str(path), "--policies", "uniform,budget", "--json")
    assert code == 0
    assert [len(run["policies"]) for run in json.loads(out)["runs"]] == [2, 2, 2]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--policies", "budgt"), "--policies cannot have 'budgt': choose from self_adjusting"),
        (("--policies", ","), "--policies is empty"),
        (("--budget", "0"), "--budget cannot be '0'"),
        (("--budget", "lots"), "--budget cannot be 'lots'"),
        (("--pages", "1"), "--pages cannot be '1'"),
        (("--pages", "some"), "--pages cannot be 'some'"),
        (("--seed", "-1"), "--seed cannot be '-1'"),
        (("--visits", "0"), "--visits cannot be '0'"),
        (("--warmup", "1"), "--warmup cannot be '1'"),
        (("--weights", "heavy"), "--weights cannot be 'heavy'"),
        (("--trace", "nowhere.csv"), "The trace nowhere.csv cannot be read"),
        (("--plot", "plot.gif"), "name a file that ends with .svg or .png"),
        (("--plot", "no/where/plot.svg"), "there is no directory no/where"),
        (("extra",), "see --help"),
    ],
)
def test_a_mistake_is_one_sentence(terminal: Terminal, words: tuple[str, ...], hint: str) -> None:
    code, out, err = terminal.type(*SMALL, *words)
    assert (code, out) == (2, "")
    assert hint in err
    assert err.count("\n") == 1
