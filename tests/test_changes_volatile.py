"""Clocks, counters and rotating boxes are learnt from a page's history; news keep counting."""

from __future__ import annotations

from dataclasses import dataclass, field

from incrawl.core.changes import Judgement, Kind, Signatures, Volatility, analyse, judge, learn_unchanged

DAY, MINUTE = 86400.0, 60.0
PAGE = """<html><body><h1>{headline}</h1><p>Visitors so far: {count}</p><div>It is {clock}</div>
<aside><a href="/{advert!s:.4}">{advert}</a></aside><p>Nothing else here ever changes.</p>
<ul>{list}</ul></body></html>"""
LIST = "".join(f"<li>{name}</li>" for name in "abcdefghijklmnopqrstuvwxyz")


@dataclass
class Site:
    """A page that is visited again and again."""

    shown: dict[str, object] = field(
        default_factory=lambda: {"headline": "Calm", "count": 1, "clock": "10:00", "advert": "Shoes"}
    )
    volatility: Volatility = Volatility()
    old: Signatures | None = None

    def visit(self, after: float = DAY, **shown: object) -> Judgement | None:
        self.shown |= shown
        new = analyse(PAGE.format(**self.shown, list=LIST).encode(), url="http://x.org/").signatures
        if self.old is None:
            self.old = new
            return None
        known = Volatility.unpack(self.volatility.pack())
        judged = judge(self.old, new, elapsed=after, volatility=known)
        self.old, self.volatility = new, judged.volatility
        return judged

    def changed(self, after: float = DAY, **shown: object) -> bool:
        judged = self.visit(after, **shown)
        assert judged is not None
        return judged.verdict.changed


def site() -> Site:
    made = Site()
    made.visit()
    return made


def test_counter_is_volatile_at_the_third_visit_that_differs() -> None:
    page = site()
    assert [page.changed(count=count) for count in (20, 300, 4000, 50000)] == [True, True, False, False]


def test_clock_and_date_are_volatile() -> None:
    page = site()
    clocks = [
        "11:30 on Monday, 4 May 2026",
        "9:05 on Tuesday, 5 May 2026",
        "1:00 on Friday, 8 May 2026",
        "2:00 on Saturday, 9 May 2026",
    ]
    page.changed(clock="10:00 on Sunday, 3 May 2026")
    assert [page.changed(clock=clock) for clock in clocks] == [True, True, False, False]


def test_volatile_part_is_shown_as_such_and_counted() -> None:
    page = site()
    for count in (2, 3):
        page.visit(count=count)
    judged = page.visit(count=4)
    assert judged is not None
    assert judged.verdict.volatile_only
    assert [paragraph.place for paragraph in judged.verdict.volatile] == ["/html/body/p[1]"]
    assert judged.verdict.ignored == {"volatile paragraph": 1}


def test_new_headline_keeps_counting() -> None:
    page = site()
    for headline in ("Mayor resigns", "Bridge closed", "Fair weather", "Team wins", "Prices rise"):
        judged = page.visit(headline=headline, count=len(headline))
        assert judged is not None
        assert Kind.CONTENT in judged.verdict.kinds
        assert "/html/body/h1" in [paragraph.place for paragraph in judged.verdict.paragraphs]


def test_rotating_box_is_learnt_from_two_fetches_minutes_apart() -> None:
    page = site()
    assert not page.changed(after=2 * MINUTE, advert="Hats")
    adverts = [f"{colour} coats" for colour in ("Red", "Blue", "Green", "Black", "White", "Brown", "Grey")]
    assert not any(page.changed(advert=advert) for advert in adverts)
    judged = page.visit(advert="Gloves", headline="News at last")
    assert judged is not None
    assert [change.place for change in judged.verdict.paragraphs] == ["/html/body/h1"]
    assert [change.place for change in judged.verdict.volatile] == ["/html/body/aside"]


def test_box_with_other_tags_each_time_is_volatile_and_the_page_around_it_is_not() -> None:
    page = site()
    page.visit(after=MINUTE, advert="<p><b>Hats</b></p>")
    assert not page.changed(advert="<div><p>Coats</p><p>cheap</p></div>")
    assert page.changed(advert="<p>Ties</p>", clock="gone")


def test_counter_that_moves_down_the_page_stays_volatile() -> None:
    page = site()
    for count in (2, 3, 4):
        page.visit(count=count)
    page.visit(headline="News</h1><p>Extra edition!</p><h1>more")
    assert not page.changed(count=5)


def test_without_a_second_fetch_a_rotating_box_counts() -> None:
    page = site()
    assert [page.changed(advert=advert) for advert in ("Hats", "Coats", "Gloves", "Ties")] == [True] * 4


def test_digits_that_change_now_and_then_are_news() -> None:
    page = site()
    for count in (2, 3, 4, 5):
        assert page.changed(count=count)
        page.volatility = learn_unchanged(page.volatility)


def test_volatile_part_that_keeps_still_counts_again() -> None:
    page = site()
    for count in (2, 3, 4):
        page.visit(count=count)
    for _ in range(5):
        page.volatility = learn_unchanged(page.volatility)
    assert page.changed(count=5)


def test_other_text_in_a_volatile_place_counts() -> None:
    page = site()
    for count in (2, 3, 4):
        page.visit(count=count)
    assert page.changed(count="we have stopped counting")


def test_scripts_that_differ_at_every_visit_stop_counting() -> None:
    def script(text: str) -> Signatures:
        return analyse(f"<script>{text}</script><p>x".encode(), url="").signatures

    old, known, seen = script("a(1)"), Volatility(), []
    for number in range(2, 6):
        new = script(f"a({number})")
        judged = judge(old, new, elapsed=DAY, volatility=known)
        old, known = new, judged.volatility
        seen.append(judged.verdict.changed)
    assert seen == [True, True, False, False]


def test_damaged_state_is_as_if_nothing_were_known() -> None:
    for damaged in (b"", b"\xff", b"\x92\x07\x80", b"junk", b"\x92\x01\x81\xa1a\xa1b"):
        assert Volatility.unpack(damaged) == Volatility()
