-- The deliveries of a webhook that failed, or that were tried in vain and will be sent again.
CREATE INDEX webhook_deliveries_failing ON webhook_deliveries (webhook, id)
    WHERE status = 'failed' OR status = 'pending' AND failures > 0;
