-- A withdrawal is paid as the team had stated when it was requested, so who changes that later gets nothing of it. Null if it was not
-- stated, or if it was changed after the request before this was recorded.
ALTER TABLE withdrawals ADD COLUMN payout_setup TEXT;
UPDATE withdrawals SET payout_setup = (
    SELECT t.payout_setup FROM teams t WHERE t.id = team AND coalesce(t.payout_changed_at <= requested_at, 1)
) WHERE status = 'requested';

-- The key with which the person signed in; rotation of a key replaces `key`, and not this. So revoking a replaced key ends the
-- sessions of those who had it.
ALTER TABLE sessions ADD COLUMN first_key INTEGER REFERENCES keys (id);
UPDATE sessions SET first_key = key;
CREATE INDEX sessions_by_first_key ON sessions (first_key);
