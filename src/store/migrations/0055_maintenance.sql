-- What the operator announces on all pages of the web app: at most one row.
CREATE TABLE announcement (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    text       TEXT    NOT NULL CHECK (length(text) > 0),
    level      TEXT    NOT NULL,
    starts_at  INTEGER, -- null if it is shown at once
    ends_at    INTEGER CHECK (ends_at > starts_at), -- null if it is shown until it is deleted
    changed_at INTEGER NOT NULL
) STRICT;

-- Maintenance, during which teams change nothing: one row while an operator has switched it on, and none otherwise.
CREATE TABLE maintenance (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    text       TEXT    NOT NULL CHECK (length(text) > 0),
    started_at INTEGER NOT NULL
) STRICT;
