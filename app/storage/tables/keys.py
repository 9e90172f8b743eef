"""The website's metadata, and the columns by which its tables belong to a learner, an account or a section."""

from sqlalchemy import Column, ForeignKey, MetaData, String

from graders.ledger.tables import NAMING_CONVENTION

metadata = MetaData(naming_convention=NAMING_CONVENTION)


def learner_key(*, primary_key: bool = False) -> "Column[str]":
    return _key("learner", "learners", 64, primary_key=primary_key)


def account_key(*, primary_key: bool = False, nullable: bool = False) -> "Column[str]":
    return _key("account", "accounts", 32, primary_key=primary_key, nullable=nullable)


def section_key(*, primary_key: bool = False) -> "Column[str]":
    return _key("section", "sections", 32, primary_key=primary_key)


def assignment_key(*, primary_key: bool = False) -> "Column[str]":
    return _key("assignment", "assignments", 32, primary_key=primary_key)


def _key(name: str, table: str, length: int, *, primary_key: bool = False, nullable: bool = False) -> "Column[str]":
    key = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(name, String(length), key, primary_key=primary_key, nullable=nullable)
