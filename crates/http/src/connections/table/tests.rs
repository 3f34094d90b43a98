use std::collections::BTreeMap;

use proptest::prelude::*;
use tokio::time::Instant;

use super::*;

const LIMITS: TableLimits = TableLimits { total: 16, per_network: 10, idle_per_network: 6 };

/// Returns an address of this client network.
fn address(network: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, network])
}

fn new_table(limits: TableLimits) -> Arc<ConnectionTable> {
    ConnectionTable::new(limits, TrustedProxies::default())
}

fn open(table: &Arc<ConnectionTable>, network: u8) -> OpenConnection {
    table.try_admit(address(network)).unwrap()
}

fn is_evicted(connection: &OpenConnection) -> bool {
    connection.connection.state.load(SeqCst) == EVICTED
}

#[test]
fn oldest_idle_connection_of_the_network_with_the_most_gives_way() {
    let table = new_table(TableLimits { per_network: 0, idle_per_network: 0, ..LIMITS });
    let honest: Vec<_> = (0..2).map(|_| open(&table, 1)).collect();
    let attackers: Vec<_> = (0..14).map(|at| open(&table, 2 + at % 2)).collect();
    attackers[0].connection().begin_request();
    let more = open(&table, 4);
    assert!(is_evicted(&attackers[1]), "a network with seven idle ones, not the one with six");
    assert!(attackers.iter().filter(|connection| is_evicted(connection)).count() == 1);
    // The connection with the running request becomes the newest idle one of its network.
    attackers[0].connection().end_request();
    let more = (more, open(&table, 4));
    assert!(is_evicted(&attackers[2]) && !is_evicted(&attackers[0]));
    assert!(honest.iter().all(|connection| !is_evicted(connection)));
    drop((honest, attackers, more));
    assert!(table.open.load(SeqCst) == 0 && table.lock().networks.is_empty());
}

#[test]
fn network_keeps_its_newest_idle_connections() {
    let table = new_table(LIMITS);
    let connections: Vec<_> = (0..1000).map(|_| open(&table, 1)).collect();
    assert!(connections[..994].iter().all(is_evicted));
    assert!(!connections[994..].iter().any(is_evicted));
    for connection in &connections[994..] {
        connection.connection().begin_request();
    }
    let idle: Vec<_> = (0..20).map(|_| open(&table, 1)).collect();
    assert_eq!(idle.iter().filter(|connection| !is_evicted(connection)).count(), 4, "ten in total");
    for connection in idle.iter().filter(|connection| !is_evicted(connection)) {
        connection.connection().begin_request();
    }
    assert_eq!(table.try_admit(address(1)).unwrap_err(), Refusal::Network);
    assert_eq!(table.lock().networks.len(), 1);
    // When their requests end, only some of them stay.
    for connection in connections[994..].iter().chain(&idle).filter(|connection| !is_evicted(connection)) {
        connection.connection().end_request();
    }
    let open = connections.iter().chain(&idle).filter(|connection| !is_evicted(connection));
    assert_eq!(open.count(), 6);
}

#[test]
fn limits_of_one_network_do_not_apply_to_proxies() {
    let proxies = TrustedProxies::new(["192.0.2.1".parse().unwrap()]);
    let table = ConnectionTable::new(LIMITS, proxies);
    let of_proxy: Vec<_> = (0..14).map(|_| open(&table, 1)).collect();
    assert!(!of_proxy.iter().any(is_evicted));
    for connection in &of_proxy {
        connection.connection().begin_request();
    }
    // The remaining connections are for others.
    assert_eq!(table.try_admit(address(1)).unwrap_err(), Refusal::Network);
    open(&table, 2);
    for connection in &of_proxy {
        connection.connection().end_request();
    }
    assert!(!of_proxy.iter().any(is_evicted));
}

