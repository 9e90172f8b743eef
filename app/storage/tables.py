"""The website's tables: learners and their work, accounts, sections. Submissions are in the ledger's tables.

A learner is a random id; only the row of an account says who they are. Times are seconds since 1970, UTC.
Deleting a learner deletes all their rows, with their account if they have one (the foreign keys cascade).
"""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text, false

from graders.ledger.tables import NAMING_CONVENTION

metadata = MetaData(naming_convention=NAMING_CONVENTION)


def _learner(*, primary_key: bool = False) -> "Column[str]":
    return Column(
        "learner",
        String(64),
        ForeignKey("learners.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


def _account(name: str, *, primary_key: bool = False, nullable: bool = False) -> "Column[str]":
    key = ForeignKey("accounts.id", ondelete="CASCADE")
    return Column(name, String(32), key, primary_key=primary_key, nullable=nullable)


# `zone` is the IANA name of the time zone in which the learner's days are counted; NULL is UTC. `cards_version` says
# by which rules the learner's review cards were made; another version or NULL: make them again.
learners = Table(
    "learners",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created_at", Double, nullable=False),
    Column("zone", String(64)),
    Column("cards_version", Integer),
)

# One learner each. A NULL `name_key` cannot sign in by name and password, so its name may be somebody else's too.
# `terms_digest` names the operator's text that the person agreed to; `closed_at` ends every way to sign in.
accounts = Table(
    "accounts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("learner", String(64), ForeignKey("learners.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("name", String(80), nullable=False),
    Column("name_key", String(80), unique=True),
    Column("is_operator", Boolean, nullable=False, server_default=false()),
    Column("terms_digest", String(12)),
    Column("made_at", Double, nullable=False),
    Column("closed_at", Double),
)

# A learner's session in one browser: the hash of a random token in its cookie. Deleting the row revokes it. `account`
# is NULL until somebody signs in; `unclaimed` is then the learner whose work this browser had, until they say whose
# it is.
sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    _learner(),
    Column("made_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    _account("account", nullable=True),
    Column("authenticated_at", Double),
    Column("method", String(80)),
    Column("user_agent", String(120)),
    Column("unclaimed", String(64), ForeignKey("learners.id", ondelete="SET NULL")),
)
Index("ix_sessions_learner", sessions.c.learner)
Index("ix_sessions_account", sessions.c.account)
Index("ix_sessions_unclaimed", sessions.c.unclaimed)

# Committed before the truth is shown: nothing updates `option` or `confidence`. A NULL option is "I don't know".
predictions = Table(
    "predictions",
    metadata,
    _learner(primary_key=True),
    Column("chapter", String(80), primary_key=True),
    Column("predict", String(80), primary_key=True),
    Column("option", String(80)),
    Column("confidence", String(16)),
    Column("committed_at", Double, nullable=False),
    Column("resolved_at", Double),
    Column("content_hash", String(16)),
    Column("rating", Integer),
)

# Every attempt is a row. `response` is JSON as the form sent it. An open answer's `ticked` rubric points arrive
# later, and `correct` is NULL until then. `rating` is FSRS's (1 again, 2 hard, 3 good), as in predictions: what it
# says about memory. Answers `in_review` were given on the review page, and may answer a prediction once more.
answers = Table(
    "answers",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    _learner(),
    Column("chapter", String(80), nullable=False),
    Column("question", String(80), nullable=False),
    Column("response", Text, nullable=False),
    Column("correct", Boolean),
    Column("ticked", String(200)),
    Column("answered_at", Double, nullable=False),
    Column("content_hash", String(16)),
    Column("confidence", String(16)),
    Column("rating", Integer),
    Column("in_review", Boolean, nullable=False, server_default=false()),
    sqlite_autoincrement=True,
)
Index("ix_answers_learner_chapter", answers.c.learner, answers.c.chapter, answers.c.number)

drafts = Table(
    "drafts",
    metadata,
    _learner(primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("text", Text, nullable=False),
    Column("saved_at", Double, nullable=False),
)

# The ledger keeps a cell's run for an hour; this table keeps the fact that it happened.
cell_runs = Table(
    "cell_runs",
    metadata,
    Column("id", String(32), primary_key=True),
    _learner(),
    Column("chapter", String(80), nullable=False),
    Column("cell", String(80), nullable=False),
    Column("started_at", Double, nullable=False),
)
Index("ix_cell_runs_learner_chapter", cell_runs.c.learner, cell_runs.c.chapter, cell_runs.c.cell)

readings = Table(
    "readings",
    metadata,
    _learner(primary_key=True),
    Column("chapter", String(80), primary_key=True),
    Column("anchor", String(200), nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("finished_at", Double),
)

# When a question comes back. Derived: `review_cards.py` makes these rows again from predictions and answers. Days are
# ISO dates, the learner's own; the other columns are the fields of app.learning.review.Memory.
review_cards = Table(
    "review_cards",
    metadata,
    _learner(primary_key=True),
    Column("chapter", String(80), primary_key=True),
    Column("question", String(80), primary_key=True),
    Column("due_on", String(10), nullable=False),
    Column("last_on", String(10), nullable=False),
    Column("last_rating", Integer, nullable=False),
    Column("last_in_review", Boolean, nullable=False),
    Column("stability", Double, nullable=False),
    Column("difficulty", Double, nullable=False),
    Column("interval_days", Integer, nullable=False),
    Column("previous_days", Integer, nullable=False),
    Column("reps", Integer, nullable=False),
    Column("lapses", Integer, nullable=False),
    Column("right_days", Integer, nullable=False),
)
Index("ix_review_cards_learner_due", review_cards.c.learner, review_cards.c.due_on)

# The secret address of a learner's days of review, for a calendar program. The database has its hash.
calendars = Table(
    "calendars",
    metadata,
    _learner(primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("made_at", Double, nullable=False),
)

hints = Table(
    "hints",
    metadata,
    _learner(primary_key=True),
    Column("exercise", String(80), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("opened_at", Double, nullable=False),
)

credentials = Table(
    "credentials",
    metadata,
    _account("account", primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("secret", String(200), nullable=False),
    Column("changed_at", Double, nullable=False),
)

# A person at another site who signs in as this account. Never found by an e-mail address.
identities = Table(
    "identities",
    metadata,
    Column("kind", String(8), primary_key=True),
    Column("issuer", String(255), primary_key=True),
    Column("subject", String(255), primary_key=True),
    _account("account"),
    Column("display", String(120), nullable=False),
    Column("linked_at", Double, nullable=False),
    Column("used_at", Double, nullable=False),
)
Index("ix_identities_account", identities.c.account)

# A link that sets a new password, once. The database has its hash; its maker saw it once.
one_time_links = Table(
    "one_time_links",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    _account("account"),
    Column("made_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
)
Index("ix_one_time_links_account", one_time_links.c.account)

# A sign-in that another site is to confirm. `account` is set where one is to be linked; `target`: where to go after.
sign_in_attempts = Table(
    "sign_in_attempts",
    metadata,
    Column("state_hash", String(64), primary_key=True),
    Column("provider", String(40), nullable=False),
    Column("browser_hash", String(64), nullable=False),
    Column("nonce", String(64), nullable=False),
    Column("verifier", String(128), nullable=False),
    Column("target", String(400), nullable=False),
    _account("account", nullable=True),
    Column("expires_at", Double, nullable=False),
)

# `key` is a keyed hash of a name or of an address.
sign_in_failures = Table(
    "sign_in_failures",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("key", String(32), nullable=False),
    Column("at", Double, nullable=False),
    sqlite_autoincrement=True,
)
Index("ix_sign_in_failures_key_at", sign_in_failures.c.key, sign_in_failures.c.at)

sections = Table(
    "sections",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("title", String(120), nullable=False),
    Column("made_at", Double, nullable=False),
)

INVITED, ACTIVE = "invited", "active"

# `status` is "invited" until the person accepts: nobody gets rights over an account by adding it.
memberships = Table(
    "memberships",
    metadata,
    Column("section", String(32), ForeignKey("sections.id", ondelete="CASCADE"), primary_key=True),
    _account("account", primary_key=True),
    Column("role", String(16), nullable=False),
    Column("status", String(8), nullable=False),
    Column("added_at", Double, nullable=False),
)
Index("ix_memberships_account", memberships.c.account)

# Only ever added to, until a line is as old as the settings say. Ids and not foreign keys, because a line outlives
# what it is about. Never code, never a secret.
audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", Double, nullable=False),
    Column("actor", String(32)),
    Column("section", String(32)),
    Column("verb", String(40), nullable=False),
    Column("object", String(80), nullable=False),
    Column("before", Text),
    Column("after", Text),
    Column("address_hash", String(16)),
    sqlite_autoincrement=True,
)
Index("ix_audit_section_number", audit.c.section, audit.c.number)
Index("ix_audit_object_number", audit.c.object, audit.c.number)

# What a reader finds wrong in the course. `page` and `block` name the place, and `content_hash` the wording that was
# read there; a NULL `closed_at` means open. `note` says what was changed; a report outlives whoever closed it.
reports = Table(
    "reports",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    _learner(),
    Column("page", String(120), nullable=False),
    Column("block", String(200), nullable=False),
    Column("content_hash", String(16), nullable=False),
    Column("course_version", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("reported_at", Double, nullable=False),
    Column("closed_at", Double),
    Column("closed_by", String(32), ForeignKey("accounts.id", ondelete="SET NULL")),
    Column("note", Text),
    sqlite_autoincrement=True,
)
Index("ix_reports_learner", reports.c.learner)
Index("ix_reports_closed_by", reports.c.closed_by)

# A reader's own notes. An empty text is a bookmark. `content_hash`: of the place as it read when it was saved.
notes = Table(
    "notes",
    metadata,
    _learner(primary_key=True),
    Column("page", String(120), primary_key=True),
    Column("block", String(200), primary_key=True),
    Column("text", Text, nullable=False),
    Column("content_hash", String(16), nullable=False),
    Column("saved_at", Double, nullable=False),
)

# The stock of drawn graphs. `values` is JSON: the program, the answer and what misconceptions answer; `trace` is the
# recorded run. `digest` names the generator. A row belongs to nobody.
drill_graphs = Table(
    "drill_graphs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("drill", String(80), nullable=False),
    Column("digest", String(16), nullable=False),
    Column("level", Integer, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("values", Text, nullable=False),
    Column("trace", Text, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("torch", String(40), nullable=False),
    Column("made_at", Double, nullable=False),
)
Index("ix_drill_graphs_drill_level", drill_graphs.c.drill, drill_graphs.c.level, drill_graphs.c.made_at)

# Who was asked which graph: nobody is asked one twice. The answer itself is in `answers`.
drill_asks = Table(
    "drill_asks",
    metadata,
    _learner(primary_key=True),
    Column("graph", String(32), ForeignKey("drill_graphs.id", ondelete="CASCADE"), primary_key=True),
    Column("asked_at", Double, nullable=False),
    Column("answered_at", Double),
)
Index("ix_drill_asks_graph", drill_asks.c.graph)
