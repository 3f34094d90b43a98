-- When a step ended a key, a grant, or a kind, so that a clock that jumps back does not undo it. A step that was carried
-- out has no row.
ALTER TABLE keys ADD COLUMN expired_at INTEGER;
UPDATE keys SET expired_at = expires_at
WHERE expires_at IS NOT NULL AND revoked_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM due_steps WHERE kind = 'key_expires' AND subject = keys.id);
ALTER TABLE upload_grants ADD COLUMN expired_at INTEGER;
UPDATE upload_grants SET expired_at = expires_at
WHERE revoked_at IS NULL AND consumed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM due_steps WHERE kind = 'grant_expires' AND subject = upload_grants.id);
ALTER TABLE asset_types ADD COLUMN retired_at INTEGER;
UPDATE asset_types SET retired_at = retires_at
WHERE retires_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM due_steps WHERE kind = 'asset_type_retires' AND subject = asset_types.position);
