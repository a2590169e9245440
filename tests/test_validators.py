"""Conditional requests: what is sent, and how lying servers are found out."""

from __future__ import annotations

from incrawl.core.validators import FULL_FETCH_EVERY, Trust, Validators, is_full_fetch

OLD = Validators('"one"', "Wed, 18 Nov 2026 00:00:00 GMT")
NEW = Validators('"two"', "Thu, 19 Nov 2026 00:00:00 GMT")


def test_both_validators_are_sent_while_believed() -> None:
    assert Trust().headers(OLD) == {"If-None-Match": OLD.etag, "If-Modified-Since": OLD.last_modified}
    assert Trust(etag=False).headers(OLD) == {"If-Modified-Since": OLD.last_modified}
    assert Trust(honest=False).headers(OLD) == {}
    assert Trust().headers(Validators()) == {}
    assert Trust().headers(Validators("x" * 5000)) == {}


def test_the_same_validator_on_a_changed_page_is_a_lie() -> None:
    for kept in (Validators(OLD.etag, NEW.last_modified), Validators("", OLD.last_modified), OLD):
        assert not Trust().after_full_fetch(OLD, kept, changed=True, often_changed=False).honest
    assert Trust().after_full_fetch(OLD, OLD, changed=False, often_changed=False) == Trust()


def test_changes_seen_only_by_full_fetches_are_doubted() -> None:
    # It answers 304 to everything, but gives new validators with a full answer.
    trust = Trust()
    for _ in range(2):
        trust = trust.after_full_fetch(OLD, NEW, changed=True, often_changed=False)
    assert trust.honest
    assert trust.after_full_fetch(OLD, NEW, changed=False, often_changed=False).doubts == 1
    assert not trust.after_full_fetch(OLD, NEW, changed=True, often_changed=False).honest
    assert trust.after_full_fetch(OLD, NEW, changed=True, often_changed=True) == trust


def test_etags_that_always_change_are_no_longer_sent() -> None:
    trust = Trust()
    for _ in range(4):
        trust = trust.after_conditional(OLD, NEW, changed=False)
    assert trust.etag
    assert trust.after_not_modified().after_conditional(OLD, NEW, changed=False).etag
    assert not trust.after_conditional(OLD, NEW, changed=False).etag
    assert trust.after_conditional(OLD, NEW, changed=True) == trust


def test_every_tenth_visit_is_a_full_one() -> None:
    full = [visits for visits in range(1, 31) if is_full_fetch(visits)]
    assert full == [FULL_FETCH_EVERY - 1, 2 * FULL_FETCH_EVERY - 1, 3 * FULL_FETCH_EVERY - 1]


def test_packed_and_unpacked() -> None:
    trust = Trust(honest=False, doubts=2)
    assert Trust.unpack(trust.pack()) == trust
    for foreign in (None, b"", b"garbage", b'{"other": 1}', b"[]", b"1"):
        assert Trust.unpack(foreign) == Trust()
