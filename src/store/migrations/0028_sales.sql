-- The rules of sales: how buyers pay, one submitted offer per buyer and listing, the assets that purchases cover, and
-- exclusive sales.

ALTER TABLE offers ADD COLUMN pay_with TEXT NOT NULL DEFAULT 'invoice' CHECK (pay_with IN ('credits', 'invoice'));
ALTER TABLE purchases ADD COLUMN pay_with TEXT NOT NULL DEFAULT 'invoice' CHECK (pay_with IN ('credits', 'invoice'));
-- Whether it is an exclusive sale once it is completed: whether the listing was exclusive when it was created.
ALTER TABLE purchases ADD COLUMN exclusive INTEGER NOT NULL DEFAULT 0 CHECK (exclusive IN (0, 1));
ALTER TABLE purchases ADD COLUMN cancelled_at INTEGER; -- null for purchases that earlier versions recorded as canceled
ALTER TABLE listings ADD COLUMN exclusive INTEGER NOT NULL DEFAULT 0 CHECK (exclusive IN (0, 1));

-- Of several submitted offers of a buyer on a listing, the newest one stays; it replaced the others.
CREATE TEMP TABLE replaced_offers AS
SELECT o.id AS offer, o.listing AS listing, n.created_at AS replaced_at FROM offers o
JOIN offers n ON n.id = (
    SELECT l.id FROM offers l WHERE l.listing = o.listing AND l.buyer = o.buyer AND l.status = 'submitted'
    ORDER BY l.created_at DESC, l.id DESC LIMIT 1)
WHERE o.status = 'submitted' AND o.id <> n.id;
UPDATE offers SET status = 'withdrawn', updated_at = r.replaced_at, decided_at = r.replaced_at
FROM temp.replaced_offers r WHERE r.offer = offers.id;
INSERT INTO index_queue (listing, change)
SELECT listing, (SELECT coalesce(max(change), 0) FROM index_queue) + row_number() OVER (ORDER BY listing)
FROM (SELECT DISTINCT listing FROM temp.replaced_offers) WHERE true
ON CONFLICT (listing) DO UPDATE SET change = excluded.change;
DROP TABLE temp.replaced_offers;
CREATE UNIQUE INDEX offers_submitted ON offers (listing, buyer) WHERE status = 'submitted';

-- The assets that a purchase covers, as of its creation.
CREATE TABLE purchase_assets (
    purchase INTEGER NOT NULL REFERENCES purchases (id),
    asset    INTEGER NOT NULL REFERENCES assets (id),
    PRIMARY KEY (purchase, asset)
) STRICT, WITHOUT ROWID;
CREATE INDEX purchase_assets_by_asset ON purchase_assets (asset);
-- For earlier purchases, the assets that their listings have now are the best that is known.
INSERT INTO purchase_assets (purchase, asset)
SELECT p.id, la.asset FROM purchases p JOIN listing_assets la ON la.listing = p.listing
WHERE p.scope ->> 'mode' <> 'selection'
UNION
SELECT p.id, a.id FROM purchases p, json_each(p.scope, '$.asset_ids') j
JOIN assets a ON a.uuid = unhex(replace(j.value, '-', ''))
WHERE p.scope ->> 'mode' = 'selection';

-- The assets that are sold exclusively. The key keeps an asset from being sold so twice. A refund deletes the rows.
CREATE TABLE exclusive_sales (
    asset    INTEGER PRIMARY KEY REFERENCES assets (id),
    purchase INTEGER NOT NULL REFERENCES purchases (id)
) STRICT;
CREATE INDEX exclusive_sales_by_purchase ON exclusive_sales (purchase);

-- What exists already expires after the default times: 30 days for offers, 14 days for purchases.
INSERT OR IGNORE INTO due_steps (kind, subject, due_at, is_migrated)
SELECT 'offer_expires', id, created_at + 30 * 86400000000, 1 FROM offers WHERE status = 'submitted'
UNION ALL
SELECT 'purchase_expires', id, created_at + 14 * 86400000000, 1 FROM purchases WHERE status = 'pending';
