//! Uploads by many clients at once: for every order of their steps, a completed upload keeps its bytes, and a
//! cleanup leaves nothing else.

mod interruptions;

use std::sync::{Arc, Barrier, Mutex};

use marketplace::{
    blobs::PartWriter,
    domain::{row_ids::GrantRowId, uploads::Upload},
    error::{Code, Error, Result},
    market::{Market, Requester},
    operations::{
        self,
        access::{AuthenticatedTeam, Vendor},
        cleanup,
        grant_uploads::{self, FileInput, JoinedUpload, PreparedUpload},
    },
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use super::seller_market::{SELLER, create_grant, empty_market};
use crate::{
    catalog::small_market,
    harness::{BASE, TestMarket, random::Random, s3},
};

/// The files that clients upload. The first two have the same size, so that a plan for one continues an
/// upload of the other.
const FILES: [&[u8]; 3] =
    [b"PK first file contents", b"PK other file contents", b"PK third file, which is longer"];

/// A market with one vendor, and how parts reach its store.
struct Uploads {
    market: Market,
    vendor: Vendor,
    /// Sends parts to an S3-compatible store.
    s3_runtime: Option<Runtime>,
}

/// A grant, and how often an upload with it was acknowledged.
struct TestGrant {
    row_id: GrantRowId,
    token: String,
    known: Mutex<Vec<Upload>>,
    completed: Mutex<u32>,
}

/// What a client has begun, with the position of its grant and its file.
enum Client {
    Idle,
    Planning(usize, usize, PreparedUpload),
    Sending(usize, PartWriter),
    Completing(usize, Upload, Option<JoinedUpload>),
}

fn digest(file: usize) -> String {
    format!("{:x}", Sha256::digest(FILES[file]))
}

fn file_input(file: usize) -> FileInput {
    FileInput {
        file_name: "a.zip".to_owned(),
        size_bytes: FILES[file].len() as u64,
        sha256: Some(digest(file)),
    }
}

/// Panics if the server failed. Any other error is a valid answer.
fn check<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert_ne!(error.code(), Some(Code::InternalError), "{error:?}");
            None
        }
    }
}

impl Uploads {
    fn new(market: &TestMarket, s3_runtime: Option<Runtime>) -> Uploads {
        let market = market.market().clone();
        let authenticated = Runtime::new()
            .unwrap()
            .block_on(AuthenticatedTeam::authenticate(&market, Requester::process(), SELLER))
            .unwrap();
        Uploads { market, vendor: Vendor::authorize(authenticated).unwrap(), s3_runtime }
    }

    fn create_grant(&self) -> TestGrant {
        let (row_id, token) = create_grant(&self.market, None);
        TestGrant { row_id, token, known: Mutex::default(), completed: Mutex::default() }
    }

    /// Creates a grant, and sends the only part of the first file.
    fn send_first_file(&self) -> (TestGrant, Upload) {
        let grant = self.create_grant();
        let prepared = self.prepare(&grant, 0).unwrap();
        self.plan(&grant, 0, prepared);
        let upload = grant.known.lock().unwrap()[0].clone();
        Uploads::finish_part(0, self.start_part(&upload, 0).unwrap());
        (grant, upload)
    }

    fn prepare(&self, grant: &TestGrant, file: usize) -> Option<PreparedUpload> {
        check(grant_uploads::prepare(&self.market, &self.vendor, &grant.token, &file_input(file)))
    }

    fn plan(&self, grant: &TestGrant, file: usize, prepared: PreparedUpload) {
        let planned = self.market.write_blocking(|writer| {
            grant_uploads::plan(&self.market, writer, &self.vendor, &grant.token, file_input(file), &prepared)
        });
        grant_uploads::finish_plan(&self.market, prepared);
        grant.known.lock().unwrap().extend(check(planned));
    }

    /// Starts sending a part; sends it completely if the store is not the built-in one.
    fn start_part(&self, upload: &Upload, file: usize) -> Option<PartWriter> {
        let Some(runtime) = &self.s3_runtime else {
            return check(grant_uploads::start_part(
                &self.market,
                self.vendor.requester(),
                upload.id,
                1,
                FILES[file].len() as u64,
            ));
        };
        let urls = grant_uploads::part_urls(&self.market, BASE, upload, [1]).unwrap();
        let (status, _) = runtime.block_on(s3::put(&urls[0].1.url, FILES[file].to_vec()));
        assert_eq!(status, 200);
        None
    }

    fn finish_part(file: usize, mut writer: PartWriter) {
        assert!(writer.write(FILES[file]).unwrap());
        writer.finish().unwrap();
    }

