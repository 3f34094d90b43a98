//! Uploads whose completion was interrupted after their parts were joined.

use marketplace::{domain::upload_activity::UploadStep, error::Error, operations::grant_uploads};
use tokio::runtime::Runtime;

use super::{Uploads, count_files};
use crate::{
    catalog::small_market,
    harness::{TestMarket, s3},
    vendor_api::seller_market::empty_market,
};

/// A killed process leaves joined parts behind. The next process completes the upload, or discards it if the digest differs.
#[test]
fn upload_continues_after_a_kill_between_joining_and_consuming() {
    let market = empty_market();
    let uploads = Uploads::new(&market, None);
    for (file, expected) in [(0, 1), (1, 0), (2, 1)] {
        let before = count_files(&market);
        let (grant, upload) = uploads.send_first_file();
        drop(uploads.join(&grant, &upload).unwrap());
        // With another digest, the bytes are wrong. Another size is refused, since bytes have arrived.
        let prepared = uploads.prepare(&grant, file);
        assert_eq!(prepared.is_some(), file < 2);
        if let Some(prepared) = prepared {
            uploads.plan(&grant, file, prepared);
        }
        let upload = grant.known.lock().unwrap().last().unwrap().clone();
        if let Some(joined) = uploads.join(&grant, &upload) {
            uploads.complete(&grant, &upload, joined);
        }
        assert_eq!(uploads.check_files(&[grant], || count_files(&market) - before), expected);
    }
}

/// After an interruption, an upload is completed only with the entity tags of the parts that were joined.
fn check_completion_after_interruption(uploads: &Uploads) {
    let grant = uploads.create_grant();
    let prepared = uploads.prepare(&grant, 0).unwrap();
    uploads.plan(&grant, 0, prepared);
    let upload = grant.known.lock().unwrap()[0].clone();
    if let Some(writer) = uploads.start_part(&upload, 0) {
        Uploads::finish_part(0, writer);
    }
    let (_, parts) =
        grant_uploads::upload_in_progress(&uploads.market, &uploads.vendor, &grant.token, upload.id).unwrap();
    let join = |etag: &str| {
        let list = [(1, etag.to_owned())];
        grant_uploads::join(&uploads.market, &uploads.vendor, &grant.token, upload.id, &list)
    };
    let wrong = "0".repeat(32);
    let etag = &parts[0].etag;
    for _ in 0..2 {
        assert!(matches!(join(&wrong), Err(Error::PartsMissing(missing)) if missing == [1]));
        // The process is killed before the grant is used.
        drop(join(etag).unwrap().unwrap());
    }
    let joined = join(etag).unwrap();
    uploads.complete(&grant, &upload, joined);
    assert_eq!(*grant.completed.lock().unwrap(), 1);
}

#[test]
fn interrupted_completion_continues_only_with_the_same_entity_tags() {
    let market = empty_market();
    check_completion_after_interruption(&Uploads::new(&market, None));
    let store = s3::S3Server::start();
    let market = TestMarket::with_settings(|settings| store.configure(settings));
    small_market::seed_market(&market, &[], &serde_json::json!({}));
    check_completion_after_interruption(&Uploads::new(&market, Some(Runtime::new().unwrap())));
}

/// The first cleanup after a start runs while clients go on with their uploads. None of their requests is refused.
#[test]
fn cleanup_leaves_uploads_in_progress_alone() {
    let market = empty_market();
    let uploads = Uploads::new(&market, None);
    let (grant, upload) = uploads.send_first_file();
    let blobs = uploads.market.blobs();
    let is_in_progress = |id| blobs.lock_upload(id, UploadStep::Complete).is_ok() && id == upload.id;
    assert_eq!(blobs.cleanup_staged(is_in_progress).unwrap(), 0);
    let joined = uploads.join(&grant, &upload).unwrap();
    uploads.complete(&grant, &upload, joined);
    assert_eq!(*grant.completed.lock().unwrap(), 1);
}
