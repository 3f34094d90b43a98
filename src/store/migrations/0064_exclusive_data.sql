-- What identifies the data that teams have sold exclusively, and not refunded: a repository, a commit, or the digest of a zip. Another
-- asset of the team with the same data cannot be sold, even after this data was detached.
CREATE TABLE exclusive_data (
    team     INTEGER NOT NULL REFERENCES teams (id),
    identity TEXT    NOT NULL,
    purchase INTEGER NOT NULL REFERENCES purchases (id),
    PRIMARY KEY (team, identity, purchase)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO exclusive_data (team, identity, purchase)
SELECT l.team, i.value, p.id
FROM exclusive_sales e JOIN purchases p ON p.id = e.purchase JOIN listings l ON l.id = p.listing
JOIN bundles b ON b.purchase = p.id JOIN bundle_entries t ON t.bundle = b.id AND t.asset = e.asset
LEFT JOIN data_objects d ON d.asset = t.asset AND d.attached_at <= p.paid_at
LEFT JOIN uploads u ON u.id = t.upload,
json_each(json_array(d.channel || ' ' || lower(d.repo_full_name), t.commit_sha, u.sha256)) i
WHERE i.value IS NOT NULL;

-- When an upload is deleted unless a purchase contains it then; null while an asset or an import uses it.
ALTER TABLE uploads ADD COLUMN removable_at INTEGER;
CREATE INDEX uploads_by_removal ON uploads (removable_at) WHERE removable_at IS NOT NULL;
CREATE INDEX data_objects_by_upload ON data_objects (upload) WHERE upload IS NOT NULL;
CREATE INDEX bundle_entries_by_upload ON bundle_entries (upload) WHERE upload IS NOT NULL;
-- 30 days after the last event, or after the last time at which the server was running: it always has a next cleanup.
UPDATE uploads
SET removable_at = 2592000000000
    + max(
        created_at,
        coalesce((SELECT occurred_at FROM events ORDER BY id DESC LIMIT 1), 0),
        coalesce((SELECT max(run_after) FROM jobs), 0)
    )
WHERE NOT EXISTS (SELECT 1 FROM data_objects WHERE upload = uploads.id)
    AND NOT EXISTS (SELECT 1 FROM trace_imports WHERE upload = uploads.id);

-- When opportunities were published; unknown if no vendor was notified, and null if they were not.
ALTER TABLE opportunities ADD COLUMN published_at INTEGER;
UPDATE opportunities SET published_at = n.at
FROM (SELECT coalesce(opportunity, project_opportunity) AS id, min(created_at) AS at FROM notifications
      WHERE type = 'opportunity_published' GROUP BY 1) n
WHERE n.id = opportunities.id;
