"""`INCRAWL_REFRESH_POLICY` chooses a policy by short name or dotted path, or says what is wrong."""

import pytest

from incrawl.config import Config
from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh import POLICIES, policy_from
from incrawl.core.refresh.fixed import Fixed
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.self_adjusting import SelfAdjusting
from incrawl.errors import ConfigError


class Weekly:
    """What a user's own policy looks like at its smallest."""

    def next_refresh(self, record, visit, collection):
        return 604800.0


class NotAPolicy:
    pass


def config(**settings: object) -> Config:
    return Config.from_settings({f"INCRAWL_{name.upper()}": value for name, value in settings.items()})


def test_the_default_is_self_adjusting_with_the_limits_of_the_settings():
    policy = policy_from(config(average_refresh_time="2h", min_refresh_time="1h", pl=0.2, pg=0.9))
    assert policy == SelfAdjusting(Limits(7200.0, 3600.0, 90 * 86400.0), pl=0.2, pg=0.9)


@pytest.mark.parametrize("name", POLICIES)
def test_every_short_name_makes_a_policy_that_answers_within_the_limits(name):
    policy = policy_from(config(refresh_policy=name, budget="20000/day"))
    record = UrlRecord("http://a/", visits=3, history=(Observation(3600.0, True),) * 3, last_crawl=0.0)
    span = policy.next_refresh(record, Visit(86400.0, Outcome.CHANGED), Collection(pages=10))
    assert span is None or 600.0 <= span <= 90 * 86400.0


@pytest.mark.parametrize("name", ["budget", "uniform"])
def test_a_policy_that_spends_a_budget_needs_one(name):
    with pytest.raises(ConfigError, match=r"INCRAWL_BUDGET, which is not set \(such as 20000/day\)"):
        policy_from(config(refresh_policy=name))


def test_a_dotted_path_names_a_users_class():
    policy = policy_from(config(refresh_policy=f"{__name__}.Weekly"))
    assert policy.next_refresh(UrlRecord("http://a/"), Visit(0.0, Outcome.NEW), Collection()) == 604800.0


@pytest.mark.parametrize("name", ["self-adjusting", "nowhere.Policy", f"{__name__}.Missing", "."])
def test_an_unknown_policy_is_told_with_the_known_names(name):
    with pytest.raises(ConfigError, match=r"INCRAWL_REFRESH_POLICY.*self_adjusting, .*fixed"):
        policy_from(config(refresh_policy=name))


def test_a_class_that_answers_nothing_is_told():
    with pytest.raises(ConfigError, match="next_refresh"):
        policy_from(config(refresh_policy=f"{__name__}.NotAPolicy"))


def test_fixed_keeps_what_it_was_given():
    policy = policy_from(config(refresh_policy="fixed", average_refresh_time="3h"))
    assert isinstance(policy, Fixed)
    visit = Visit(0.0, Outcome.CHANGED)
    assert policy.next_refresh(UrlRecord("http://a/"), visit, Collection()) == 10800.0
    assert policy.next_refresh(UrlRecord("http://a/", refresh_time=3600.0), visit, Collection()) == 3600.0
