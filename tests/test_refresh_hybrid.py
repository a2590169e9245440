"""The hybrid policy of paper 002, with every row of its tables."""

from datetime import UTC, datetime

import pytest

from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh.hybrid import Hybrid, age_in_hours, score, split
from incrawl.core.refresh.policy import Collection, Limits

# Site, score, PageRank, age in hours, last modified, present time: Table 5.1.
INITIAL = [
    ("carbon42.com", 0.00015, 3, 19670, "02-02-2008 00:52:44", "01-05-2010 15:10:14"),
    ("grdiet.ac.in", 0.00020, 1, 4897, "09-10-2009 13:26:36", "01-05-2010 15:10:46"),
    ("cemkpt.org", 0.00023, 3, 13025, "04-11-2008 21:13:38", "01-05-2010 15:10:36"),
    ("sssetc.org", 0.00031, 1, 3179, "20-12-2009 03:41:51", "01-05-2010 15:11:45"),
    ("sikh.net", 0.00038, 4, 10567, "15-02-2009 07:21:21", "01-05-2010 15:10:24"),
    ("ssietpatti.org", 0.00038, 1, 2637, "11-01-2010 17:47:05", "01-05-2010 15:11:49"),
    ("questgoi.org", 0.00051, 2, 3884, "20-11-2009 18:51:20", "01-05-2010 15:10:50"),
    ("gkfindia.com", 0.00062, 2, 3215, "18-12-2009 15:38:29", "01-05-2010 15:10:43"),
    ("bksjec.com", 0.00079, 1, 1271, "09-03-2010 15:41:38", "01-05-2010 15:10:31"),
    ("aptest.com", 0.00092, 7, 7645, "17-06-2009 01:50:54", "01-05-2010 15:10:17"),
    ("ctgroup.in", 0.00380, 4, 1054, "18-03-2010 16:42:46", "01-05-2010 15:10:38"),
    ("llriet.ac.in", 0.00515, 3, 582, "07-04-2010 09:01:54", "01-05-2010 15:10:47"),
    ("bisinstitutes.com", 0.00557, 2, 359, "16-04-2010 15:36:12", "01-05-2010 15:10:34"),
    ("rimtmaec.com", 0.01124, 4, 356, "16-04-2010 18:15:22", "01-05-2010 15:10:56"),
    ("rimt.ac.in", 0.02273, 5, 220, "22-04-2010 11:08:01", "01-05-2010 15:10:54"),
    ("spcet.org", 0.02336, 5, 214, "22-04-2010 16:14:37", "01-05-2010 15:11:50"),
    ("deshbhagatinstitutes.com", 0.02439, 3, 123, "26-04-2010 11:36:09", "01-05-2010 15:10:41"),
    ("sbscet.ac.in", 0.03896, 3, 77, "28-04-2010 09:52:15", "01-05-2010 15:11:46"),
    ("rieit.ac.in", 0.04065, 5, 123, "26-04-2010 11:28:36", "01-05-2010 15:10:06"),
    ("sviet.ac.in", 0.04202, 5, 119, "26-04-2010 15:36:21", "01-05-2010 15:11:53"),
    ("abilogic.com", 0.08772, 5, 57, "29-04-2010 05:30:00", "01-05-2010 15:10:09"),
    ("davietjal.org", 0.10638, 5, 47, "29-04-2010 15:34:13", "01-05-2010 15:10:40"),
    ("home.rayatbahra.com", 0.16000, 4, 25, "30-04-2010 14:04:47", "01-05-2010 15:10:52"),
    ("musicbox-online.com", 0.20000, 4, 20, "30-04-2010 18:11:06", "01-05-2010 15:10:12"),
    ("creativecommons.org", 0.69231, 9, 13, "01-05-2010 01:34:32", "01-05-2010 15:10:22"),
    ("gzscet.org", 2.00000, 2, 0, "01-05-2010 15:02:43", "01-05-2010 15:10:27"),
]

