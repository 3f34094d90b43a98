CREATE TABLE notifications (
    id                  INTEGER PRIMARY KEY,
    uuid                BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team                INTEGER NOT NULL REFERENCES teams (id),
    type                TEXT    NOT NULL,
    title               TEXT    NOT NULL,
    message             TEXT    NOT NULL,
    is_read             INTEGER NOT NULL CHECK (is_read IN (0, 1)),
    link                TEXT,
    opportunity         INTEGER REFERENCES opportunities (id),
    project_opportunity INTEGER REFERENCES opportunities (id),
    project_bid         INTEGER REFERENCES project_bids (id),
    task                INTEGER REFERENCES tasks (id),
    created_at          INTEGER NOT NULL
) STRICT;
CREATE INDEX notifications_by_team ON notifications (team, created_at);
CREATE INDEX notifications_unread ON notifications (team) WHERE NOT is_read;
