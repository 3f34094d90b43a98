-- Upload grants. The holder of a grant's token can upload one zip archive for a team, which becomes a codebase.
CREATE TABLE upload_grants (
    id          INTEGER PRIMARY KEY,
    digest      BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32), -- SHA-256 of the token, which is not kept
    team        INTEGER NOT NULL REFERENCES teams (id),
    title       TEXT    NOT NULL,
    exclusivity TEXT    NOT NULL,
    group_id    INTEGER REFERENCES groups (id) ON DELETE SET NULL,
    max_bytes   INTEGER NOT NULL CHECK (max_bytes > 0),
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    revoked_at  INTEGER,
    consumed_at INTEGER,
    -- the upload under way, if there is one
    upload      BLOB CHECK (length(upload) = 16),
    reference   TEXT, -- what the store calls it
    file_name   TEXT,
    size_bytes  INTEGER CHECK (size_bytes > 0),
    sha256      TEXT CHECK (length(sha256) = 64),
    CHECK ((upload IS NULL) = (size_bytes IS NULL) AND (upload IS NULL) = (file_name IS NULL))
) STRICT;
CREATE INDEX upload_grants_by_team ON upload_grants (team, id);
CREATE UNIQUE INDEX upload_grants_by_upload ON upload_grants (upload) WHERE upload IS NOT NULL;