# The twelve dated 20 % collections of section V, and 10 May.
DATED = [
    ("rieit.ac.in", 0.09259, 5, 54, "05-04-2010 14:50:24", "07-04-2010 21:33:29"),
    ("sbscet.ac.in", 0.10345, 3, 29, "06-04-2010 16:13:00", "07-04-2010 21:35:56"),
    ("llriet.ac.in", 0.25000, 3, 12, "07-04-2010 09:01:54", "07-04-2010 21:34:16"),
    ("creativecommons.org", 0.50000, 9, 18, "07-04-2010 03:33:18", "07-04-2010 21:33:43"),
    ("musicbox-online.com", 2.00000, 4, 2, "07-04-2010 18:44:23", "07-04-2010 21:33:35"),
    ("abilogic.com", 0.07692, 3, 39, "07-04-2010 05:30:00", "08-04-2010 21:27:59"),
    ("llriet.ac.in", 0.08333, 3, 36, "07-04-2010 09:01:54", "08-04-2010 21:28:34"),
    ("musicbox-online.com", 0.15385, 4, 26, "07-04-2010 18:44:23", "08-04-2010 21:28:02"),
    ("creativecommons.org", 0.60000, 9, 15, "08-04-2010 06:22:14", "08-04-2010 21:28:10"),
    ("sbscet.ac.in", 0.75000, 3, 4, "08-04-2010 16:44:46", "08-04-2010 21:28:56"),
    ("abilogic.com", 0.07895, 3, 38, "11-04-2010 05:30:00", "12-04-2010 20:20:29"),
    ("davietjal.org", 0.08929, 5, 56, "10-04-2010 11:49:23", "12-04-2010 20:22:20"),
    ("creativecommons.org", 0.13235, 9, 68, "10-04-2010 00:05:12", "12-04-2010 20:21:01"),
    ("sbscet.ac.in", 0.50000, 3, 6, "12-04-2010 13:23:40", "12-04-2010 20:23:06"),
    ("musicbox-online.com", 2.00000, 4, 2, "12-04-2010 17:59:26", "12-04-2010 20:20:38"),
    ("davietjal.org", 0.03846, 5, 130, "10-04-2010 11:49:23", "15-04-2010 22:00:24"),
    ("abilogic.com", 0.04688, 3, 64, "13-04-2010 05:30:00", "15-04-2010 21:59:48"),
    ("creativecommons.org", 0.14286, 9, 63, "13-04-2010 06:11:24", "15-04-2010 22:00:03"),
    ("musicbox-online.com", 0.14815, 4, 27, "14-04-2010 18:15:53", "15-04-2010 21:59:53"),
    ("sbscet.ac.in", 0.37500, 3, 8, "15-04-2010 13:25:37", "15-04-2010 22:00:53"),
    ("home.rayatbahra.com", 0.11111, 4, 36, "18-04-2010 09:11:33", "19-04-2010 21:30:27"),
    ("sbscet.ac.in", 0.12500, 3, 24, None, "19-04-2010 21:32:43"),
    ("creativecommons.org", 0.13235, 9, 68, "17-04-2010 01:06:53", "19-04-2010 21:29:35"),
    ("sviet.ac.in", 0.62500, 5, 8, "19-04-2010 13:29:05", "19-04-2010 21:32:50"),
    ("musicbox-online.com", 1.33333, 4, 3, "19-04-2010 18:01:38", "19-04-2010 21:29:09"),
    ("creativecommons.org", 0.11392, 9, 79, "17-04-2010 01:06:53", "20-04-2010 08:39:09"),
    ("cemkpt.org", 0.12500, 3, 24, "04-11-2008 21:13:38", "20-04-2010 08:39:37"),
    ("spcet.org", 0.20833, 5, 24, "19-11-2009 12:58:13", "20-04-2010 08:42:19"),
    ("sviet.ac.in", 0.26316, 5, 19, "19-04-2010 13:29:05", "20-04-2010 08:42:22"),
    ("musicbox-online.com", 0.50000, 4, 8, "20-04-2010 00:25:07", "20-04-2010 08:38:50"),
    ("sbscet.ac.in", 0.37500, 3, 8, "20-04-2010 12:39:39", "20-04-2010 21:29:38"),
    ("rieit.ac.in", 0.45455, 5, 11, "20-04-2010 09:58:52", "20-04-2010 21:27:55"),
    ("spcet.org", 0.55556, 5, 9, "20-04-2010 12:04:40", "20-04-2010 21:29:42"),
    ("sviet.ac.in", 0.83333, 5, 6, "20-04-2010 14:54:44", "20-04-2010 21:29:45"),
    ("musicbox-online.com", 1.33333, 4, 3, "20-04-2010 18:24:17", "20-04-2010 21:28:03"),
    ("sbscet.ac.in", 0.15789, 3, 19, "20-04-2010 12:39:39", "21-04-2010 07:53:24"),
    ("rieit.ac.in", 0.23810, 5, 21, "20-04-2010 09:58:52", "21-04-2010 07:52:25"),
    ("spcet.org", 0.26316, 5, 19, "20-04-2010 12:04:40", "21-04-2010 07:53:28"),
    ("musicbox-online.com", 0.30769, 4, 13, "20-04-2010 18:24:17", "21-04-2010 07:52:31"),
    ("sviet.ac.in", 0.31250, 5, 16, "20-04-2010 14:54:44", "21-04-2010 07:53:30"),
    ("sbscet.ac.in", 0.11111, 3, 27, "20-04-2010 12:39:39", "21-04-2010 15:48:06"),
    ("rieit.ac.in", 0.17241, 5, 29, "20-04-2010 09:58:52", "21-04-2010 15:44:13"),
    ("musicbox-online.com", 0.19048, 4, 21, "20-04-2010 18:24:17", "21-04-2010 15:44:31"),
    ("sviet.ac.in", 0.20833, 5, 24, "20-04-2010 14:54:44", "21-04-2010 15:48:24"),
    ("spcet.org", 5.00000, 5, 1, "21-04-2010 14:00:04", "21-04-2010 15:48:19"),
    ("spcet.org", 0.17857, 5, 28, "22-04-2010 16:14:37", "23-04-2010 21:12:11"),
    ("creativecommons.org", 0.40909, 9, 22, "22-04-2010 22:41:33", "23-04-2010 21:10:23"),
    ("sbscet.ac.in", 0.42857, 3, 7, "23-04-2010 13:51:31", "23-04-2010 21:12:08"),
    ("sviet.ac.in", 1.25000, 5, 4, "23-04-2010 16:16:15", "23-04-2010 21:12:13"),
    ("musicbox-online.com", 2.00000, 4, 2, "23-04-2010 18:27:20", "23-04-2010 21:10:17"),
    ("home.rayatbahra.com", 0.12500, 4, 32, "26-04-2010 12:37:42", "27-04-2010 20:49:11"),
    ("rieit.ac.in", 0.15152, 5, 33, "26-04-2010 11:28:36", "27-04-2010 20:48:37"),
    ("musicbox-online.com", 0.15385, 4, 26, "26-04-2010 18:11:08", "27-04-2010 20:48:41"),
    ("sviet.ac.in", 0.17241, 5, 29, "26-04-2010 15:36:21", "27-04-2010 20:49:23"),
    ("sbscet.ac.in", 1.00000, 3, 3, "27-04-2010 16:54:02", "27-04-2010 20:49:15"),
    ("davietjal.org", 0.10638, 5, 47, "29-04-2010 15:34:13", "01-05-2010 15:10:40"),
    ("home.rayatbahra.com", 0.16000, 4, 25, "30-04-2010 14:04:47", "01-05-2010 15:10:52"),
    ("musicbox-online.com", 0.20000, 4, 20, "30-04-2010 18:11:06", "01-05-2010 15:10:12"),
    ("creativecommons.org", 0.69231, 9, 13, "01-05-2010 01:34:32", "01-05-2010 15:10:22"),
    ("gzscet.org", 2.00000, 2, 0, "01-05-2010 15:02:43", "01-05-2010 15:10:27"),
    ("musicbox-online.com", 0.11111, 4, 36, "08-05-2010 21:53:11", "10-05-2010 10:34:06"),
    ("creativecommons.org", 0.16071, 9, 56, "08-05-2010 02:02:34", "10-05-2010 10:34:34"),
    ("abilogic.com", 0.17241, 5, 29, "09-05-2010 05:30:00", "10-05-2010 10:33:54"),
    ("rieit.ac.in", 0.20833, 5, 24, "05-05-2010 10:21:39", "10-05-2010 10:33:50"),
    ("home.rayatbahra.com", 4.00000, 4, 0, "10-05-2010 10:28:30", "10-05-2010 10:35:44"),
]

