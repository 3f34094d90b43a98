-- Uploads that can no longer be completed, and whose bytes are to be deleted. An upload gets here in the transaction that
-- takes it from its grant, and never back, so that deleting the bytes cannot lose an upload that was completed.
CREATE TABLE discarded_uploads (
    upload     BLOB    PRIMARY KEY CHECK (length(upload) = 16),
    reference  TEXT, -- what the store calls it
    size_bytes INTEGER NOT NULL CHECK (size_bytes > 0)
) STRICT, WITHOUT ROWID;

-- What each team uses of what quotas limit. Triggers maintain it, so that checking a quota reads one row.
CREATE TABLE team_usage (
    team              INTEGER PRIMARY KEY REFERENCES teams (id),
    assets            INTEGER NOT NULL DEFAULT 0, -- without deleted ones
    groups            INTEGER NOT NULL DEFAULT 0,
    upload_bytes      INTEGER NOT NULL DEFAULT 0, -- stored and planned
    idempotency_keys  INTEGER NOT NULL DEFAULT 0,
    idempotency_bytes INTEGER NOT NULL DEFAULT 0  -- of the stored responses
) STRICT;

-- The same, counted. `verify` compares both.
CREATE VIEW counted_usage AS
    SELECT t.id AS team,
        (SELECT count(*) FROM assets a WHERE a.team = t.id AND a.deleted_at IS NULL) AS assets,
        (SELECT count(*) FROM groups g WHERE g.team = t.id) AS groups,
        (SELECT coalesce(sum(u.size_bytes), 0) FROM uploads u WHERE u.team = t.id)
            + (SELECT coalesce(sum(g.size_bytes), 0) FROM upload_grants g
               WHERE g.team = t.id AND g.upload IS NOT NULL AND g.consumed_at IS NULL) AS upload_bytes,
        (SELECT count(*) FROM idempotency_keys i WHERE i.team = t.id) AS idempotency_keys,
        (SELECT coalesce(sum(length(i.answer)), 0) FROM idempotency_keys i WHERE i.team = t.id) AS idempotency_bytes
    FROM teams t;

INSERT INTO team_usage (team, assets, groups, upload_bytes, idempotency_keys, idempotency_bytes)
SELECT team, assets, groups, upload_bytes, idempotency_keys, idempotency_bytes FROM counted_usage;

CREATE TRIGGER team_usage_team AFTER INSERT ON teams BEGIN
    INSERT INTO team_usage (team) VALUES (new.id);
END;

CREATE TRIGGER team_usage_asset AFTER INSERT ON assets WHEN new.deleted_at IS NULL BEGIN
    UPDATE team_usage SET assets = assets + 1 WHERE team = new.team;
END;
CREATE TRIGGER team_usage_asset_changed AFTER UPDATE OF deleted_at ON assets
WHEN (old.deleted_at IS NULL) <> (new.deleted_at IS NULL) BEGIN
    UPDATE team_usage SET assets = assets + iif(new.deleted_at IS NULL, 1, -1) WHERE team = new.team;
END;
CREATE TRIGGER team_usage_asset_deleted AFTER DELETE ON assets WHEN old.deleted_at IS NULL BEGIN
    UPDATE team_usage SET assets = assets - 1 WHERE team = old.team;
END;

CREATE TRIGGER team_usage_group AFTER INSERT ON groups BEGIN
    UPDATE team_usage SET groups = groups + 1 WHERE team = new.team;
END;
CREATE TRIGGER team_usage_group_deleted AFTER DELETE ON groups BEGIN
    UPDATE team_usage SET groups = groups - 1 WHERE team = old.team;
END;

CREATE TRIGGER team_usage_upload AFTER INSERT ON uploads BEGIN
    UPDATE team_usage SET upload_bytes = upload_bytes + new.size_bytes WHERE team = new.team;
END;
CREATE TRIGGER team_usage_upload_deleted AFTER DELETE ON uploads BEGIN
    UPDATE team_usage SET upload_bytes = upload_bytes - old.size_bytes WHERE team = old.team;
END;
CREATE TRIGGER team_usage_planned_upload AFTER UPDATE OF upload, size_bytes, consumed_at ON upload_grants BEGIN
    UPDATE team_usage
    SET upload_bytes = upload_bytes
        + iif(new.upload IS NOT NULL AND new.consumed_at IS NULL, new.size_bytes, 0)
        - iif(old.upload IS NOT NULL AND old.consumed_at IS NULL, old.size_bytes, 0)
    WHERE team = new.team;
END;

CREATE TRIGGER team_usage_key AFTER INSERT ON idempotency_keys BEGIN
    UPDATE team_usage
    SET idempotency_keys = idempotency_keys + 1, idempotency_bytes = idempotency_bytes + length(new.answer)
    WHERE team = new.team;
END;
CREATE TRIGGER team_usage_key_changed AFTER UPDATE OF answer ON idempotency_keys BEGIN
    UPDATE team_usage SET idempotency_bytes = idempotency_bytes + length(new.answer) - length(old.answer)
    WHERE team = new.team;
END;
CREATE TRIGGER team_usage_key_deleted AFTER DELETE ON idempotency_keys BEGIN
    UPDATE team_usage
    SET idempotency_keys = idempotency_keys - 1, idempotency_bytes = idempotency_bytes - length(old.answer)
    WHERE team = old.team;
END;

-- Expired keys are deleted in batches, and each team's own first.
CREATE INDEX idempotency_keys_by_team ON idempotency_keys (team, created_at);
