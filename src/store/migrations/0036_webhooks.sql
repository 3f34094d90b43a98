-- Endpoints to which events are sent.
CREATE TABLE webhooks (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, since deliveries of a deleted one stay for a while
    uuid                    BLOB    NOT NULL UNIQUE,
    team                    INTEGER REFERENCES teams (id), -- whose events it gets; null for the events of all, which operators get
    url                     TEXT    NOT NULL,
    description             TEXT    NOT NULL,
    event_types             TEXT    NOT NULL CHECK (json_valid(event_types)), -- array of types; empty for all
    secret                  BLOB    NOT NULL, -- signs; empty if deleted
    previous_secret         BLOB,             -- signs, too, until it ends
    previous_secret_ends_at INTEGER,
    id_secret               BLOB    NOT NULL, -- the IDs of messages are derived from it
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    enabled_at              INTEGER NOT NULL,
    last_success_at         INTEGER,
    disabled_at             INTEGER,
    disabled_reason         TEXT,
    deleted_at              INTEGER,
    CHECK ((previous_secret IS NULL) = (previous_secret_ends_at IS NULL)),
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
) STRICT;
CREATE INDEX webhooks_by_team ON webhooks (team, id) WHERE deleted_at IS NULL;
CREATE INDEX active_webhooks ON webhooks (team, id) WHERE deleted_at IS NULL AND disabled_at IS NULL;

-- An event for an endpoint. The body is stored, since it is the same at each attempt, and events may be deleted earlier.
CREATE TABLE webhook_deliveries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid            BLOB    NOT NULL UNIQUE, -- also the ID of the message
    webhook         INTEGER NOT NULL REFERENCES webhooks (id),
    event_type      TEXT    NOT NULL,
    body            TEXT    NOT NULL,
    status          TEXT    NOT NULL DEFAULT 'pending',
    created_at      INTEGER NOT NULL,
    next_attempt_at INTEGER, -- null unless pending
    attempts        INTEGER NOT NULL DEFAULT 0, -- all of them
    failures        INTEGER NOT NULL DEFAULT 0, -- those since it was delivered the last time
    ended_at        INTEGER, -- null if pending
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
    CHECK ((status = 'pending') = (ended_at IS NULL))
) STRICT;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook, id);
CREATE INDEX pending_webhook_deliveries ON webhook_deliveries (webhook, next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX failed_webhook_deliveries ON webhook_deliveries (id) WHERE status = 'failed';
CREATE INDEX ended_webhook_deliveries ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;

-- The attempts to deliver, and what the endpoint responded.
CREATE TABLE webhook_attempts (
    delivery     INTEGER NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    number       INTEGER NOT NULL,
    attempted_at INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    status       INTEGER,          -- of the response
    error        TEXT,             -- why there is no response
    response     TEXT    NOT NULL, -- the beginning of its body
    PRIMARY KEY (delivery, number),
    CHECK ((status IS NULL) = (error IS NOT NULL))
) STRICT, WITHOUT ROWID;
