//! Backups of a served market, with the real binary.

use super::{Server, run, run_failing, stdout_of, temp_dir};

#[test]
fn backup_of_a_served_market_is_restored() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let server = Server::start(&["--demo", "--data", "market"], directory);
    let made = stdout_of(&run(&["backup", "copy", "--data", "market"], directory));
    assert!(made.starts_with("backed up the database, ") && made.contains(" to copy: "), "{made}");
    let again = stdout_of(&run(&["backup", "copy", "--data", "market"], directory));
    assert!(
        again.starts_with("backed up the database, "),
        "an earlier backup is brought up to date: {again}"
    );
    let (code, stderr) = run_failing(&["restore", "copy", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("market is in use by another process"), "{stderr}");
    assert_eq!(server.terminate(), 0);
    let (code, stderr) = run_failing(&["restore", "copy", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("market is not empty"), "{stderr}");
    let restored = stdout_of(&run(&["restore", "copy", "--data", "restored"], directory));
    assert!(restored.starts_with("restored the database, "), "{restored}");
    assert!(restored.ends_with("\nno problems found\n"), "a restore ends with verify: {restored}");
    let teams = |data: &str| stdout_of(&run(&["team", "list", "--data", data], directory));
    assert_eq!(teams("restored"), teams("market"));
    let (code, stderr) = run_failing(&["backup", "copy", "--data", "nowhere"], directory);
    assert!(code == 1 && stderr.contains("there is no market in nowhere"), "{stderr}");
}
