-- Keys of operators, who belong to no team. What is stored per caller refers to a principal: a team, or an operator by
-- its key. Row IDs of both can be equal, so a principal is a kind and a row ID.

CREATE TABLE new_keys (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    kind         TEXT    NOT NULL CHECK (kind IN ('team', 'operator')),
    team         INTEGER REFERENCES teams (id),
    name         TEXT    NOT NULL,
    digest       BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
    is_fixture   INTEGER NOT NULL CHECK (is_fixture IN (0, 1)),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    CHECK ((kind = 'team') = (team IS NOT NULL))
) STRICT;
INSERT INTO new_keys (id, uuid, kind, team, name, digest, is_fixture, created_at, expires_at, revoked_at, last_used_at)
SELECT id, uuid, 'team', team, name, digest, is_fixture, created_at, expires_at, revoked_at, last_used_at FROM keys;
DROP TABLE keys;
ALTER TABLE new_keys RENAME TO keys;
CREATE INDEX keys_by_team ON keys (team) WHERE team IS NOT NULL;
CREATE INDEX operator_keys ON keys (created_at) WHERE kind = 'operator';

-- The view names the table that is replaced.
DROP VIEW counted_usage;

-- Responses to requests with an `Idempotency-Key`, stored in the same transaction as the changes that they report.
CREATE TABLE new_idempotency_keys (
    principal_kind TEXT    NOT NULL CHECK (principal_kind IN ('team', 'operator')),
    principal      INTEGER NOT NULL, -- the team, or the operator's key
    key            TEXT    NOT NULL,
    route          TEXT    NOT NULL,
    body           BLOB    NOT NULL CHECK (length(body) = 32), -- SHA-256
    answer         BLOB    NOT NULL,
    created_at     INTEGER NOT NULL,
    team           INTEGER REFERENCES teams (id)
        GENERATED ALWAYS AS (iif(principal_kind = 'team', principal, NULL)) VIRTUAL,
    operator_key   INTEGER REFERENCES keys (id)
        GENERATED ALWAYS AS (iif(principal_kind = 'operator', principal, NULL)) VIRTUAL,
    PRIMARY KEY (principal_kind, principal, key, route)
) STRICT, WITHOUT ROWID;
INSERT INTO new_idempotency_keys (principal_kind, principal, key, route, body, answer, created_at)
SELECT 'team', team, key, route, body, answer, created_at FROM idempotency_keys;
DROP TABLE idempotency_keys;
ALTER TABLE new_idempotency_keys RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
-- Expired keys are deleted in batches, and each principal's own first.
CREATE INDEX idempotency_keys_by_principal ON idempotency_keys (principal_kind, principal, created_at);

-- What each operator key uses of what quotas limit. Triggers maintain it, as for teams.
CREATE TABLE operator_usage (
    operator_key      INTEGER PRIMARY KEY REFERENCES keys (id),
    idempotency_keys  INTEGER NOT NULL DEFAULT 0,
    idempotency_bytes INTEGER NOT NULL DEFAULT 0  -- of the stored responses
) STRICT;
CREATE TRIGGER operator_usage_key AFTER INSERT ON keys WHEN new.kind = 'operator' BEGIN
    INSERT INTO operator_usage (operator_key) VALUES (new.id);
END;

-- What `team_usage` and `operator_usage` contain, counted. `verify` compares them.
CREATE VIEW counted_usage AS
    SELECT t.id AS team,
        (SELECT count(*) FROM assets a WHERE a.team = t.id AND a.deleted_at IS NULL) AS assets,
        (SELECT count(*) FROM groups g WHERE g.team = t.id) AS groups,
        (SELECT coalesce(sum(u.size_bytes), 0) FROM uploads u WHERE u.team = t.id)
            + (SELECT coalesce(sum(g.size_bytes), 0) FROM upload_grants g
               WHERE g.team = t.id AND g.upload IS NOT NULL AND g.consumed_at IS NULL) AS upload_bytes,
        (SELECT count(*) FROM idempotency_keys i
         WHERE i.principal_kind = 'team' AND i.principal = t.id) AS idempotency_keys,
        (SELECT coalesce(sum(length(i.answer)), 0) FROM idempotency_keys i
         WHERE i.principal_kind = 'team' AND i.principal = t.id) AS idempotency_bytes
    FROM teams t;
CREATE VIEW counted_operator_usage AS
    SELECT k.id AS operator_key,
        (SELECT count(*) FROM idempotency_keys i
         WHERE i.principal_kind = 'operator' AND i.principal = k.id) AS idempotency_keys,
        (SELECT coalesce(sum(length(i.answer)), 0) FROM idempotency_keys i
         WHERE i.principal_kind = 'operator' AND i.principal = k.id) AS idempotency_bytes
    FROM keys k WHERE k.kind = 'operator';

CREATE TRIGGER usage_key AFTER INSERT ON idempotency_keys BEGIN
    UPDATE team_usage
    SET idempotency_keys = idempotency_keys + 1, idempotency_bytes = idempotency_bytes + length(new.answer)
    WHERE new.principal_kind = 'team' AND team = new.principal;
    UPDATE operator_usage
    SET idempotency_keys = idempotency_keys + 1, idempotency_bytes = idempotency_bytes + length(new.answer)
    WHERE new.principal_kind = 'operator' AND operator_key = new.principal;
END;
CREATE TRIGGER usage_key_changed AFTER UPDATE OF answer ON idempotency_keys BEGIN
    UPDATE team_usage SET idempotency_bytes = idempotency_bytes + length(new.answer) - length(old.answer)
    WHERE new.principal_kind = 'team' AND team = new.principal;
    UPDATE operator_usage SET idempotency_bytes = idempotency_bytes + length(new.answer) - length(old.answer)
    WHERE new.principal_kind = 'operator' AND operator_key = new.principal;
END;
CREATE TRIGGER usage_key_deleted AFTER DELETE ON idempotency_keys BEGIN
    UPDATE team_usage
    SET idempotency_keys = idempotency_keys - 1, idempotency_bytes = idempotency_bytes - length(old.answer)
    WHERE old.principal_kind = 'team' AND team = old.principal;
    UPDATE operator_usage
    SET idempotency_keys = idempotency_keys - 1, idempotency_bytes = idempotency_bytes - length(old.answer)
    WHERE old.principal_kind = 'operator' AND operator_key = old.principal;
END;