    /// Joins the parts. None if the request was refused; none inside if the grant was already used.
    #[expect(clippy::option_option)]
    fn join(&self, grant: &TestGrant, upload: &Upload) -> Option<Option<JoinedUpload>> {
        check(grant_uploads::join(&self.market, &self.vendor, &grant.token, upload.id, &[]))
    }

    fn complete(&self, grant: &TestGrant, upload: &Upload, joined: Option<JoinedUpload>) {
        let was_joined = joined.is_some();
        let completed = self.market.write_blocking(|writer| {
            grant_uploads::complete(writer, &self.vendor, &grant.token, BASE, upload.id, joined.as_ref())
        });
        grant_uploads::finish_completion(&self.market, joined);
        match completed {
            Ok(_) => *grant.completed.lock().unwrap() += 1,
            Err(error) if !was_joined => assert_eq!(error.code(), Some(Code::GrantConsumed), "{error:?}"),
            Err(error) => drop(check::<()>(Err(error))),
        }
    }

    fn sweep(&self) {
        cleanup::sweep(&self.market).unwrap();
    }

    /// Takes a client one step further.
    fn step(&self, grants: &[TestGrant], client: &mut Client, choice: usize) {
        *client = match std::mem::replace(client, Client::Idle) {
            Client::Idle => self.begin(grants, choice),
            // The process is killed: nothing else of the request happens.
            _ if choice.is_multiple_of(8) => Client::Idle,
            Client::Planning(grant, file, prepared) => {
                self.plan(&grants[grant], file, prepared);
                Client::Idle
            }
            Client::Sending(file, writer) => {
                Uploads::finish_part(file, writer);
                Client::Idle
            }
            Client::Completing(grant, upload, joined) => {
                self.complete(&grants[grant], &upload, joined);
                Client::Idle
            }
        };
    }

    /// Begins a request.
    fn begin(&self, grants: &[TestGrant], choice: usize) -> Client {
        let at = choice % grants.len();
        let (grant, choice) = (&grants[at], choice / grants.len());
        // Mostly the same file, since only that completes.
        let (file, choice) = ([0, 0, 0, 0, 1, 2][choice % 6], choice / 6);
        let known = grant.known.lock().unwrap().clone();
        // Mostly the latest upload, sometimes one that was replaced.
        let upload = known.iter().rev().nth(usize::from(choice.is_multiple_of(5))).or(known.last());
        let begun = match (choice % 12, upload) {
            (0..4, _) | (_, None) => {
                self.prepare(grant, file).map(|prepared| Client::Planning(at, file, prepared))
            }
            (4..7, Some(upload)) if upload.layout.size_bytes == FILES[file].len() as u64 => {
                self.start_part(upload, file).map(|writer| Client::Sending(file, writer))
            }
            (4..10, Some(upload)) => {
                let joined = self.join(grant, upload);
                joined.map(|joined| Client::Completing(at, upload.clone(), joined))
            }
            (10, _) => {
                self.sweep();
                None
            }
            _ => {
                if choice % 480 == 11 {
                    // Fails if the grant was used.
                    let _ =
                        self.market.write_blocking(|writer| operations::grants::revoke(writer, grant.row_id));
                }
                None
            }
        };
        begun.unwrap_or(Client::Idle)
    }

    /// Checks that each grant was used at most once, that every acknowledged file is there, and that nothing
    /// else is left when all grants are closed.
    fn check_files(&self, grants: &[TestGrant], count_files: impl Fn() -> usize) -> usize {
        let mut acknowledged = 0;
        for grant in grants {
            let completed = *grant.completed.lock().unwrap();
            assert!(completed <= 1, "a grant was used {completed} times");
            acknowledged += completed as usize;
            drop(self.market.write_blocking(|writer| operations::grants::revoke(writer, grant.row_id)));
        }
        self.sweep();
        assert_eq!(operations::uploads::find_damaged(&self.market).unwrap(), Vec::<String>::new());
        assert_eq!(count_files(), acknowledged);
        acknowledged
    }
}

/// Returns the number of files in the built-in store, including those of unfinished uploads.
fn count_files(market: &TestMarket) -> usize {
    ["uploads", "staged"]
        .iter()
        .filter_map(|name| std::fs::read_dir(market.market().data_dir().join("blobs").join(name)).ok())
        .map(Iterator::count)
        .sum()
}

/// Runs random interleavings of the steps of four clients. Returns the number of acknowledged uploads.
fn run_interleavings(uploads: &Uploads, cases: u32, count_files: impl Fn() -> usize) -> usize {
    let total = std::cell::Cell::new(0);
    let steps = prop::collection::vec((0..4_usize, 0..100_000_usize), 60);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let run = |steps: Vec<(usize, usize)>| {
        let before = total.get();
        let grants = [uploads.create_grant(), uploads.create_grant()];
        let mut clients = [Client::Idle, Client::Idle, Client::Idle, Client::Idle];
        for (client, choice) in steps {
            uploads.step(&grants, &mut clients[client], choice);
        }
        drop(clients);
        total.set(before + uploads.check_files(&grants, || count_files() - before));
        Ok(())
    };
    TestRunner::new(config).run(&steps, run).unwrap();
    total.get()
}

