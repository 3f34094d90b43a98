//! Limits of journals: number of requests, memory, and disk space.

use std::{fs, sync::Arc};

use marketplace::{
    domain::time::Timestamp,
    worlds::journal::{
        AnswerHead, Coverage, Ending, Header, INLINE_BYTES, Journal, MAX_ENTRIES, MAX_MEMORY, Origin,
        Recording, RequestHead, SharedSpace,
    },
};

fn request(path: String, header_bytes: usize) -> RequestHead {
    RequestHead {
        origin: Origin::World,
        is_by_port: false,
        method: "GET".to_owned(),
        path,
        query: None,
        version: "HTTP/1.1",
        operation: None,
        headers: vec![Header { name: "x".to_owned(), value: vec![b'x'; header_bytes] }],
        has_key: false,
    }
}

fn add(journal: &Arc<Journal>, number: usize, header_bytes: usize, body: &[u8]) {
    let recording = Recording::start(journal, request(format!("/{number}"), header_bytes));
    recording.admit(Timestamp(0));
    recording.request_body().append(body);
    recording.request_body().end(true);
    let answer = AnswerHead {
        status: 200,
        code: None,
        headers: vec![],
        request_id: None,
        is_sent: true,
        is_executed: true,
    };
    recording.end(Ending { key: None, fault_id: None, answer }, Timestamp(0));
}

#[test]
fn oldest_requests_are_dropped_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let journal =
        Journal::new(SharedSpace::new(0), directory.path().join("journal"), Arc::new(Coverage::default()));
    for number in 1..=MAX_ENTRIES + 10 {
        add(&journal, number, 0, b"");
    }
    let page = journal.list(0, usize::MAX, |_| true);
    assert_eq!((page.entries.len(), page.dropped, page.last), (MAX_ENTRIES, 10, MAX_ENTRIES as u64 + 10));
    assert_eq!((page.entries[0].number, page.entries[0].request.path.as_str()), (11, "/11"));
    // Entries that are still used count.
    drop(page);
    // Bodies and headers in memory count, too.
    let each = 60_000;
    for number in 0..300 {
        add(&journal, number, each / 2, &vec![b'x'; each / 2]);
    }
    let kept = journal.list(0, usize::MAX, |_| true).entries.len() as u64;
    assert!((100..=MAX_MEMORY / each as u64).contains(&kept), "{kept}");
    // Longer bodies are in files, which are deleted with their entries.
    let files = || fs::read_dir(directory.path().join("journal")).unwrap().count();
    for number in 0..10 {
        add(&journal, number, 0, &vec![0; INLINE_BYTES + 1]);
    }
    assert_eq!(files(), 10);
    journal.clear();
    assert_eq!((files(), journal.list(0, 1, |_| true).entries.len()), (0, 0));
}

#[test]
fn files_of_all_journals_share_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let shared = SharedSpace::new(4 * 100_000);
    let journals = ["a", "b"].map(|name| {
        Journal::new(Arc::clone(&shared), directory.path().join(name), Arc::new(Coverage::default()))
    });
    for journal in &journals {
        add(journal, 1, 0, &vec![1; 70_000]);
    }
    let kept = journals
        .each_ref()
        .map(|journal| journal.list(0, 1, |_| true).entries[0].request_body.snapshot().is_kept);
    assert_eq!(kept, [true, false]);
}
