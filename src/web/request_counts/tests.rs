use super::*;

fn counts() -> RequestCounts {
    let operations = [
        ("catalog", "get_thing", Method::GET, "/v2/things/{thing_id}"),
        ("vendor", "list_things", Method::GET, "/v2/vendor/things"),
        ("vendor", "add_thing", Method::POST, "/v2/vendor/things"),
    ];
    RequestCounts::new(operations.iter().map(|(api, operation, method, route)| CountedOperation {
        api,
        operation,
        method,
        route,
    }))
}

#[test]
fn requests_are_counted_by_operation_and_class_of_status() {
    let counts = counts();
    for (method, route, status, expected) in [
        (Method::GET, Some("/v2/things/{thing_id}"), 200, "catalog get_thing 2xx"),
        (Method::HEAD, Some("/v2/things/{thing_id}"), 304, "catalog get_thing 3xx"),
        (Method::POST, Some("/v2/vendor/things"), 422, "vendor add_thing 4xx"),
        (Method::DELETE, Some("/v2/vendor/things"), 405, "none unknown 4xx"),
        (Method::GET, None, 404, "none unknown 4xx"),
        (Method::GET, Some("/console/inventory"), 200, "console get_page 2xx"),
        (Method::POST, Some("/console/inventory"), 303, "console send_form 3xx"),
        (Method::POST, Some("/v2/mcp/"), 200, "mcp send_message 2xx"),
        (Method::PUT, Some("/v2/blobs/uploads/:upload/:part"), 503, "files upload_part 5xx"),
        (Method::GET, Some("/v2/blobs/bundles/:listing"), 206, "files download_bundle 2xx"),
        (Method::GET, Some("/"), 200, "pages get_page 2xx"),
    ] {
        let (duration, times) = (Duration::from_millis(3), CostTimes::default());
        let before = total(&counts, expected);
        counts.count(&EndedRequest { method: &method, route, is_of_world: false, status, duration, times });
        assert_eq!(total(&counts, expected), before + 1, "{method} {route:?}");
    }
}

fn total(counts: &RequestCounts, name: &str) -> u64 {
    let name_of =
        |counted: &OperationCount| format!("{} {} {}", counted.api, counted.operation, counted.status);
    counts.operations().filter(|counted| name_of(counted) == name).map(|counted| counted.count).sum()
}

#[test]
fn times_are_counted_by_api_and_access() {
    let counts = counts();
    let mut ended = EndedRequest {
        method: &Method::GET,
        route: Some("/v2/vendor/things"),
        is_of_world: false,
        status: 200,
        duration: Duration::from_millis(1),
        times: CostTimes { read: Duration::from_secs(2), ..CostTimes::default() },
    };
    counts.count(&ended);
    (ended.duration, ended.status) = (Duration::from_secs(11), RATE_LIMITED);
    counts.count(&ended);
    ended.is_of_world = true;
    counts.count(&ended);
    let found: Vec<ApiDurations> = counts.durations().collect();
    assert_eq!(
        found.iter().map(|times| (times.api, times.access)).collect::<Vec<_>>(),
        [("worlds", "read"), ("vendor", "read")]
    );
    assert_eq!((found[1].buckets[0], found[1].buckets[BOUNDS.len()]), ((0.001, 1), (f64::INFINITY, 1)));
    assert_eq!((found[1].seconds * 1e3) as u64, 11_001);
    assert_eq!((counts.rate_limited(), counts.worked()), (2, [6.0, 0.0]));
    let running = counts.begin();
    assert_eq!(counts.in_flight(), 1);
    drop(running);
    assert_eq!(counts.in_flight(), 0);
}
