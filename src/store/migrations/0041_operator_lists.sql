-- Filters of operators' lists. Every index ends with the row ID, so it has the rows of a page in their order, and a page reads
-- no more rows than it returns. What has two states is indexed by an expression, which the filter repeats.

CREATE INDEX offers_by_status ON offers (status);

CREATE INDEX purchases_by_status ON purchases (status);
CREATE INDEX purchases_by_kind ON purchases (kind);
DROP INDEX purchases_pending;

CREATE INDEX withdrawals_by_status ON withdrawals (status);
DROP INDEX withdrawals_requested;

CREATE INDEX notifications_by_type ON notifications (type);
CREATE INDEX notifications_by_state ON notifications (is_read);

CREATE INDEX quality_runs_by_status ON quality_runs (status);
DROP INDEX quality_runs_unfinished;

CREATE INDEX estimations_by_status ON estimations (status);

CREATE INDEX opportunities_by_kind ON opportunities (kind);

CREATE INDEX inventory_by_stage ON inventory (stage, asset);

CREATE INDEX listings_by_review ON listings (review_status);
DROP INDEX listings_in_review;
CREATE INDEX listings_by_catalog ON listings (catalog_status);
CREATE INDEX listings_by_stage ON listings (
    (CASE WHEN catalog_status = 'published' THEN 'active'
          WHEN catalog_status = 'archived' THEN 'archived' WHEN review_status = 'in_review' THEN 'review'
          WHEN review_status = 'approved' THEN 'ready' ELSE 'draft' END)
);
CREATE INDEX listings_by_exclusive ON listings (exclusive);
CREATE INDEX listings_by_certified ON listings ((certified_at IS NOT NULL));

CREATE INDEX teams_by_vendor ON teams (is_vendor);
CREATE INDEX teams_by_buyer ON teams (is_buyer);
CREATE INDEX teams_by_closed ON teams ((closed_at IS NOT NULL));

CREATE INDEX keys_by_name ON keys (name);

CREATE INDEX upload_grants_by_use ON upload_grants (
    (CASE WHEN consumed_at IS NOT NULL THEN 'consumed' WHEN revoked_at IS NOT NULL THEN 'revoked' ELSE 'unused' END)
);
CREATE INDEX upload_grants_by_openness ON upload_grants (
    (consumed_at IS NULL AND revoked_at IS NULL AND expired_at IS NULL)
);

CREATE INDEX tasksets_by_name ON tasksets (name);
CREATE INDEX tasks_deleted ON tasks (taskset) WHERE deleted_at IS NOT NULL;
-- The same as `tasks_of_tasksets`.
DROP INDEX tasks_of_taskset;

CREATE INDEX audit_by_key ON audit (key) WHERE key IS NOT NULL;
CREATE INDEX audit_by_operation ON audit (operation);
CREATE INDEX audit_by_subject ON audit (subject_id);

CREATE INDEX webhooks_by_status ON webhooks ((disabled_at IS NULL)) WHERE deleted_at IS NULL;
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status);
DROP INDEX failed_webhook_deliveries;
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries (event_type);

-- Tells the planner that many rows share a value, so that it uses these indexes only where nothing else selects fewer rows, such
-- as a team. Without this it expects that ten rows have the same status. A million rows is what it expects of any table.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat)
SELECT tbl_name, name, '1048576 131072' FROM sqlite_schema WHERE type = 'index' AND name IN (
    'offers_by_status', 'purchases_by_status', 'purchases_by_kind', 'withdrawals_by_status', 'notifications_by_type',
    'notifications_by_state', 'quality_runs_by_status', 'estimations_by_status', 'opportunities_by_kind', 'listings_by_review',
    'listings_by_catalog', 'listings_by_stage', 'listings_by_exclusive', 'listings_by_certified', 'teams_by_vendor',
    'teams_by_buyer', 'teams_by_closed', 'upload_grants_by_use', 'upload_grants_by_openness', 'audit_by_key',
    'audit_by_operation', 'webhooks_by_status', 'webhook_deliveries_by_status', 'webhook_deliveries_by_type',
    'ledger_entries_by_type', 'project_bids_by_status', 'assets_by_kind'
);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('inventory', 'inventory_by_stage', '1048576 131072 1'),
    ('opportunities', 'opportunities_by_status', '1048576 131072 16384');
ANALYZE sqlite_schema;
