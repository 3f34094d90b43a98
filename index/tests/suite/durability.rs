//! States that a failure of the machine can leave behind: the writer does not wait for the disk.

use std::fs;
use std::path::Path;

use marketplace_index::{Error, Index, UNSYNCED_FILE};

use super::market::{TestIndex, listing_with_title};

/// Sets the ID of the boot under which the files were written.
fn set_boot(directory: &Path, id: &str) {
    fs::write(directory.join(UNSYNCED_FILE), id).unwrap();
}

/// Returns an index with files that no writer waited for.
fn unsynced_market() -> TestIndex {
    let mut market = TestIndex::new();
    market.commit(&[listing_with_title(1, "robot"), listing_with_title(2, "arm")], &[]);
    market.commit(&[listing_with_title(3, "kitchen")], &[1]);
    market
}

#[test]
fn index_is_marked_until_everything_is_on_the_disk() {
    let mut market = unsynced_market();
    let marker = market.directory.path().join(UNSYNCED_FILE);
    assert_eq!(
        fs::read_to_string(&marker).unwrap(),
        fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim()
    );
    market.finish();
    assert!(!marker.exists());
    market.commit(&[listing_with_title(4, "gripper")], &[]);
    assert!(marker.exists());
}

#[test]
fn intact_index_of_an_earlier_boot_is_used() {
    let mut market = unsynced_market();
    let before = market.index.snapshot().fingerprints();
    for id in ["", "an earlier boot"] {
        set_boot(market.directory.path(), id);
        let opened = Index::open(market.directory.path()).unwrap();
        assert_eq!(opened.snapshot().fingerprints(), before);
    }
    // The next writer writes under the current boot.
    market.reopen();
    market.commit(&[listing_with_title(4, "gripper")], &[]);
    let marker = fs::read_to_string(market.directory.path().join(UNSYNCED_FILE)).unwrap();
    assert_ne!(marker, "an earlier boot");
}

#[test]
fn torn_index_of_an_earlier_boot_is_corrupt() {
    let market = unsynced_market();
    set_boot(market.directory.path(), "an earlier boot");
    let open = || Index::open(market.directory.path());
    let mut tested = 0;
    for file in fs::read_dir(market.directory.path()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let intact = fs::read(&path).unwrap();
        if name.starts_with('.') || name == UNSYNCED_FILE || name == "schema-version" {
            continue;
        }
        // Contents that file systems leave: nothing, a prefix, zeros, or zeros in some blocks.
        let half = intact.len() / 2;
        let zeros_at_end = [&intact[..half], &vec![0; intact.len() - half]].concat();
        let zeros_at_start = [&vec![0; half], &intact[half..]].concat();
        for torn in [Vec::new(), intact[..half].to_vec(), vec![0; intact.len()], zeros_at_end, zeros_at_start]
        {
            if torn == intact {
                continue;
            }
            fs::write(&path, &torn).unwrap();
            let opened = open();
            assert!(matches!(opened, Err(Error::Corrupt(_))), "{name}: {:?}", opened.err());
        }
        fs::remove_file(&path).unwrap();
        let opened = open();
        assert!(matches!(opened, Err(Error::Corrupt(_) | Error::Missing)), "{name}: {:?}", opened.err());
        fs::write(&path, &intact).unwrap();
        tested += 1;
    }
    assert!(tested >= 15, "{tested} files");
    open().unwrap();
}
