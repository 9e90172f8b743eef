"""The website's tables: learners and their work, accounts, sections and what they assign.

Submissions are in the ledger's tables. A learner is a random id; only the row of an account says who they are. Times
are seconds since 1970, UTC. Deleting a learner deletes all their rows, with their account if they have one (the
foreign keys cascade). Import tables from here, so that `metadata` has all of them.
"""

from app.storage.tables.classes import (
    ACTIVE,
    DROPPED,
    INVITED,
    LEFT,
    allowances,
    assignments,
    audit,
    memberships,
    overrides,
    roster,
    sections,
)
from app.storage.tables.comments import comments
from app.storage.tables.counts import act_counts
from app.storage.tables.grades import platform_columns, regrade_items, regrades
from app.storage.tables.keys import metadata
from app.storage.tables.people import (
    accounts,
    credentials,
    identities,
    learners,
    one_time_links,
    sessions,
    sign_in_attempts,
    sign_in_failures,
)
from app.storage.tables.platforms import (
    lti_contexts,
    lti_deployments,
    lti_keys,
    lti_lineitems,
    lti_logins,
    lti_members,
    lti_registrations,
    lti_scores,
    lti_tickets,
)
from app.storage.tables.threads import posts, thread_reads, threads
from app.storage.tables.viewings import viewings
from app.storage.tables.work import (
    answers,
    calendars,
    cell_runs,
    drafts,
    drill_asks,
    drill_graphs,
    hints,
    notes,
    predictions,
    readings,
    reports,
    review_cards,
)

__all__ = [
    "ACTIVE",
    "DROPPED",
    "INVITED",
    "LEFT",
    "accounts",
    "act_counts",
    "allowances",
    "answers",
    "assignments",
    "audit",
    "calendars",
    "cell_runs",
    "comments",
    "credentials",
    "drafts",
    "drill_asks",
    "drill_graphs",
    "hints",
    "identities",
    "learners",
    "lti_contexts",
    "lti_deployments",
    "lti_keys",
    "lti_lineitems",
    "lti_logins",
    "lti_members",
    "lti_registrations",
    "lti_scores",
    "lti_tickets",
    "memberships",
    "metadata",
    "notes",
    "one_time_links",
    "overrides",
    "platform_columns",
    "posts",
    "predictions",
    "readings",
    "regrade_items",
    "regrades",
    "reports",
    "review_cards",
    "roster",
    "sections",
    "sessions",
    "sign_in_attempts",
    "sign_in_failures",
    "thread_reads",
    "threads",
    "viewings",
]
