-- A closed team keeps its name, and its earnings stay payable.
ALTER TABLE teams ADD COLUMN closed_at INTEGER;
ALTER TABLE teams ADD COLUMN payout_setup TEXT; -- how the team is paid; only operators read it

-- A key that another one has replaced is valid until it expires.
ALTER TABLE keys ADD COLUMN rotated_at INTEGER;

-- Upload grants have IDs (version 4), which events name.
ALTER TABLE upload_grants ADD COLUMN uuid BLOB CHECK (length(uuid) = 16);
UPDATE upload_grants SET uuid = unhex(
    hex(randomblob(6)) || '4' || substr(hex(randomblob(2)), 2) || '8' || substr(hex(randomblob(8)), 2));
CREATE UNIQUE INDEX upload_grants_by_uuid ON upload_grants (uuid);

-- Keys and grants expire by steps.
INSERT INTO due_steps (kind, subject, due_at, is_migrated)
SELECT 'key_expires', id, expires_at, 1 FROM keys WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
INSERT INTO due_steps (kind, subject, due_at, is_migrated)
SELECT 'grant_expires', id, expires_at, 1 FROM upload_grants WHERE revoked_at IS NULL AND consumed_at IS NULL;
