//! The records that several commands find by name.

use super::records::{Name, Records};

pub const TEAMS: Records = Records::new(
    "/teams",
    "id name roles tier nda_accepted_at created_at closed_at",
    "id name roles tier nda_accepted_at avatar_url payout_setup created_at closed_at",
)
.named(Name::new("team", "name"));

pub const LISTINGS: Records = Records::new(
    "/listings",
    "id stage price asset_count created_at team title",
    "id team_id team title stage review_status catalog_status review_feedback price sample_price currency accepts_bids \
     exclusive asset_ids submitted_offer_count featured certified_at latest_quality_run_id terms created_at \
     published_at archived_at",
)
.named(Name::new("listing", "title"));

pub const ASSETS: Records = Records::new(
    "/assets",
    "id kind stage created_at team title",
    "id team_id team title description kind stage missing price currency exclusivity repository listing_ids created_at",
)
.named(Name::new("asset", "title").without_filter());

pub const TASKSETS: Records =
    Records::new("/tasksets", "id task_count created_at team name", "id task_count created_at team name")
        .named(Name::new("taskset", "name"));

pub const KEYS: Records = Records::new(
    "/keys",
    "id name scope status created_at expires_at revoked_at last_used_at",
    "id team_id team name scope status created_at expires_at rotated_at revoked_at last_used_at",
)
.named(Name::new("key", "name"));

pub const OPERATOR_KEYS: Records = Records::new(
    "/operator-keys",
    "id name scope status created_at expires_at revoked_at last_used_at",
    "id name scope status created_at expires_at rotated_at revoked_at last_used_at",
)
.named(Name::new("operator key", "name"));

pub const OPPORTUNITIES: Records = Records::new(
    "/opportunities",
    "id status created_at deadline team title",
    "id team_id team title description status accepted_asset_types visibility_mode excluded_team_ids created_at \
     updated_at deadline closed_at",
)
.named(Name::new("opportunity", "title").without_filter());

pub const PROJECT_OPPORTUNITIES: Records = Records { path: "/project-opportunities", ..OPPORTUNITIES }
    .named(Name::new("project opportunity", "title").without_filter());

pub const WEBHOOKS: Records = Records::new(
    "/webhooks",
    "id status disabled_reason team url event_types",
    "id team_id team url description event_types status disabled_reason disabled_at last_success_at created_at",
)
.named(Name::new("webhook", "url").without_filter());

pub const GRANTS: Records = Records::new(
    "/grants",
    "id title status expires_at consumed_at revoked_at",
    "id team_id team title status exclusivity group_id max_bytes file_name size_bytes created_at expires_at consumed_at \
     revoked_at",
)
.named(Name::new("grant", "title").without_filter().among(&[("status", "open")]));
