-- Teams and their keys. In all tables, `uuid` is the 16 bytes of the ID that the API shows, `_at` columns are in
-- microseconds since 1970, and `_cents` columns are in US cents.

CREATE TABLE teams (
    id              INTEGER PRIMARY KEY,
    uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    name            TEXT    NOT NULL,
    is_vendor       INTEGER NOT NULL CHECK (is_vendor IN (0, 1)),
    is_buyer        INTEGER NOT NULL CHECK (is_buyer IN (0, 1)),
    tier            INTEGER NOT NULL CHECK (tier BETWEEN 1 AND 3),
    nda_accepted_at INTEGER,
    avatar_url      TEXT,
    created_at      INTEGER NOT NULL
) STRICT;

-- API keys. Only the SHA-256 digest of a key is stored.
CREATE TABLE keys (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team         INTEGER NOT NULL REFERENCES teams (id),
    name         TEXT    NOT NULL,
    digest       BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
    is_fixture   INTEGER NOT NULL CHECK (is_fixture IN (0, 1)),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE INDEX keys_by_team ON keys (team);

-- Groups of assets. Each team has exactly one default group, created with the team.
CREATE TABLE groups (
    id         INTEGER PRIMARY KEY,
    uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team       INTEGER NOT NULL REFERENCES teams (id),
    name       TEXT    NOT NULL,
    name_key   TEXT    NOT NULL, -- the name in lower case, as Unicode has it
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (team, name_key)
) STRICT;
CREATE UNIQUE INDEX groups_default ON groups (team) WHERE is_default;

-- Secrets of this market, for instance the key that signs cursors.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;

-- Seeded fixture sets, by the digest of their files.
CREATE TABLE seeds (
    digest    BLOB PRIMARY KEY CHECK (length(digest) = 32),
    name      TEXT    NOT NULL,
    seeded_at INTEGER NOT NULL
) STRICT;
