"""What learners leave: predictions, answers, drafts, notes, reports, and what is derived from them."""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, String, Table, Text, false

from app.storage.tables.keys import learner_key, metadata

# Committed before the truth is shown: nothing updates `option` or `confidence`. A NULL option is "I don't know".
predictions = Table(
    "predictions",
    metadata,
    learner_key(primary_key=True),
    Column("chapter", String(80), primary_key=True),
    Column("predict", String(80), primary_key=True),
    Column("option", String(80)),
    Column("confidence", String(16)),
    Column("committed_at", Double, nullable=False),
    Column("resolved_at", Double),
    Column("content_hash", String(16)),
    Column("course_version", String(16)),
    Column("rating", Integer),
)

# Every attempt is a row. `response` is JSON as the form sent it. An open answer's `ticked` rubric points arrive
# later, and `correct` is NULL until then. `rating` is FSRS's (1 again, 2 hard, 3 good), as in predictions: what it
# says about memory. Answers `in_review` were given on the review page, and may answer a prediction once more.
answers = Table(
    "answers",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    learner_key(),
    Column("chapter", String(80), nullable=False),
    Column("question", String(80), nullable=False),
    Column("response", Text, nullable=False),
    Column("correct", Boolean),
    Column("ticked", String(200)),
    Column("answered_at", Double, nullable=False),
    Column("content_hash", String(16)),
    Column("course_version", String(16)),
    Column("confidence", String(16)),
    Column("rating", Integer),
    Column("in_review", Boolean, nullable=False, server_default=false()),
    sqlite_autoincrement=True,
)
Index("ix_answers_learner_chapter", answers.c.learner, answers.c.chapter, answers.c.number)

drafts = Table(
    "drafts",
    metadata,
    learner_key(primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("text", Text, nullable=False),
    Column("saved_at", Double, nullable=False),
)

# The ledger keeps a cell's run for an hour; this table keeps the fact that it happened.
cell_runs = Table(
    "cell_runs",
    metadata,
    Column("id", String(32), primary_key=True),
    learner_key(),
    Column("chapter", String(80), nullable=False),
    Column("cell", String(80), nullable=False),
    Column("started_at", Double, nullable=False),
)
Index("ix_cell_runs_learner_chapter", cell_runs.c.learner, cell_runs.c.chapter, cell_runs.c.cell)

readings = Table(
    "readings",
    metadata,
    learner_key(primary_key=True),
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
    learner_key(primary_key=True),
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
    learner_key(primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("made_at", Double, nullable=False),
)

hints = Table(
    "hints",
    metadata,
    learner_key(primary_key=True),
    Column("exercise", String(80), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("opened_at", Double, nullable=False),
)

# What a reader finds wrong in the course. `page` and `block` name the place, and `content_hash` the wording that was
# read there; a NULL `closed_at` means open. `note` says what was changed; a report outlives whoever closed it.
reports = Table(
    "reports",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    learner_key(),
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
    learner_key(primary_key=True),
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
    learner_key(primary_key=True),
    Column("graph", String(32), ForeignKey("drill_graphs.id", ondelete="CASCADE"), primary_key=True),
    Column("asked_at", Double, nullable=False),
    Column("answered_at", Double),
)
Index("ix_drill_asks_graph", drill_asks.c.graph)
