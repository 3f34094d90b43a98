//! The end of each request is where the HTTP library sees it.

use http_body_util::BodyExt as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use proptest::prelude::*;

use super::{framing::Framing, *};

/// Returns the targets of the requests that the HTTP library alone takes from these bytes.
fn targets_of_library(bytes: &[u8]) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut end, server_end) = tokio::io::duplex(1 << 16);
        end.write_all(bytes).await.unwrap();
        end.shutdown().await.unwrap();
        let targets = std::sync::Mutex::new(Vec::new());
        let service = service_fn(|request: poem::http::Request<Incoming>| {
            targets.lock().unwrap().push(request.uri().path().to_owned());
            async move {
                let _ = request.into_body().collect().await;
                Ok::<_, std::convert::Infallible>(poem::http::Response::new(String::new()))
            }
        });
        let _ = http1::Builder::new().serve_connection(TokioIo::new(server_end), service).await;
        targets.into_inner().unwrap()
    })
}

/// Returns the targets of the heads in these bytes, up to where they are malformed, and the number of bytes until
/// there.
fn targets_of_framing(bytes: &[u8]) -> (Vec<String>, usize) {
    let mut framing = Framing::default();
    let (mut targets, mut head) = (Vec::new(), Vec::new());
    for (at, byte) in bytes.iter().enumerate() {
        if framing.advance(&[*byte]).is_err() {
            return (targets, at);
        }
        head.push(*byte);
        if !framing.is_in_head() {
            if head.ends_with(b"\r\n\r\n") {
                let text = String::from_utf8_lossy(&head).into_owned();
                targets.extend(text.split_whitespace().nth(1).map(str::to_owned));
            }
            head.clear();
        }
    }
    (targets, bytes.len())
}

fn piece(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(texts)
}

prop_compose! {
    /// A request with a chunked body, whose line ends may be malformed.
    fn chunked_request()(
        chunks in prop::collection::vec(piece(&["1\r\na\r\n", "02;x\r\n\n\n\r\n", "1 \r\n\n\r\n"]), 0..2),
        last in piece(&["0\r\n", "0\r\n", "0\r\n", "00;x=\"y\"\r\n", "0\n", "0\r"]),
        trailers in prop::collection::vec(
            (piece(&["", "x: y", "content-length: 9"]), piece(&["\r\n", "\r\n", "\r\n", "\n", "\r\r\n", "\r"])),
            0..4,
        ),
        end in piece(&["\r\n", "\r\n", "\n", ""]),
    ) -> String {
        let trailers = trailers.into_iter().flat_map(|(text, end)| [text, end]);
        let body: String = chunks.into_iter().chain([last]).chain(trailers).chain([end]).collect();
        format!("PUT /chunked HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{body}")
    }
}

proptest! {
    #[test]
    fn library_serves_no_request_whose_head_is_not_checked(
        requests in prop::collection::vec(chunked_request(), 1..3),
        rest in piece(&["", "GET /bare HTTP/1.1\nhost: a\n\n"]),
    ) {
        let followed = requests.iter().enumerate().map(|(at, request)| {
            format!("{request}GET /{at} HTTP/1.1\r\nhost: a\r\n\r\n")
        });
        let bytes = format!("{}{rest}", followed.collect::<String>()).into_bytes();
        let (checked, end) = targets_of_framing(&bytes);
        // Requests that the library receives from malformed bytes.
        let received = if end < bytes.len() { [&bytes[..end], b"\0\r\n\r\n"].concat() } else { bytes };
        let served = targets_of_library(&received);
        prop_assert!(checked.starts_with(&served), "{served:?} {checked:?}");
    }
}

#[test]
fn valid_trailers_are_accepted() {
    let requests = "PUT /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\nx: y\r\n\
                    z: content-length: 9\r\n\r\nGET /b HTTP/1.1\r\nhost: a\r\n\r\n";
    let expected = ["/a".to_owned(), "/b".to_owned()];
    assert_eq!(targets_of_framing(requests.as_bytes()), (expected.to_vec(), requests.len()));
    assert_eq!(targets_of_library(requests.as_bytes()), expected);
}

#[tokio::test(start_paused = true)]
async fn request_after_a_malformed_trailer_is_not_served() {
    for path in ["/no", "/echo"] {
        for trailer in [
            "x: y\n\r\nfoo: bar\r\ncontent-length: 5000\r\n\r\n",
            "x: y\n\n",
            "x: y\r\n\n",
            "\n",
            "x: y\n\r\n",
        ] {
            for rest in [GET, b"GET / HTTP/1.1\nhost: a\n\n"] {
                let mut end = connect();
                let request = format!(
                    "POST {path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n{trailer}"
                );
                end.write_all(&[request.as_bytes(), rest].concat()).await.unwrap();
                let response = Received::read(&mut end).await.unwrap();
                assert!(response.closes() && response.status.is_client_error(), "{response:?} {trailer:?}");
                assert_eq!(read_all(end).await, "", "{trailer:?}");
            }
        }
    }
}