#[test]
fn last_connections_are_for_networks_with_few() {
    let limits = TableLimits { total: 128, per_network: 0, idle_per_network: 0 };
    let table = new_table(limits);
    let busy: Vec<_> = (0..112).map(|at| open(&table, 1 + at % 2)).collect();
    for connection in &busy {
        connection.connection().begin_request();
    }
    assert_eq!(table.try_admit(address(1)).unwrap_err(), Refusal::Network);
    let honest: Vec<_> = (3..11).map(|network| open(&table, network)).collect();
    let again: Vec<_> = (3..11).map(|network| open(&table, network)).collect();
    for connection in honest.iter().chain(&again) {
        connection.connection().begin_request();
    }
    assert_eq!(table.try_admit(address(99)).unwrap_err(), Refusal::Total);
    assert!(!table.lock().networks.contains_key(&address(99)));
}

#[test]
fn request_that_arrived_before_the_close_keeps_the_connection() {
    let table = new_table(TableLimits { total: 1, ..LIMITS });
    let first = open(&table, 1);
    let second = open(&table, 2);
    assert!(is_evicted(&first));
    first.connection().begin_request();
    assert!(first.connection().is_busy() && table.open.load(SeqCst) == 2);
    drop(first);
    assert_eq!(table.open.load(SeqCst), 1);
    drop(second);
    assert_eq!(table.open.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn connection_waits_until_another_is_idle_or_ends() {
    let table = new_table(TableLimits { total: 1, ..LIMITS });
    for ends in [false, true] {
        let busy = table.admit(address(1)).await.unwrap();
        busy.connection().begin_request();
        let waiting = tokio::spawn({
            let table = Arc::clone(&table);
            async move { table.admit(address(2)).await.unwrap() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        if ends {
            drop(busy);
        } else {
            busy.connection().end_request();
        }
        waiting.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn connection_that_is_not_for_the_reserve_does_not_delay_others() {
    let limits = TableLimits { total: 128, per_network: 0, idle_per_network: 0 };
    let table = new_table(limits);
    let mut busy: Vec<_> = (0..112).map(|_| open(&table, 1)).collect();
    for connection in &busy {
        connection.connection().begin_request();
    }
    let start = Instant::now();
    for network in 2..18 {
        assert!(table.admit(address(1)).await.is_none(), "the network has its share");
        let honest = table.admit(address(network)).await.unwrap();
        honest.connection().begin_request();
        busy.push(honest);
    }
    assert!(start.elapsed().is_zero());
    // Now no network can use a connection, so a waiting one delays nobody. It does not wait for long.
    assert!(table.admit(address(99)).await.is_none());
    assert_eq!(start.elapsed(), MAX_ADMISSION_TIME);
    busy.truncate(127);
    assert!(table.admit(address(99)).await.is_some());
}

proptest! {
    #[test]
    fn counts_are_those_of_the_open_connections(
        steps in prop::collection::vec((0..4_u8, 0..5_u8, any::<prop::sample::Index>()), 0..200),
    ) {
        let table = new_table(LIMITS);
        let mut connections: Vec<OpenConnection> = Vec::new();
        for (step, network, index) in steps {
            let chosen = (!connections.is_empty()).then(|| index.index(connections.len()));
            match (step, chosen) {
                (0, _) | (_, None) => connections.extend(table.try_admit(address(network)).ok()),
                (1, Some(chosen)) => connections[chosen].connection().begin_request(),
                (2, Some(chosen)) => connections[chosen].connection().end_request(),
                (_, Some(chosen)) => drop(connections.swap_remove(chosen)),
            }
            let mut expected: BTreeMap<IpAddr, (u32, u32, u32)> = BTreeMap::new();
            for connection in &connections {
                let counts = expected.entry(connection.address).or_default();
                let state = connection.connection.state.load(SeqCst);
                counts.0 += 1;
                counts.1 += u32::from(state != EVICTED);
                counts.2 += u32::from(state != EVICTED && state != BUSY);
            }
            let entries = table.lock();
            let actual = entries.networks.iter().map(|(address, network)| {
                let counts = [&network.present, &network.open, &network.idle].map(|count| count.load(SeqCst));
                (*address, counts.into())
            });
            prop_assert_eq!(actual.collect::<BTreeMap<_, (u32, u32, u32)>>(), expected.clone());
            let open: u32 = expected.values().map(|counts| counts.1).sum();
            prop_assert_eq!(table.open.load(SeqCst), open);
            prop_assert!(expected.values().all(|counts| counts.2 <= LIMITS.idle_per_network));
        }
    }
}
