"""The budget in real crawls: whatever is sent counts, at the server no window of time sees more."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from crawls import ROOT, Answerer, Crawl, Reply, Site, html, many_pages, short_dir, until

from incrawl.core.values import parse_rate

BUDGET = "25/2s"


def moving_and_failing_pages() -> dict[str, Reply | Answerer]:
    """Beside plain pages, some that take two requests: redirects, errors that are tried again."""
    moved = {f"/moved/{n}": Reply(status=302, headers={"Location": f"/page/{n}"}) for n in range(8)}
    broken = {f"/broken/{n}": Reply("<h1>Sorry</h1>", 500) for n in range(8)}
    plain = many_pages(30)
    front = Reply(html(*(path for path in (*plain, *moved, *broken) if path != "/")))
    return {**plain, **moved, **broken, "/": front, "/robots.txt": Reply("User-agent: *\nDisallow: /no\n")}


def most_in_a_window(times: list[float], span: float) -> int:
    return max(sum(start <= other < start + span for other in times) for start in times)


def test_two_workers_never_send_more_than_the_budget_whatever_the_requests_are_for() -> None:
    budget = parse_rate(BUDGET)
    with short_dir() as state_dir, Site(moving_and_failing_pages()) as site:
        crawl = Crawl(
            state_dir,
            INCRAWL_BUDGET=BUDGET,
            INCRAWL_CONTINUOUS="1",
            INCRAWL_AVERAGE_REFRESH_TIME="0.5s",
            INCRAWL_MIN_REFRESH_TIME="0.1s",
        )
        order = {"settings": crawl.settings | {"EXTENSIONS": "{}"}, "arguments": {"urls": site.url("/")}}
        together(state_dir, [order, order], site, enough=4 * budget.count)
        times, paths = [hit.began for hit in site.hits], {hit.path for hit in site.hits}
    assert {"/robots.txt", "/moved/1", "/broken/1", "/page/1"} <= paths
    assert most_in_a_window(times, budget.span) <= budget.count  # never more, let alone 5 % more
    # And it is used: from the first request to the last there were few gaps.
    assert len(times) > 0.7 * budget.per_second * (times[-1] - times[0])


def together(state_dir: Path, orders: list[dict[str, dict[str, str]]], site: Site, enough: int) -> None:
    plan, log = state_dir / "plan.json", state_dir / "log"
    plan.write_text(json.dumps(orders))
    script = ROOT / "tests" / "several_crawls.py"
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, str(script), str(plan)], cwd=ROOT, stderr=output)
    try:
        until(lambda: process.poll() is not None or len(site.hits) >= enough)
        assert process.poll() is None, log.read_text()
        process.terminate()
        until(lambda: process.poll() is not None)
        assert process.returncode == 0, log.read_text()
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text(), log.read_text()


def test_a_run_ends_when_the_budget_is_spent_and_leaves_the_rest_due(state_dir: Path) -> None:
    with Site(many_pages(20)) as site:
        crawl = Crawl(state_dir, INCRAWL_BUDGET="8/1h", INCRAWL_MAX_WAIT="1s")
        done = crawl.run(urls=site.url("/"))
        assert done.code == 0, done.log
        assert len(site.hits) == 8
        assert "The budget is spent" in done.log
        left = crawl.counts()
        assert (left.known, left.leased, left.suspects) == (21, 0, 0)
        assert left.due == 21 - sum(done.visits().values())


def test_a_crawl_that_is_stopped_does_not_wait_for_the_budget(state_dir: Path) -> None:
    with Site(many_pages(20)) as site:
        crawl = Crawl(state_dir, INCRAWL_BUDGET="8/100s", INCRAWL_CONTINUOUS="1", INCRAWL_MAX_WAIT="10m")
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: len(site.hits) >= 8)
            process.signal(signal.SIGTERM)
            assert process.wait(30).code == 0  # sooner than the budget has anything to give
        assert crawl.counts().leased == 0
        assert len(site.hits) == 8