# Fig. 4.4/4.5, 6 May: what had been modified since Table 5.1, and the ages that can be read.
SIXTH_OF_MAY = {
    "rieit.ac.in": ("05-05-2010 10:21:39", 26),
    "musicbox-online.com": ("05-05-2010 18:11:06", 18),
    "davietjal.org": ("05-05-2010 16:12:17", 20),
    "gzscet.org": ("06-05-2010 13:05:31", 0),
    "home.rayatbahra.com": ("06-05-2010 12:21:44", 0),
    "carbon42.com": ("02-02-2008 00:52:44", 19788),
    "sikh.net": ("15-02-2009 07:21:21", 10685),
    "sviet.ac.in": ("26-04-2010 15:36:21", 237),
}


def moment(text: str | None) -> float | None:
    return datetime.strptime(text, "%d-%m-%Y %H:%M:%S").replace(tzinfo=UTC).timestamp() if text else None


@pytest.mark.parametrize(("site", "expected", "rank", "age", "modified", "now"), INITIAL)
def test_ages_and_scores_of_table_5_1(site, expected, rank, age, modified, now):
    assert age_in_hours(moment(modified), moment(now)) == age
    assert score(rank, age) == pytest.approx(expected, abs=0.000006)


@pytest.mark.parametrize(("site", "expected", "rank", "age", "modified", "now"), DATED)
def test_scores_of_the_dated_collections(site, expected, rank, age, modified, now):
    assert score(rank, age) == pytest.approx(expected, abs=0.000006)