#[test]
fn interleaved_uploads_lose_no_acknowledged_byte() {
    let market = empty_market();
    let uploads = Uploads::new(&market, None);
    let acknowledged = run_interleavings(&uploads, 48, || count_files(&market));
    assert!(acknowledged > 10, "only {acknowledged} uploads were completed, so the test proves little");
}

#[test]
fn interleaved_uploads_to_s3_lose_no_acknowledged_byte() {
    let store = s3::S3Server::start();
    let market = TestMarket::with_settings(|settings| store.configure(settings));
    small_market::seed_market(&market, &[], &serde_json::json!({}));
    let uploads = Uploads::new(&market, Some(Runtime::new().unwrap()));
    let acknowledged = run_interleavings(&uploads, 6, || store.object_names().len());
    assert!(acknowledged > 0, "no upload was completed, so the test proves nothing");
}

#[test]
fn concurrent_clients_lose_no_acknowledged_byte() {
    const CLIENTS: u64 = 6;
    let market = empty_market();
    let uploads = Arc::new(Uploads::new(&market, None));
    let mut acknowledged = 0;
    for round in 0..12 {
        let grants = Arc::new([uploads.create_grant()]);
        let barrier = Arc::new(Barrier::new(CLIENTS as usize));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (uploads, grants, barrier) =
                    (Arc::clone(&uploads), Arc::clone(&grants), Arc::clone(&barrier));
                std::thread::spawn(move || {
                    let (mut random, mut client) = (Random::new(round * CLIENTS + client + 1), Client::Idle);
                    barrier.wait();
                    for _ in 0..40 {
                        uploads.step(&*grants, &mut client, random.below(100_000) as usize);
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        acknowledged += uploads.check_files(&*grants, || count_files(&market) - acknowledged);
    }
    assert!(acknowledged > 0, "no upload was completed, so the test proves nothing");
}

/// The attack: while one request completes an upload, others plan it again with another digest and complete
/// that.
#[test]
fn plan_with_another_digest_cannot_delete_an_upload_that_is_being_completed() {
    let market = empty_market();
    let (uploads, conflict) = (Uploads::new(&market, None), Some(Code::Conflict));
    let (grant, upload) = uploads.send_first_file();
    let joined = uploads.join(&grant, &upload).unwrap();
    assert!(joined.is_some());
    let code = |error: Error| error.code();
    let again = uploads.prepare(&grant, 1).unwrap();
    let planned = uploads.market.write_blocking(|writer| {
        grant_uploads::plan(&uploads.market, writer, &uploads.vendor, &grant.token, file_input(1), &again)
    });
    assert_eq!(planned.err().and_then(code), conflict);
    let joined_again = grant_uploads::join(&uploads.market, &uploads.vendor, &grant.token, upload.id, &[]);
    assert_eq!(joined_again.err().and_then(code), conflict);
    let replaced = grant_uploads::prepare(&uploads.market, &uploads.vendor, &grant.token, &file_input(2));
    assert_eq!(replaced.err().and_then(code), conflict);
    let part = grant_uploads::start_part(
        &uploads.market,
        uploads.vendor.requester(),
        upload.id,
        1,
        upload.layout.size_bytes,
    );
    assert_eq!(part.err().and_then(code), conflict);
    uploads.sweep();
    uploads.complete(&grant, &upload, joined);
    // The second request to complete it learns that the grant was used.
    let joined_again = uploads.join(&grant, &upload).unwrap();
    uploads.complete(&grant, &upload, joined_again);
    assert_eq!(uploads.check_files(&[grant], || count_files(&market)), 1);
}

/// A grant that is revoked while its upload is completed is not used, and its bytes are deleted in the end.
#[test]
fn upload_is_not_completed_after_its_grant_was_revoked() {
    let market = empty_market();
    let uploads = Uploads::new(&market, None);
    let (grant, upload) = uploads.send_first_file();
    let joined = uploads.join(&grant, &upload).unwrap();
    operations::grants::revoke_and_delete(&uploads.market, grant.row_id).unwrap();
    assert_eq!(cleanup::sweep(&uploads.market).unwrap().in_use, 1);
    assert_eq!(count_files(&market), 1, "the upload is in use");
    uploads.complete(&grant, &upload, joined);
    assert_eq!(count_files(&market), 0);
    assert_eq!(uploads.check_files(&[grant], || count_files(&market)), 0);
}
