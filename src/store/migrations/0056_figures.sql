-- Results in the order of their checks, so that none are sorted to count them.
CREATE INDEX quality_checks_by_key ON quality_checks (key, run, status);

-- Submissions and decisions of each listing, in their order.
CREATE INDEX listing_history_of_reviews ON listing_history (listing, occurred_at, id, event)
    WHERE event IN ('submitted', 'approved', 'changes_requested', 'rejected');

-- When listings were created, and by which team.
CREATE INDEX listings_by_creation ON listings (created_at, team);
