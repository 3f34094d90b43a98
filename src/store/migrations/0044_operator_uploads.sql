-- Files that operators are uploading for a team: a zip, or traces of a taskset. The row is deleted when the upload is
-- completed, canceled, or has expired.
CREATE TABLE operator_uploads (
    id         INTEGER PRIMARY KEY,
    uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16), -- of the upload
    team       INTEGER NOT NULL REFERENCES teams (id),
    taskset    INTEGER REFERENCES tasksets (id), -- whose traces the file has; null for a zip
    reference  TEXT, -- what the store calls it
    file_name  TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0),
    sha256     TEXT CHECK (length(sha256) = 64),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO operator_uploads
    (id, uuid, team, taskset, reference, file_name, size_bytes, sha256, created_at, expires_at)
SELECT u.id, u.uuid, s.team, u.taskset, u.reference, u.file_name, u.size_bytes, u.sha256, u.created_at, u.expires_at
FROM trace_uploads u JOIN tasksets s ON s.id = u.taskset;
DROP TABLE trace_uploads;
CREATE INDEX operator_uploads_by_team ON operator_uploads (team);
CREATE INDEX operator_uploads_by_expiry ON operator_uploads (expires_at);

-- Their bytes count as planned ones of the team, as those of uploads under grants do.
DROP VIEW counted_usage;
CREATE VIEW counted_usage AS
    SELECT t.id AS team,
        (SELECT count(*) FROM assets a WHERE a.team = t.id AND a.deleted_at IS NULL) AS assets,
        (SELECT count(*) FROM groups g WHERE g.team = t.id) AS groups,
        (SELECT coalesce(sum(u.size_bytes), 0) FROM uploads u WHERE u.team = t.id)
            + (SELECT coalesce(sum(g.size_bytes), 0) FROM upload_grants g
               WHERE g.team = t.id AND g.upload IS NOT NULL AND g.consumed_at IS NULL)
            + (SELECT coalesce(sum(o.size_bytes), 0) FROM operator_uploads o WHERE o.team = t.id) AS upload_bytes,
        (SELECT count(*) FROM idempotency_keys i
         WHERE i.principal_kind = 'team' AND i.principal = t.id) AS idempotency_keys,
        (SELECT coalesce(sum(length(i.answer)), 0) FROM idempotency_keys i
         WHERE i.principal_kind = 'team' AND i.principal = t.id) AS idempotency_bytes
    FROM teams t;
UPDATE team_usage SET upload_bytes = upload_bytes
    + (SELECT coalesce(sum(o.size_bytes), 0) FROM operator_uploads o WHERE o.team = team_usage.team)
WHERE team IN (SELECT team FROM operator_uploads);
CREATE TRIGGER team_usage_operator_upload AFTER INSERT ON operator_uploads BEGIN
    UPDATE team_usage SET upload_bytes = upload_bytes + new.size_bytes WHERE team = new.team;
END;
CREATE TRIGGER team_usage_operator_upload_deleted AFTER DELETE ON operator_uploads BEGIN
    UPDATE team_usage SET upload_bytes = upload_bytes - old.size_bytes WHERE team = old.team;
END;
