use tokio_rustls::{
    TlsAcceptor, TlsConnector,
    rustls::{ClientConfig, RootCertStore, ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

use super::*;

/// Returns what a server and a client need for TLS with a new certificate.
fn new_pair() -> (TlsAcceptor, TlsConnector) {
    let pair = rcgen::generate_simple_self_signed(["a".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(pair.signing_key.serialize_der()).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pair.cert.der().clone()], key);
    let mut roots = RootCertStore::empty();
    roots.add(pair.cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server.unwrap())), TlsConnector::from(Arc::new(client)))
}

/// The rate is measured below TLS, so that data in the buffers of TLS does not hide a slow client.
#[tokio::test(start_paused = true)]
async fn client_with_tls_that_reads_too_slowly_is_disconnected() {
    let settings = settings(|settings| settings.min_bytes_per_second = 1024);
    for bytes in [1, 100, 900] {
        let (client_end, server_end) = tokio::io::duplex(1 << 10);
        let (acceptor, connector) = new_pair();
        let limits = ConnectionLimits::new(&settings, REFUSALS);
        let table = ConnectionTable::new(TableLimits::new(&settings), TrustedProxies::default());
        let served = tokio::spawn(async move {
            let ends = test_ends();
            let open = table.admit(ends.remote.ip()).await.unwrap();
            let stream = acceptor.accept(limits.limit_rate(server_end)).await.unwrap();
            let (_stopping, stopped) = watch::channel(());
            let app = Arc::new(app(Arc::default()));
            http::serve_connection(app, stream, &limits, ends, open.connection(), stopped).await
        });
        let mut end = connector.connect("a".try_into().unwrap(), client_end).await.unwrap();
        end.write_all(BIG_GET).await.unwrap();
        let start = Instant::now();
        let reading = tokio::spawn(async move {
            let mut buffer = vec![0; bytes];
            while end.read_exact(&mut buffer).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let served = served.await.unwrap();
        // A client reads whole records, so the windows in which it is measured differ more than without TLS.
        assert!(
            served.is_err() && start.elapsed().as_secs() <= 120,
            "{bytes} {served:?} {:?}",
            start.elapsed()
        );
        reading.abort();
    }
}
