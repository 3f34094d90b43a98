-- When it was last changed how a team is paid; null if never, or only before this column existed. Withdrawals that the team
-- requests itself wait for some days after it.
ALTER TABLE teams ADD COLUMN payout_changed_at INTEGER;
