//! One team cannot block the readers for another team, with any requests and any number of connections.

use std::{fmt::Write, sync::mpsc};

use futures_util::{StreamExt, stream::FuturesUnordered};
use marketplace::market::{Requester, WorkOwner, max_blocking_threads};
use poem::http::Method;
use serde_json::json;

use crate::harness::TestMarket;

/// The team that sends many expensive requests, and the other team.
const GREEDY: &str = "mkt_demo_vendor";
const HONEST: &str = "mkt_demo_both";

/// Number of requests of the first team that wait at the same time.
const FLOOD: usize = 40;

/// Enough turns of the runtime for a request to reach the queue of the readers.
const TURNS: usize = 200;

/// Returns a market with one reader, so that the reads run one after another.
async fn market_with_one_reader() -> TestMarket {
    let market = TestMarket::demo_with_settings(|settings| settings.data.readers = 1);
    // A request with a new key also reads the key.
    market.get(GREEDY, "/v2/wallet").await.ok();
    market.get(HONEST, "/v2/wallet").await.ok();
    market
}

/// Returns a list of assets with as many expensive filters as are allowed.
fn expensive_path() -> String {
    (0..20).fold("/v2/assets?sort=estimate".to_owned(), |mut path, number| {
        write!(path, "&filter=ran_on_model:is_not:m{number}").unwrap();
        path
    })
}

/// Sends the flood while the reader is busy, then a search of the other team. Returns how many requests of
/// the flood are answered before the search.
async fn answered_before_search(market: &TestMarket, flood: impl AsyncFn()) -> usize {
    let (release, released) = mpsc::channel::<()>();
    let mut occupying = std::pin::pin!(market.market().read(Requester::process(), move |_| {
        released.recv().ok();
        Ok(())
    }));
    assert!(futures_util::poll!(&mut occupying).is_pending());
    let mut floods: FuturesUnordered<_> = (0..FLOOD).map(|_| flood()).collect();
    for _ in 0..TURNS {
        assert!(futures_util::poll!(floods.next()).is_pending(), "the reader is busy");
        tokio::task::yield_now().await;
    }
    let mut search = std::pin::pin!(market.get(HONEST, "/v2/listings/browse?query=cobol"));
    for _ in 0..TURNS {
        assert!(futures_util::poll!(&mut search).is_pending(), "the reader is busy");
        tokio::task::yield_now().await;
    }
    release.send(()).unwrap();
    let mut answered = 0;
    loop {
        tokio::select! {
            biased;
            response = &mut search => {
                response.ok();
                break;
            }
            Some(()) = floods.next() => answered += 1,
        }
    }
    assert_eq!(answered + floods.count().await, FLOOD, "every request is answered in the end");
    occupying.await.unwrap();
    answered
}

#[tokio::test]
async fn search_waits_for_few_reads_of_another_team() {
    let market = market_with_one_reader().await;
    let path = expensive_path();
    let flood = async || {
        market.get(GREEDY, &path).await.ok();
    };
    let answered = answered_before_search(&market, flood).await;
    assert!(answered <= 2, "{answered} requests of the other team were answered first");
}

/// The calls of an agent are requests of its team.
#[tokio::test]
async fn search_waits_for_few_tool_calls_of_another_team() {
    let market = market_with_one_reader().await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "list_assets", "arguments": {}},
    });
    let headers = [
        ("host", "market.test"),
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("x-api-key", GREEDY),
    ];
    let flood = async || {
        let body = call.to_string().into_bytes();
        let response = market.send_body(Method::POST, "/v2/mcp/", &headers, body).await;
        assert_eq!(response.ok()["result"]["isError"], false);
    };
    let answered = answered_before_search(&market, flood).await;
    assert!(answered <= 2, "{answered} calls of the other team were answered first");
}

#[tokio::test]
async fn list_takes_at_most_20_filters() {
    let market = TestMarket::demo();
    let path = expensive_path();
    market.get(GREEDY, &path).await.ok();
    let response = market.get(GREEDY, &format!("{path}&filter=name:is:x")).await;
    assert_eq!(response.problems(), ["query.filter too_long"]);
}

/// Work that has got the writer finds a thread, even if as many requests as there are connections wait
/// for the writer on threads.
#[test]
fn waiting_requests_leave_threads_for_work() {
    let market = TestMarket::with_settings(|settings| {
        (settings.limits.bodies, settings.server.max_connections) = (0, 1);
    });
    let threads = max_blocking_threads(market.market().settings());
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(threads).build().unwrap();
    let team = |number: u8| Requester::unmetered(WorkOwner::Client([192, 0, 2, number].into()));
    runtime.block_on(async {
        let (release, released) = mpsc::channel::<()>();
        let mut occupying = std::pin::pin!(market.market().write(Requester::process(), move |_| {
            released.recv().ok();
            Ok(())
        }));
        assert!(futures_util::poll!(&mut occupying).is_pending());
        let mut waiting: FuturesUnordered<_> = (0..threads * 2)
            .map(|_| {
                market.market().spawn_blocking(move |market| market.write_blocking_for(team(1), |_| Ok(())))
            })
            .collect();
        assert!(futures_util::poll!(waiting.next()).is_pending());
        let mut other = std::pin::pin!(market.market().write(team(2), |_| Ok(())));
        assert!(futures_util::poll!(&mut other).is_pending());
        release.send(()).unwrap();
        occupying.await.unwrap();
        other.await.unwrap();
        while let Some(written) = waiting.next().await {
            written.unwrap();
        }
    });
}
