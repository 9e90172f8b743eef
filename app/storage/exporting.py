"""Everything that is stored about one learner and their account, readable, without what would let others in."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, select

from app.storage.statements import moment
from app.storage.tables import accounts, audit, comments, learners, metadata
from graders.contract.model import LearnerId

SECRETS = frozenset({"secret", "token_hash", "address_hash", "state_hash", "browser_hash", "nonce", "verifier"})
OF_OTHERS = frozenset({"closed_by", "made_by"})
"""Columns that name another person in a row about this one."""
LEFT_OUT = {
    "sections": "its title is nobody's own; a membership names it",
    "assignments": "what a section's learners are to do; an allowance or an override names it",
    "drill_graphs": "drawn by the site for everybody; `drill_asks` says which of them a learner was asked",
    "regrades": "why an exercise was judged again; `regrade_items` says which submissions of a learner were",
    "platform_columns": "what a platform calls an assignment",
    "lti_registrations": "learning platforms; an identity names one",
    "lti_deployments": "installations at a platform",
    "lti_keys": "the site's own keys",
    "lti_logins": "launches that a platform has not confirmed yet, kept for ten minutes",
    "lti_tickets": "launches on their way to their page, kept for minutes",
    "lti_contexts": "courses at a platform; `lti_members` says from which of them a person came",
    "lti_lineitems": "where an assignment's grades go in a course",
    "viewings": "who sees the course as whom now, for half an hour; the audit keeps who did",
    "act_counts": "keyed hashes, kept for two windows of their limit",
    "sign_in_failures": "keyed hashes, which cannot be traced to an account",
}
"""Table -> why it has no row about one person."""


def export(connection: Connection, learner: LearnerId) -> dict[str, list[dict[str, Any]]]:
    """Every row about a learner, by table; times as ISO 8601."""
    rows = connection.execute(select(accounts.c.id).where(accounts.c.learner == learner)).all()
    account = rows[0].id if rows else ""
    exported = {}
    for table in metadata.sorted_tables:
        if table.name in LEFT_OUT:
            continue
        columns = [column for column in table.c if column.name not in SECRETS | OF_OTHERS]
        query = select(*columns).where(_is_about(table, learner, account))
        exported[table.name] = [_readable(dict(row)) for row in connection.execute(query).mappings()]
    return exported


def _is_about(table: Table, learner: LearnerId, account: str) -> ColumnElement[bool]:
    if table is learners:
        return table.c.id == learner
    if table is audit:
        return (table.c.actor == account) | (table.c.object == account)
    if table is comments:
        return (table.c.learner == learner) | (table.c.made_by == account)
    if "learner" in table.c:
        mine: ColumnElement[bool] = table.c.learner == learner
        return mine
    theirs: ColumnElement[bool] = table.c.account == account
    return theirs


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: moment(value).isoformat() if (name == "at" or name.endswith("_at")) and value is not None else value
        for name, value in row.items()
    }
