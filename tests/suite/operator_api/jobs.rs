//! Background jobs, by operators.

use marketplace::{
    domain::{
        jobs::{JobKind, JobState, JobSubject},
        row_ids::JobRowId,
    },
    market::Writer,
    store,
};
use serde_json::{Value, json};

use super::calls::{Calls, each, id};

impl Calls {
    /// Posts the file of traces of no lines for a taskset, and returns the ID of the job that imports it.
    async fn enqueue_import(&self) -> (String, String) {
        let taskset = id("tasksets", "boreal-triage-notes");
        let market = self.market.market();
        let platform = marketplace::operations::access::Platform::of_process();
        let import = marketplace::operations::trace_imports::start(
            market,
            platform,
            taskset.parse().unwrap(),
            "traces.jsonl",
            &mut "\n".as_bytes(),
        );
        let jobs = self.get("jobs?kind=import_traces&state=waiting").await;
        (jobs["items"][0]["id"].as_str().unwrap().to_owned(), import.unwrap().to_string())
    }

    fn write(&self, work: impl FnOnce(&mut Writer)) {
        self.market
            .write(|writer| {
                work(writer);
                Ok(())
            })
            .unwrap();
    }
}

#[tokio::test]
async fn a_canceled_import_ends_as_failed() {
    let calls = Calls::new();
    let (job, import) = calls.enqueue_import().await;
    let waiting = calls.get(&format!("jobs/{job}")).await;
    assert_eq!((&waiting["state"], &waiting["subject_kind"]), (&json!("waiting"), &json!("trace_import")));
    assert_eq!(
        (&waiting["subject_id"], &waiting["team_id"]),
        (&json!(import), &json!(id("teams", "boreal-health")))
    );
    let canceled = calls.post(&format!("jobs/{job}/cancel"), Value::Null).await.ok();
    assert_eq!((&canceled["state"], &canceled["id"]), (&json!("cancelled"), &json!(job)));
    assert!(canceled["ended_at"].is_string() && canceled["due_at"].is_null());
    calls.assert_audited("cancel_job", "job", &json!(job)).await;
    assert_eq!(calls.last_event(), "traces.imported");
    assert_eq!(calls.get(&format!("trace-imports/{import}")).await["status"], "failed");
    assert_eq!(
        calls.refusal(&format!("jobs/{job}/cancel")).await,
        json!({"from": "cancelled", "allowed": ["retry"]})
    );
    // The file of the import is gone.
    assert_eq!(calls.post(&format!("jobs/{job}/retry"), Value::Null).await.expect_error(409), "conflict");
    assert_eq!(calls.get("jobs?state=cancelled").await["total"], 1);
}

#[tokio::test]
async fn a_running_job_can_be_canceled_but_not_retried() {
    let calls = Calls::new();
    let (job, _) = calls.enqueue_import().await;
    calls.write(|writer| {
        while let Some(claimed) =
            store::jobs::claim(writer.rows, JobKind::ImportTraces.queue(), 99, writer.now).unwrap()
        {
            if claimed.id().0.to_string() == job {
                break;
            }
        }
    });
    assert_eq!(calls.get(&format!("jobs/{job}")).await["state"], "running");
    assert_eq!(
        calls.refusal(&format!("jobs/{job}/retry")).await,
        json!({"from": "running", "allowed": ["cancel"]})
    );
    assert_eq!(calls.post(&format!("jobs/{job}/cancel"), Value::Null).await.ok()["state"], "cancelled");
}

#[tokio::test]
async fn a_waiting_job_is_retried_at_once_and_a_given_up_cleanup_again() {
    let calls = Calls::new();
    calls.write(|writer| writer.enqueue(JobKind::Cleanup, JobSubject::NONE).unwrap());
    calls.market.run_background();
    let cleanup = calls.get("jobs?kind=sweep").await["items"][0].clone();
    assert_eq!((&cleanup["subject_kind"], &cleanup["team_id"]), (&Value::Null, &Value::Null));
    let path = format!("jobs/{}", cleanup["id"].as_str().unwrap());
    assert!(cleanup["due_at"].as_str().unwrap() > "2026-03-01T09:00:00.000Z");
    let retried = calls.post(&format!("{path}/retry"), Value::Null).await.ok();
    assert_eq!((&retried["id"], &retried["due_at"]), (&cleanup["id"], &json!("2026-03-01T09:00:00.000Z")));
    assert_eq!(calls.post(&format!("{path}/cancel"), Value::Null).await.expect_error(409), "conflict");
    let ended = JobRowId(cleanup["id"].as_str().unwrap().parse().unwrap());
    calls.write(|writer| {
        store::jobs::record_end(writer.rows, ended, JobState::Failed, writer.now).unwrap();
        let found = store::jobs::find(writer.rows, ended).unwrap().unwrap();
        store::jobs::cancel(writer.rows, found.kind, found.subject).unwrap();
        // The next one waits already.
        writer.enqueue_at(found.kind, found.subject, writer.now.plus_micros(3_600_000_000)).unwrap();
    });
    assert_eq!(each(&calls.get("jobs?state=failed").await, "id"), [&cleanup["id"]]);
    let again = calls.post(&format!("{path}/retry"), Value::Null).await.ok();
    assert_eq!((&again["state"], &again["due_at"]), (&json!("waiting"), &json!("2026-03-01T09:00:00.000Z")));
    assert_ne!(again["id"], cleanup["id"], "another job");
    assert_eq!(calls.call("GET", &path, Value::Null).await.expect_error(404), "not_found");
}

#[tokio::test]
async fn data_whose_copy_was_given_up_is_copied_again() {
    let calls = Calls::with_settings(|settings| {
        // Nothing listens there.
        settings.repositories.github_url = "http://127.0.0.1:9".to_owned();
        settings.repositories.private_hosts = true;
    });
    let body = json!({"title": "Ferry", "exclusivity": "available",
        "data": {"channel": "github", "repo_full_name": "ferry/timetable"}});
    let codebase =
        calls.market.call("mkt_demo_vendor", "POST", "/v2/codebases", &body).await.expect_status(201);
    for _ in 0..6 {
        calls.market.run_background();
        calls.market.clock().advance(600_000_000);
    }
    let failed = calls.get("jobs?kind=copy_repository&state=failed").await["items"][0].clone();
    assert_eq!((&failed["subject_kind"], &failed["subject_id"]), (&json!("asset"), &codebase["id"]));
    let path = |job: &Value, verb: &str| format!("jobs/{}/{verb}", job["id"].as_str().unwrap());
    let retried = calls.post(&path(&failed, "retry"), Value::Null).await.ok();
    assert_eq!((&retried["state"], &retried["attempts"]), (&json!("waiting"), &json!(0)));
    assert_eq!(calls.get("jobs?kind=copy_repository&state=failed").await["total"], 0);
    let again = calls.post(&path(&retried, "retry"), Value::Null).await.ok();
    assert_eq!(again["id"], retried["id"], "it waits already");
    calls.post(&path(&retried, "cancel"), Value::Null).await.ok();
    let path = format!("/v2/codebases/{}", codebase["id"].as_str().unwrap());
    let found = calls.market.get("mkt_demo_vendor", &path).await.ok().to_string();
    assert!(found.contains("The platform canceled this."), "{found}");
}
