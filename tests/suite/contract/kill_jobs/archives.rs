//! Archives that are being read when the server is killed.

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use marketplace::{domain::assets::ArtifactStatus, market::Market, operations, store};
use serde_json::json;
use uuid::Uuid;
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{KILLS, Site, TEAM};
use crate::harness::{BASE, random::Random};

/// Files in the archive: enough for a kill to fall into the reading.
const FILES: u64 = 2_000;

fn archive(folder: &Path) -> PathBuf {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..FILES {
        writer.start_file(format!("{}/{number}.txt", number % 7), SimpleFileOptions::default()).unwrap();
    }
    let path = folder.join("archive.zip");
    std::fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
    path
}

#[test]
fn archives_are_read_however_often_the_server_dies() {
    let site = Site::new("file:///nowhere");
    let url = operations::uploads::put(&site.market(), TEAM, &archive(site.folder.path()), BASE).unwrap();
    let body = json!({"title": "Scans", "suffix_title": true, "data": {"channel": "zip", "url": url}});
    let mut random = Random(5);
    let (mut taken, mut left) = (Vec::new(), 0);
    for _ in 0..KILLS {
        let server = site.server();
        for _ in 0..=random.below(8) {
            let (status, row) = server.call("POST", "/v2/raw-data", &body);
            assert_eq!(status, 201, "{row}");
            taken.push(row["id"].as_str().unwrap().parse().unwrap());
        }
        // One that was not acknowledged may be there or not, but never in parts.
        let text = body.to_string();
        let unheard = server.begin("POST", "/v2/raw-data", text.len(), text.as_bytes());
        server.kill();
        drop(unheard);
        left += unread(&site.market(), &taken).len();
    }
    assert!(left > 0, "no kill came before a reading had ended, so nothing was shown");
    assert_eq!(unread(&site.settled(), &taken), Vec::<Uuid>::new());
}

/// The assets whose archives are not read.
fn unread(market: &Market, assets: &[Uuid]) -> Vec<Uuid> {
    let is_read = |id: &Uuid| {
        let status = market.read_blocking(|reader| {
            let (number, _) = store::assets::find(reader.rows, *id)?.expect("what was acknowledged is there");
            let asset = store::assets::numbered(reader.rows, number)?.expect("an asset of this number");
            Ok(asset.data.expect("linked data").analysis_status)
        });
        status.unwrap() == ArtifactStatus::Completed
    };
    assets.iter().copied().filter(|id| !is_read(id)).collect()
}
