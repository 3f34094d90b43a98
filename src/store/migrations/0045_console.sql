-- What a team's key permits; without meaning for keys of operators, which have `scope`.
ALTER TABLE keys ADD COLUMN team_scope TEXT NOT NULL DEFAULT 'api' CHECK (team_scope IN ('api', 'console', 'all'));

-- Sessions of people who have signed in with a key. All times are of the clock of the machine, not of the market. The rows
-- are no part of the state of a market: copies of it begin without them.
CREATE TABLE sessions (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    digest       BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32), -- SHA-256 of the 32 random bytes of the token
    key          INTEGER NOT NULL REFERENCES keys (id), -- rotation of the key replaces it
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    preferences  TEXT    NOT NULL -- JSON
) STRICT;
CREATE INDEX sessions_by_key ON sessions (key, created_at);

-- The session in which a change was made; null if it was made by a request with a key, or by a command. The key may now be
-- that of a team.
ALTER TABLE audit ADD COLUMN session BLOB CHECK (length(session) = 16);
