-- What the operator API needs: the request that caused an event, what an operator key may do, and who changed what.
ALTER TABLE events ADD COLUMN request_id TEXT;

ALTER TABLE keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'all' CHECK (scope IN ('all', 'read'));

CREATE TABLE audit (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    occurred_at  INTEGER NOT NULL,
    key          INTEGER REFERENCES keys (id), -- the operator key; null for a command on this machine
    operation    TEXT    NOT NULL,             -- its ID in the document of the operator API
    subject_kind TEXT    NOT NULL,
    subject_id   TEXT    NOT NULL,             -- ID or slug
    team         INTEGER REFERENCES teams (id), -- the team acted for; null if none
    request_id   TEXT
) STRICT;
CREATE INDEX audit_by_team ON audit (team, id);
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

-- Drafts and published opportunities of a team are counted when it creates one.
CREATE INDEX opportunities_unfinished ON opportunities (owner) WHERE status IN ('draft', 'published');
