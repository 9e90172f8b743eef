"""Deleting learners with everything of theirs, and the nightly end of what is kept only for a while."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select

from app.storage.lti_launches import end_launches
from app.storage.records import AccountId
from app.storage.statements import change, fetch
from app.storage.tables import (
    accounts,
    act_counts,
    audit,
    learners,
    one_time_links,
    sessions,
    sign_in_attempts,
    sign_in_failures,
    viewings,
)
from app.storage.threads import forget_posts
from graders.contract.model import LearnerId
from graders.ledger.finish import forget as forget_submissions

SWEPT_AT_ONCE = 50
"""Learners deleted per transaction: few, so that other writers do not wait long."""
A_DAY = timedelta(days=1)


def forget(connection: Connection, learner: LearnerId) -> None:
    """Delete the learner with all their rows, including submissions, sessions and their account."""
    forget_submissions(connection, learner)
    for row in fetch(connection, select(accounts.c.id).where(accounts.c.learner == learner)):
        forget_posts(connection, AccountId(row.id))
    connection.execute(delete(learners).where(learners.c.id == learner))


def end_audit(connection: Connection, before: datetime) -> int:
    """Delete the lines of the audit that are older; returns how many. Nothing else ever takes a line away."""
    return change(connection, delete(audit).where(audit.c.at < before.timestamp()))


def sweep(connection: Connection, now: datetime) -> int:
    """Delete what has expired, and some of the learners whom nothing leads to any more; returns how many learners."""
    at, a_day_ago = now.timestamp(), (now - A_DAY).timestamp()
    connection.execute(delete(sessions).where(sessions.c.expires_at <= at))
    connection.execute(delete(one_time_links).where(one_time_links.c.expires_at <= at))
    connection.execute(delete(sign_in_attempts).where(sign_in_attempts.c.expires_at <= at))
    connection.execute(delete(sign_in_failures).where(sign_in_failures.c.at <= a_day_ago))
    end_launches(connection, at)
    connection.execute(delete(viewings).where(viewings.c.expires_at <= at))
    connection.execute(delete(act_counts).where(act_counts.c.expires_at <= at))
    # A learner's row is a moment older than their first session, so rows younger than a day are spared.
    lost = (
        learners.c.id.not_in(select(sessions.c.learner))
        & learners.c.id.not_in(select(accounts.c.learner))
        & learners.c.id.not_in(select(sessions.c.unclaimed).where(sessions.c.unclaimed.is_not(None)))
        & (learners.c.created_at < a_day_ago)
        & learners.c.is_nameless.is_(False)
    )
    found = [LearnerId(row.id) for row in fetch(connection, select(learners.c.id).where(lost).limit(SWEPT_AT_ONCE))]
    for learner in found:
        forget(connection, learner)
    return len(found)
