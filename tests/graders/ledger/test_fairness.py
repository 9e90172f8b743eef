"""The rule of the queue: nobody who has little waits behind somebody who has much, and estimates hold."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.ledger.fairness import (
    NEW_FOR_SECONDS,
    AddressLoad,
    Ahead,
    Load,
    Pace,
    Reputation,
    count_unproven_slots,
    estimate_seconds,
    estimate_wait,
    is_proven,
    rank,
)
from graders.ledger.records import Kind

# A loaded machine is slow now and then, which tells nothing of the rule.
EASY = settings(deadline=None)
WAITED_FOR = (Kind.GRADE, Kind.CHECK, Kind.RUN)
COUNTS = st.integers(0, 500)
SECONDS = st.floats(0.0, 5000.0)


@st.composite
def reputations(draw: st.DrawFn) -> Reputation:
    used, address_used = draw(SECONDS), draw(SECONDS)
    return Reputation(
        learner=Load(draw(COUNTS), used, used * draw(st.floats(0.0, 1.0))),
        short_runs=draw(COUNTS),
        known_seconds=draw(SECONDS),
        address=AddressLoad(
            draw(COUNTS), address_used, address_used * draw(st.floats(0.0, 1.0)), draw(COUNTS), draw(COUNTS)
        ),
    )


def is_new(reputation: Reputation) -> bool:
    return reputation.short_runs == 0 and reputation.known_seconds < NEW_FOR_SECONDS


@EASY
@given(reputations(), reputations(), st.sampled_from([(Kind.GRADE, Kind.CHECK), (Kind.CHECK, Kind.RUN)]))
def test_among_those_who_have_shown_what_they_run_the_kind_decides(
    one: Reputation, other: Reputation, kinds: tuple[Kind, Kind]
) -> None:
    one, other = replace(one, short_runs=1 + one.short_runs), replace(other, short_runs=1 + other.short_runs)
    assert rank(kinds[0], one).priority > rank(kinds[1], other).priority


@EASY
@given(reputations(), reputations(), st.sampled_from(WAITED_FOR))
def test_an_idle_run_comes_after_every_other_job_and_takes_no_kept_slot(
    one: Reputation, other: Reputation, kind: Kind
) -> None:
    idle = rank(Kind.IDLE, one)
    assert idle.priority < rank(kind, other).priority
    assert not idle.proven


@EASY
@given(reputations(), reputations(), st.sampled_from((*WAITED_FOR, Kind.IDLE)))
def test_a_regrade_comes_after_every_other_job_and_takes_no_kept_slot(
    one: Reputation, other: Reputation, kind: Kind
) -> None:
    regrade = rank(Kind.REGRADE, one)
    assert regrade.priority < rank(kind, other).priority
    assert not regrade.proven


@EASY
@given(reputations(), st.sampled_from(WAITED_FOR), st.integers(1, 50), st.floats(0.0, 500.0))
def test_having_more_never_makes_a_job_run_earlier(
    reputation: Reputation, kind: Kind, pending: int, seconds: float
) -> None:
    learner, address = reputation.learner, reputation.address
    more = Load(learner.pending + pending, learner.used_seconds + seconds, learner.long_seconds + seconds)
    heavier = replace(reputation, learner=more)
    busier = replace(reputation, address=replace(address, pending=address.pending + pending))
    for worse in (heavier, busier):
        assert rank(kind, worse).priority <= rank(kind, reputation).priority
        assert is_proven(reputation) or not is_proven(worse)


@EASY
@given(reputations(), st.sampled_from(WAITED_FOR), st.floats(0.0, 500.0), st.integers(0, 20))
def test_being_known_for_longer_or_for_short_runs_never_makes_a_job_run_later(
    reputation: Reputation, kind: Kind, seconds: float, short_runs: int
) -> None:
    known = replace(
        reputation,
        known_seconds=reputation.known_seconds + seconds,
        short_runs=reputation.short_runs + short_runs,
    )
    assert rank(kind, known).priority >= rank(kind, reputation).priority
    assert is_proven(known) or not is_proven(reputation)


@EASY
@given(reputations(), reputations(), st.sampled_from(WAITED_FOR))
def test_of_two_who_are_known_the_address_decides_only_where_the_learners_have_the_same(
    one: Reputation, other: Reputation, kind: Kind
) -> None:
    one, other = replace(one, short_runs=1), replace(other, short_runs=1)
    if min(one.learner.jobs, 99) < min(other.learner.jobs, 99):
        assert rank(kind, one).priority > rank(kind, other).priority


@EASY
@given(reputations(), st.sampled_from(WAITED_FOR), reputations(), st.sampled_from(WAITED_FOR))
def test_a_new_cookie_runs_after_whoever_has_ever_run_something_short(
    new: Reputation, kind: Kind, known: Reputation, other_kind: Kind
) -> None:
    new = replace(new, short_runs=0, known_seconds=new.known_seconds % NEW_FOR_SECONDS)
    known = replace(known, short_runs=1 + known.short_runs)
    assert rank(kind, new).priority < rank(other_kind, known).priority
    assert not is_proven(new)


@EASY
@given(reputations(), st.sampled_from(WAITED_FOR))
def test_a_priority_fits_into_the_smallest_integer_of_a_database(reputation: Reputation, kind: Kind) -> None:
    assert 0 <= rank(kind, reputation).priority < 2**31


def test_a_class_behind_one_address_is_no_worse_off_than_a_small_group() -> None:
    crowd = Reputation(known_seconds=600.0, address=AddressLoad(pending=300, used_seconds=200.0, short_runs=400))
    assert is_proven(crowd)
    heavier = Reputation(learner=Load(pending=1), known_seconds=600.0)
    assert rank(Kind.RUN, crowd).priority > rank(Kind.RUN, heavier).priority


def test_many_who_only_waited_are_believed_one_after_the_other_until_short_runs_came_from_their_address() -> None:
    believed = [
        is_proven(Reputation(known_seconds=600.0, address=AddressLoad(trusted=trusted, short_runs=short_runs)))
        for trusted, short_runs in ((0, 0), (1, 0), (1, 1), (50, 20))
    ]
    assert believed == [True, False, True, True]


def test_where_trust_was_abused_having_waited_is_no_proof_and_short_runs_are() -> None:
    abused = AddressLoad(used_seconds=15.0, long_seconds=14.5)
    assert not is_proven(Reputation(known_seconds=600.0, address=abused))
    assert is_proven(Reputation(short_runs=1, address=abused))


def test_a_learner_with_long_runs_lately_gets_no_slot_that_is_kept_for_short_ones() -> None:
    assert not is_proven(Reputation(learner=Load(0, 20.0, 20.0), short_runs=50, known_seconds=600.0))
    assert is_proven(Reputation(learner=Load(0, 20.0, 0.0), short_runs=50, known_seconds=600.0))


@pytest.mark.parametrize(("slots", "unproven"), [(1, 1), (2, 1), (3, 1), (8, 4)])
def test_half_of_the_slots_are_kept_where_there_are_two(slots: int, unproven: int) -> None:
    assert count_unproven_slots(slots) == unproven


@EASY
@given(st.integers(1, 64), st.floats(0.01, 20.0), st.floats(0.01, 20.0), st.integers(0, 999), st.integers(0, 999))
def test_more_ahead_is_never_a_shorter_wait_and_the_unproven_make_nobody_proven_wait(
    slots: int, proven_seconds: float, unproven_seconds: float, proven: int, unproven: int
) -> None:
    pace = Pace(slots, proven_seconds, unproven_seconds)
    one_more = (Ahead(proven + 1, unproven), Ahead(proven, unproven + 1))
    for sort in (True, False):
        waits = [estimate_wait(ahead, pace, proven=sort) for ahead in (Ahead(proven, unproven), *one_more)]
        assert 0.0 <= waits[0] <= min(waits[1:])
    if slots > 1:
        flood = estimate_wait(Ahead(proven, unproven), pace, proven=True)
        assert flood == estimate_wait(Ahead(proven, 0), pace, proven=True)


def test_an_estimate_counts_only_the_slots_that_a_job_may_have() -> None:
    pace = Pace(slots=8, proven_seconds=1.0, unproven_seconds=10.0, proven_running=4, unproven_running=4)
    assert estimate_seconds(Ahead(8, 100), pace, proven=True) == pytest.approx(8.5 / 4 + 1.0, abs=0.01)
    assert estimate_seconds(Ahead(0, 4), pace, proven=False) == pytest.approx(0.5 / 4 + 4.5 * 10 / 4 + 10, abs=0.01)
