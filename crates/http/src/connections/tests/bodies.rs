use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;

use super::*;

/// Sends a request with a body. The client writes the whole body before it reads the response, like many clients.
async fn post<S: AsyncRead + AsyncWrite + Unpin>(
    end: &mut S,
    path: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<Received> {
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    end.write_all(head.as_bytes()).await?;
    end.write_all(body).await?;
    Received::read(end).await
}

#[tokio::test]
async fn rest_of_a_refused_body_does_not_disturb_the_next_request() {
    let (address, _stop, _served) = listening::server(|_| {}, Arc::default());
    let mut end = None;
    let mut connections = 0;
    for at in 0..300 {
        // Around the 64 KB that are received after the response, and above.
        let body = vec![b'x'; [100_000, 1, 65_536, 65_537, 5_000, 1_000_000][at % 6]];
        let mut socket = match end.take() {
            Some(socket) => socket,
            None => {
                connections += 1;
                TcpStream::connect(address).await.unwrap()
            }
        };
        let path = if at % 5 == 4 { "/echo" } else { "/nowhere" };
        let response = post(&mut socket, path, "", &body).await.unwrap();
        assert_eq!(response.status, if at % 5 == 4 { 200 } else { 404 }, "{at}");
        assert_eq!(response.closes(), at % 5 != 4 && body.len() > 65_536, "{at}");
        end = (!response.closes()).then_some(socket);
    }
    assert!((100..200).contains(&connections), "{connections}");
}

/// The client of hyper reads while it writes, so it receives a response in the middle of its body.
#[tokio::test]
async fn every_request_of_hyper_gets_its_response() {
    let (address, _stop, _served) = listening::server(|_| {}, Arc::default());
    let mut idle: Option<SendRequest<Full<Bytes>>> = None;
    for at in 0..300 {
        let mut client = match idle.take() {
            Some(client) => client,
            None => {
                let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
                let (client, connection) = handshake(socket).await.unwrap();
                tokio::spawn(connection);
                client
            }
        };
        let length = [0, 1, 5_000, 65_536, 65_537, 300_000, 3_000_000][at % 7];
        let (path, status) = if at % 4 == 3 { ("/echo", 200) } else { ("/nowhere", 404) };
        let body = Full::from(vec![b'x'; length]);
        let request = hyper::Request::post(path).header("host", "a").body(body).unwrap();
        client.ready().await.unwrap();
        let response = client.send_request(request).await.unwrap();
        assert_eq!(response.status(), status, "{at}");
        let closes = response.headers().contains_key("connection");
        assert_eq!(closes, status == 404 && length > 65_536, "{at}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(status == 404 || body == length.to_string().as_bytes(), "{at}");
        idle = (!closes).then_some(client);
    }
}

#[tokio::test(start_paused = true)]
async fn rest_that_does_not_arrive_closes_the_connection_after_a_second() {
    for (headers, seconds) in [("content-length: 100", 1), ("content-length: 100000", 0)] {
        let mut end = connect();
        let start = Instant::now();
        end.write_all(format!("POST /no HTTP/1.1\r\nhost: a\r\n{headers}\r\n\r\nx").as_bytes())
            .await
            .unwrap();
        let response = Received::read(&mut end).await.unwrap();
        assert!(response.status == 404 && response.closes());
        assert_eq!(start.elapsed().as_secs(), seconds);
        assert_eq!(read_all(&mut end).await, "");
        assert!(end.write_all(b"x").await.is_err() || start.elapsed().as_secs() <= seconds + 5);
    }
    // At most 64 KB of a chunked body are received, too.
    let mut end = connect();
    end.write_all(b"POST /no HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n20000\r\n")
        .await
        .unwrap();
    let (mut reader, mut writer) = tokio::io::split(end);
    tokio::spawn(async move { while writer.write_all(&[b'x'; 1000]).await.is_ok() {} });
    assert!(Received::read(&mut reader).await.unwrap().closes());
}

#[tokio::test(start_paused = true)]
async fn continue_is_sent_only_if_the_body_is_read() {
    let expect = "expect: 100-continue\r\ncontent-length: 3\r\n";
    let mut end = connect();
    end.write_all(format!("POST /no HTTP/1.1\r\nhost: a\r\n{expect}\r\n").as_bytes()).await.unwrap();
    let start = Instant::now();
    let response = Received::read(&mut end).await.unwrap();
    assert!(response.status == 404 && response.closes() && start.elapsed().is_zero());
    let mut end = connect();
    end.write_all(format!("POST /echo HTTP/1.1\r\nhost: a\r\n{expect}\r\n").as_bytes()).await.unwrap();
    assert_eq!(Received::read(&mut end).await.unwrap().status, 100);
    end.write_all(b"abc").await.unwrap();
    let response = Received::read(&mut end).await.unwrap();
    assert!(response.body == b"3" && !response.closes());
}

#[tokio::test(start_paused = true)]
async fn body_is_no_longer_read_by_work_that_continues_after_the_response() {
    let (failed, failure) = oneshot::channel();
    let failed = std::sync::Mutex::new(Some(failed));
    let app = make(move |mut request: Request| {
        let failed = failed.lock().unwrap().take();
        async move {
            let body = request.take_body();
            tokio::spawn(async move {
                let result = body.into_vec().await;
                failed.map(|failed| failed.send(result.is_err()))
            });
            // The work has begun to wait for the body.
            sleep(Duration::from_millis(1)).await;
            Response::builder().status(StatusCode::SERVICE_UNAVAILABLE).finish()
        }
    });
    let (mut end, server_end) = tokio::io::duplex(1 << 16);
    let settings = settings(|_| {});
    let table = ConnectionTable::new(TableLimits::new(&settings), TrustedProxies::default());
    let ends = test_ends();
    tokio::spawn(async move {
        let open = table.admit(ends.remote.ip()).await.unwrap();
        let (_stopping, stopped) = watch::channel(());
        let limits = ConnectionLimits::new(&settings, REFUSALS);
        http::serve_connection(
            Arc::new(app),
            limits.limit_rate(server_end),
            &limits,
            ends,
            open.connection(),
            stopped,
        )
        .await
    });
    end.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nab").await.unwrap();
    assert_eq!(Received::read(&mut end).await.unwrap().status, 503);
    assert!(failure.await.unwrap(), "its body ends with an error");
}
