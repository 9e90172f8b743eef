"""Who somebody is: learners, accounts, their sessions, and the ways to sign in."""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, String, Table, false

from app.storage.tables.keys import account_key, learner_key, metadata

# `zone` is the IANA name of the time zone in which the learner's days are counted; NULL is UTC. `cards_version` says
# by which rules the learner's review cards were made; another version or NULL: make them again. A learner who
# `is_nameless` has the outcomes of an erased account; nothing leads to them, and the sweep leaves them.
learners = Table(
    "learners",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created_at", Double, nullable=False),
    Column("zone", String(64)),
    Column("cards_version", Integer),
    Column("is_nameless", Boolean, nullable=False, server_default=false()),
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
    learner_key(),
    Column("made_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    account_key(nullable=True),
    Column("authenticated_at", Double),
    Column("method", String(80)),
    Column("user_agent", String(120)),
    Column("unclaimed", String(64), ForeignKey("learners.id", ondelete="SET NULL")),
)
Index("ix_sessions_learner", sessions.c.learner)
Index("ix_sessions_account", sessions.c.account)
Index("ix_sessions_unclaimed", sessions.c.unclaimed)

credentials = Table(
    "credentials",
    metadata,
    account_key(primary_key=True),
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
    account_key(),
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
    account_key(),
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
    account_key(nullable=True),
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
