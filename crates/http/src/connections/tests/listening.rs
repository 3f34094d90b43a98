use super::*;

type Served = JoinHandle<io::Result<()>>;

/// Starts a server on a free port. Returns its address, a channel that stops it, and its task.
pub fn server(
    change: impl FnOnce(&mut ConnectionSettings),
    gate: Arc<Gate>,
) -> (SocketAddr, oneshot::Sender<()>, Served) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let settings = settings(change);
    let (stop, stopped) = oneshot::channel();
    let stopped = async { drop(stopped.await) };
    let served = tokio::spawn(async move {
        serve(app(gate), listener, &settings, REFUSALS, Signals::default(), stopped).await
    });
    (address, stop, served)
}

async fn send(address: SocketAddr, request: &[u8]) -> TcpStream {
    let mut end = TcpStream::connect(address).await.unwrap();
    end.write_all(request).await.unwrap();
    end
}

const SLOW_GET: &[u8] = b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n";

/// Waits until the server has read the sent data: it then responds to a later request.
async fn settle(address: SocketAddr) {
    let mut end = send(address, LAST_GET).await;
    assert_eq!(Received::read(&mut end).await.unwrap().status, 200);
    assert_eq!(read_all(end).await, "");
}

#[tokio::test]
async fn stop_closes_idle_connections_and_drains_requests() {
    let gate = Arc::new(Gate::default());
    let (address, stop, served) = server(|_| {}, Arc::clone(&gate));
    let mut idle = TcpStream::connect(address).await.unwrap();
    let mut running = send(address, SLOW_GET).await;
    gate.started.notified().await;
    stop.send(()).unwrap();
    assert_eq!(read_all(&mut idle).await, "", "an idle connection is closed");
    assert!(!served.is_finished());
    gate.release.notify_one();
    assert_eq!(Received::read(&mut running).await.unwrap().body, b"slow");
    served.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn client_is_served_while_others_hold_all_connections() {
    let gate = Arc::new(Gate::default());
    let limit = |settings: &mut ConnectionSettings| settings.max_connections = 16;
    let (address, _stop, _served) = server(limit, Arc::clone(&gate));
    let mut running = send(address, SLOW_GET).await;
    gate.started.notified().await;
    let mut attackers = Vec::new();
    for at in 0..300 {
        // Without a byte, with a part of a head, and idle after a response.
        attackers.push(send(address, [b"" as &[u8], b"GET / HTTP/1.1\r\nx: ", GET][at % 3]).await);
        if at % 20 == 0 {
            settle(address).await;
        }
    }
    settle(address).await;
    let mut bytes = Vec::new();
    let _ = attackers[0].read_to_end(&mut bytes).await;
    gate.release.notify_one();
    assert_eq!(Received::read(&mut running).await.unwrap().body, b"slow", "a running request is not closed");
}

#[tokio::test]
async fn connection_beyond_those_with_requests_waits_or_is_closed() {
    let gate = Arc::new(Gate::default());
    let (address, _stop, _served) = server(|settings| settings.max_connections = 1, Arc::clone(&gate));
    let mut first = send(address, SLOW_GET).await;
    gate.started.notified().await;
    let mut second = send(address, GET).await;
    let result = tokio::time::timeout(Duration::from_millis(20), second.read_u8()).await;
    assert!(result.is_err(), "the connection limit is reached");
    gate.release.notify_one();
    assert_eq!(Received::read(&mut first).await.unwrap().body, b"slow");
    assert_eq!(Received::read(&mut second).await.unwrap().status, 200);

    let (address, _stop, _served) =
        server(|settings| settings.max_connections_per_address = 1, Arc::clone(&gate));
    let _first = send(address, SLOW_GET).await;
    gate.started.notified().await;
    let mut bytes = Vec::new();
    // The server may close the connection before or after it reads the request, so the result does not
    // matter.
    let _ = send(address, GET).await.read_to_end(&mut bytes).await;
    assert!(bytes.is_empty());
}

#[tokio::test]
async fn client_that_takes_in_bulk_what_it_reads_slowly_is_served() {
    // With real sockets, the system takes much at once and then reports progress seldom.
    let (address, _stop, _served) = server(|_| {}, Arc::default());
    let mut end = send(address, &[BIG_GET, BIG_GET, BIG_GET, BIG_GET, LAST_GET].concat()).await;
    for _ in 0..4 {
        assert_eq!(Received::read(&mut end).await.unwrap().body.len(), BIG);
    }
    assert_eq!(Received::read(&mut end).await.unwrap().status, 200);
}

#[test]
fn connections_leave_half_of_the_descriptors() {
    let settings = ConnectionSettings { max_connections: 1_000, ..ConnectionSettings::default() };
    for (descriptors, expected) in [
        (None, (1_000, 64)),
        (Some(1 << 40), (1_000, 64)),
        (Some(2_128), (1_000, 64)),
        (Some(2_000), (936, 64)),
        (Some(96), (36, 12)),
        (Some(1), (1, 0)),
    ] {
        let (within, closing) = within_descriptors(&settings, descriptors);
        assert_eq!((within.max_connections, closing), expected, "{descriptors:?}");
    }
}