def test_ages_of_the_dated_collections_and_the_four_rows_that_print_24():
    odd = [row for row in DATED if age_in_hours(moment(row[4]), moment(row[5])) != row[3]]
    assert len(DATED) == 65
    assert {(row[0], row[3]) for row in odd} <= {(row[0], 24) for row in DATED}
    assert len(odd) == 3, "the fourth has no date, and that gives 24"


def test_the_20_percent_collection_of_table_5_2():
    parts = split((score(rank, age), site) for site, _, rank, age, _, _ in INITIAL)
    assert [site for _, site in parts.best] == [
        "gzscet.org",
        "creativecommons.org",
        "musicbox-online.com",
        "home.rayatbahra.com",
        "davietjal.org",
    ]
    assert len(parts.rest) == 21
    assert parts.rest[0][1] == "abilogic.com"
    assert parts.rest[-1][1] == "carbon42.com"


def test_the_20_percent_collection_of_6_may():
    now, scored = moment("06-05-2010 13:05:40"), []
    for site, _, rank, _, modified, _ in INITIAL:
        newer, known_age = SIXTH_OF_MAY.get(site, (modified, None))
        age = age_in_hours(moment(newer), now)
        assert known_age is None or age == known_age
        scored.append((score(rank, age), site))
    best = {site for _, site in split(scored).best}
    assert best == {
        "rieit.ac.in", "musicbox-online.com", "davietjal.org", "gzscet.org", "home.rayatbahra.com"
    }  # fmt: skip


@pytest.mark.parametrize(("pages", "best"), [(1, 1), (4, 1), (5, 1), (9, 1), (10, 2), (26, 5)])
def test_a_fifth_rounded_down_but_at_least_one(pages, best):
    parts = split((1.0, f"http://a/{number:02}") for number in range(pages))
    assert (len(parts.best), len(parts.rest)) == (best, pages - best)


def test_a_date_in_the_future_is_age_zero_and_a_missing_one_24_hours():
    assert age_in_hours(2000.0, 1000.0) == 0
    assert age_in_hours(None, 1000.0) == 24


POLICY = Hybrid(Limits(default=86400.0, minimum=60.0, maximum=90 * 86400.0), ratio=4.0)


def after(
    url: str, rank: float | None, collection: Collection, outcome: Outcome = Outcome.UNCHANGED
) -> float:
    record = UrlRecord(url, rank=rank, history=(Observation(1.0, False),), refresh_time=3600.0)
    visit = Visit(7200.0, outcome, last_modified=0.0)
    return POLICY.next_refresh(record, visit, collection)


def test_both_collections_have_their_rate_and_the_cost_stays_that_of_the_default():
    collection = Collection(pages=5, hybrid_entry=split([(2.0, "http://a/"), (0.5, "http://b/")]).entry)
    best, rest = after("http://a/", 4.0, collection), after("http://b/", 1.0, collection)
    assert rest == pytest.approx(4 * best)
    assert 0.2 / best + 0.8 / rest == pytest.approx(1 / 86400)


def test_equal_scores_go_the_same_way_in_the_batch_and_at_the_visit():
    parts = split((0.0, f"http://a/{number}") for number in range(10))
    collection = Collection(pages=10, hybrid_entry=parts.entry)
    best = {
        f"http://a/{number}" for number in range(10) if after(f"http://a/{number}", None, collection) < 86400
    }
    assert best == {url for _, url in parts.best}


def test_before_the_first_pass_and_after_a_failure_the_refresh_time_stays():
    assert after("http://a/", 4.0, Collection()) == 3600.0
    assert after("http://a/", 4.0, Collection(hybrid_entry=(0.0, "")), Outcome.FAILED) == 3600.0
