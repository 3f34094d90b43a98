-- Jobs that were given up or canceled, so that operators see them and can retry them. Other jobs that end are deleted.
CREATE TABLE ended_jobs (
    id          INTEGER PRIMARY KEY, -- that of the job
    kind        TEXT    NOT NULL,
    subject     INTEGER NOT NULL,
    team        INTEGER NOT NULL, -- 0 for the platform's own work
    state       TEXT    NOT NULL CHECK (state IN ('failed', 'cancelled')),
    attempts    INTEGER NOT NULL,
    enqueued_at INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX ended_jobs_by_time ON ended_jobs (ended_at);

-- Files with traces that operators are uploading. The row is deleted when the upload is completed or has expired.
CREATE TABLE trace_uploads (
    id         INTEGER PRIMARY KEY,
    uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16), -- of the upload
    taskset    INTEGER NOT NULL REFERENCES tasksets (id),
    reference  TEXT, -- what the store calls it
    file_name  TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0),
    sha256     TEXT CHECK (length(sha256) = 64),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX trace_uploads_by_expiry ON trace_uploads (expires_at);

-- Filters of lists that would scan large tables.
CREATE INDEX tasksets_by_team ON tasksets (team);
CREATE INDEX tasks_of_taskset ON tasks (taskset);
CREATE INDEX project_bids_by_status ON project_bids (status);

-- Numbers of records by their state, which triggers maintain, so that showing them does not scan the records.
CREATE TABLE record_counts (
    kind  TEXT    NOT NULL, -- 'team', 'listing', 'purchase'
    state TEXT    NOT NULL, -- of a listing: its review status and its status in the catalog
    count INTEGER NOT NULL,
    PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;

-- The same, counted. `verify` compares both.
CREATE VIEW counted_records AS
    SELECT 'team' AS kind, iif(closed_at IS NULL, 'open', 'closed') AS state, count(*) AS count
    FROM teams GROUP BY 2
    UNION ALL
    SELECT 'listing', review_status || ' ' || catalog_status, count(*) FROM listings GROUP BY 2
    UNION ALL
    SELECT 'purchase', status, count(*) FROM purchases GROUP BY 2;

INSERT INTO record_counts (kind, state, count) SELECT kind, state, count FROM counted_records;

CREATE TRIGGER record_counts_team AFTER INSERT ON teams BEGIN
    INSERT INTO record_counts VALUES ('team', iif(new.closed_at IS NULL, 'open', 'closed'), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER record_counts_team_changed AFTER UPDATE OF closed_at ON teams
WHEN (old.closed_at IS NULL) <> (new.closed_at IS NULL) BEGIN
    UPDATE record_counts SET count = count - 1
    WHERE kind = 'team' AND state = iif(old.closed_at IS NULL, 'open', 'closed');
    INSERT INTO record_counts VALUES ('team', iif(new.closed_at IS NULL, 'open', 'closed'), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER record_counts_listing AFTER INSERT ON listings BEGIN
    INSERT INTO record_counts VALUES ('listing', new.review_status || ' ' || new.catalog_status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER record_counts_listing_changed AFTER UPDATE OF review_status, catalog_status ON listings
WHEN old.review_status <> new.review_status OR old.catalog_status <> new.catalog_status BEGIN
    UPDATE record_counts SET count = count - 1
    WHERE kind = 'listing' AND state = old.review_status || ' ' || old.catalog_status;
    INSERT INTO record_counts VALUES ('listing', new.review_status || ' ' || new.catalog_status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER record_counts_purchase AFTER INSERT ON purchases BEGIN
    INSERT INTO record_counts VALUES ('purchase', new.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER record_counts_purchase_changed AFTER UPDATE OF status ON purchases
WHEN old.status <> new.status BEGIN
    UPDATE record_counts SET count = count - 1 WHERE kind = 'purchase' AND state = old.status;
    INSERT INTO record_counts VALUES ('purchase', new.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
