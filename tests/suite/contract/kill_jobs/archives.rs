//! Archives that are being analyzed when the server is killed.

use marketplace::{domain::assets::ArtifactStatus, market::Market, store};
use serde_json::json;
use uuid::Uuid;

use super::{KILLS, KilledMarket, TEAM};
use crate::harness::{archives::zip_of, random::Random, uploads::import_zip};

/// Number of files in the archive, large enough that a kill can interrupt the analysis.
const FILES: u64 = 2_000;

fn create_archive() -> Vec<u8> {
    let names: Vec<String> = (0..FILES).map(|number| format!("{}/{number}.txt", number % 7)).collect();
    zip_of(&names.iter().map(|name| (name.as_str(), "")).collect::<Vec<_>>())
}

#[test]
fn archives_are_analyzed_despite_server_kills() {
    let killed_market = KilledMarket::new("file:///nowhere");
    let url = import_zip(&killed_market.market(), TEAM, &create_archive());
    let body = json!({"title": "Scans", "suffix_title": true, "data": {"channel": "zip", "url": url}});
    let mut random = Random::new(5);
    let (mut asset_ids, mut interrupted_analyses) = (Vec::new(), 0);
    for _ in 0..KILLS {
        let server = killed_market.server();
        for _ in 0..=random.below(8) {
            let (status, row) = server.call("POST", "/v2/raw-data", &body);
            assert_eq!(status, 201, "{row}");
            asset_ids.push(row["id"].as_str().unwrap().parse().unwrap());
        }
        // A request that was not acknowledged may or may not have taken effect, but never in part.
        let text = body.to_string();
        let unread_response = server.start_request("POST", "/v2/raw-data", text.len(), text.as_bytes());
        server.kill();
        drop(unread_response);
        interrupted_analyses += unanalyzed(&killed_market.market(), &asset_ids).len();
        assert_eq!(unanalyzed(&killed_market.finish_jobs(), &asset_ids), Vec::<Uuid>::new());
    }
    assert!(interrupted_analyses > 0, "no kill interrupted an analysis, so the test proves nothing");
}

/// Returns the assets whose archives are not analyzed yet.
fn unanalyzed(market: &Market, assets: &[Uuid]) -> Vec<Uuid> {
    let is_read = |id: &Uuid| {
        let status = market.read_blocking(|reader| {
            let (row_id, _) = store::assets::find_row_id_and_team(reader.rows, *id)?
                .expect("an acknowledged asset is stored");
            let asset =
                store::assets::find_by_row_id(reader.rows, row_id)?.expect("the asset with this row ID");
            Ok(asset.data.expect("linked data").analysis_status)
        });
        status.unwrap() == ArtifactStatus::Completed
    };
    assets.iter().copied().filter(|id| !is_read(id)).collect()
}
