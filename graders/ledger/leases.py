"""Whether a worker still holds what it claimed: one rule for reconcilers and for workers that claim."""

from sqlalchemy import ColumnElement, or_

from graders.ledger.clock import steady_seconds
from graders.ledger.records import Policy
from graders.ledger.tables import submissions

SLACK_SECONDS = 1.0


def end_of_lease(policy: Policy) -> ColumnElement[float]:
    """The end, by the steady clock, of a lease that is given now."""
    return steady_seconds() + policy.lease_seconds


def has_run_out(policy: Policy) -> ColumnElement[bool]:
    """The condition that a row's worker has been silent for too long.

    The steady clock starts again at each boot. A lease that ends later than a lease given now comes from an earlier
    boot, so its worker is gone.
    """
    lease, longest = submissions.c.lease_until, max(policy.lease_seconds, 0.0) + SLACK_SECONDS
    return or_(lease < steady_seconds(), lease > steady_seconds() + longest)
