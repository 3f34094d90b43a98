//! Cursors: positions as opaque signed strings.
//!
//! A cursor contains a position, the change number as of which it orders listings, and a MAC. The MAC covers
//! these and the search: scope, text, filters, and sort order. Any other string, and a cursor of another search,
//! is rejected.
//!
//! A short cursor names the listing at its position instead of the listing's sort key, so that a language model
//! can copy it.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::document::ListingRowId;
use crate::measure::Measure;
use crate::order::{Position, SortKey};
use crate::search::{Bounds, Filters, Scope, Search};

const VERSION: u8 = 2;

/// Version of the cursors without the number of a change, which are still accepted. They were created before
/// changes were recorded, so all recorded changes are later.
const VERSION_WITHOUT_CHANGE: u8 = 1;

const MAC_BYTES: usize = 32;

/// Maximum length of a cursor: version, number of a change, key, and MAC.
const MAX_CURSOR_CHARS: usize = ((1 + 8 + 32 + MAC_BYTES) * 4).div_ceil(3);

/// Bytes of the row ID of a listing, and of the number of a change, in a short cursor.
const SHORT_NUMBER_BYTES: usize = 5;

/// Bytes of the check of a sort key in a short cursor.
const KEY_CHECK_BYTES: usize = 2;

/// Bytes of the position in a short cursor: a listing, a change, and the check of the listing's sort key.
const SHORT_POSITION_BYTES: usize = 2 * SHORT_NUMBER_BYTES + KEY_CHECK_BYTES;

/// Bytes of the MAC in a short cursor. A position gives access to nothing, so the MAC only has to find mistakes.
const SHORT_MAC_BYTES: usize = 6;

/// Length of a short cursor in characters.
pub const SHORT_CURSOR_CHARS: usize = (SHORT_POSITION_BYTES + SHORT_MAC_BYTES) / 3 * 4;

/// Secret key for signing cursors.
#[derive(Clone)]
pub struct CursorKey([u8; 32]);

impl CursorKey {
    /// Creates a key from 32 secret bytes.
    pub const fn new(secret: [u8; 32]) -> CursorKey {
        CursorKey(secret)
    }

    /// Returns the MAC over the bytes of a cursor of another list. It differs from that over the same bytes of a
    /// search.
    pub fn sign(&self, bytes: &[u8]) -> [u8; MAC_BYTES] {
        self.mac_of_list(bytes).finalize().into_bytes().into()
    }

    /// Whether `mac` is the beginning of the MAC that [`CursorKey::sign`] returns. Compares in constant time.
    pub fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool {
        self.mac_of_list(bytes).verify_truncated_left(mac).is_ok()
    }

    fn mac_of_list(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac();
        mac.update(b"list ");
        mac.update(bytes);
        mac
    }

    fn mac(&self) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(&self.0)
            .unwrap_or_else(|_| unreachable!("HMAC accepts any key length"))
    }
}

/// The string is not a cursor of this search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor does not belong to this search")]
pub struct InvalidCursor;

/// Encodes a position of a search as a cursor, in base64url.
pub fn encode(key: &CursorKey, position: &Position, search: &Search) -> String {
    let mut bytes = vec![VERSION];
    bytes.extend(position.as_of.to_be_bytes());
    bytes.extend(position.key.iter().flat_map(|value| value.to_be_bytes()));
    let mac = search_mac(key, &bytes, search).finalize().into_bytes();
    bytes.extend_from_slice(&mac);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a cursor that was created for this search; limit, viewer and totals may differ.
pub fn decode(key: &CursorKey, cursor: &str, search: &Search) -> Result<Position, InvalidCursor> {
    if cursor.len() > MAX_CURSOR_CHARS {
        return Err(InvalidCursor);
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| InvalidCursor)?;
    let (signed, mac) = bytes.split_last_chunk::<MAC_BYTES>().ok_or(InvalidCursor)?;
    search_mac(key, signed, search).verify_slice(mac).map_err(|_| InvalidCursor)?;
    let (&version, rest) = signed.split_first().ok_or(InvalidCursor)?;
    let (cells, []) = rest.as_chunks::<8>() else { return Err(InvalidCursor) };
    let values: Vec<u64> = cells.iter().map(|cell| u64::from_be_bytes(*cell)).collect();
    let (as_of, values) = match version {
        VERSION => values.split_first().map(|(as_of, values)| (*as_of, values)).ok_or(InvalidCursor)?,
        VERSION_WITHOUT_CHANGE => (0, &*values),
        _ => return Err(InvalidCursor),
    };
    Ok(Position { key: values.try_into().map_err(|_| InvalidCursor)?, as_of })
}

/// The content of a short cursor: the last listing of a page, and the change number as of which the pages order listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortPosition {
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// See [`Position::as_of`].
    pub as_of: u64,
    key_check: [u8; KEY_CHECK_BYTES],
}

impl ShortPosition {
    /// Whether the listing has the sort key that it had when the cursor was created.
    pub(crate) fn has_key(&self, key: &SortKey) -> bool {
        self.key_check == key_check(key)
    }
}

/// Encodes a position of a search as a short cursor of [`SHORT_CURSOR_CHARS`] characters, in base64url. It looks
/// random, because models miscopy long runs of one letter. Row IDs and changes are less than 2^40.
pub fn encode_short(key: &CursorKey, position: &Position, search: &Search) -> String {
    let number = |value: u64| value.to_be_bytes()[8 - SHORT_NUMBER_BYTES..].to_vec();
    let mut bytes = number(position.key[3]);
    bytes.extend(number(position.as_of));
    bytes.extend(key_check(&position.key));
    let mac = short_mac(key, &bytes, search);
    mask(key, &mac, &mut bytes);
    bytes.extend(mac);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a short cursor that was created for this search; limit, viewer and totals may differ.
pub fn decode_short(key: &CursorKey, cursor: &str, search: &Search) -> Result<ShortPosition, InvalidCursor> {
    if cursor.len() != SHORT_CURSOR_CHARS {
        return Err(InvalidCursor);
    }
    let mut bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| InvalidCursor)?;
    let mac = bytes.split_off(SHORT_POSITION_BYTES);
    mask(key, &mac, &mut bytes);
    if short_mac(key, &bytes, search) != *mac {
        return Err(InvalidCursor);
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let (numbers, key_check) = bytes.split_last_chunk::<KEY_CHECK_BYTES>().ok_or(InvalidCursor)?;
    let (listing, as_of) = numbers.split_at(SHORT_NUMBER_BYTES);
    Ok(ShortPosition { listing: number(listing), as_of: number(as_of), key_check: *key_check })
}

/// Returns the check of a sort key, by which a listing that moved since is noticed.
fn key_check(key: &SortKey) -> [u8; KEY_CHECK_BYTES] {
    let bytes: Vec<u8> = key.iter().flat_map(|value| value.to_be_bytes()).collect();
    let digest = Sha256::digest(bytes);
    [digest[0], digest[1]]
}

fn short_mac(key: &CursorKey, bytes: &[u8], search: &Search) -> [u8; SHORT_MAC_BYTES] {
    let mut mac = key.mac();
    mac.update(b"short ");
    mac.update(bytes);
    mac.update(&encode_search(search));
    let mac = mac.finalize().into_bytes();
    std::array::from_fn(|index| mac[index])
}

/// Makes the position of a short cursor look random, and readable again.
fn mask(key: &CursorKey, mac: &[u8], bytes: &mut [u8]) {
    let mut stream = key.mac();
    stream.update(b"mask ");
    stream.update(mac);
    let stream = stream.finalize().into_bytes();
    bytes.iter_mut().zip(stream).for_each(|(byte, mask)| *byte ^= mask);
}

/// Returns the MAC over the signed bytes and the search, before it is finalized.
fn search_mac(key: &CursorKey, signed: &[u8], search: &Search) -> Hmac<Sha256> {
    let mut mac = key.mac();
    mac.update(signed);
    mac.update(&encode_search(search));
    mac
}

/// Encodes everything that determines the meaning of a position, unambiguously: each part has a fixed length
/// or a length prefix. The order of a filter's values and duplicates are ignored, because they do not affect
/// results.
fn encode_search(search: &Search) -> Vec<u8> {
    let Search { scope, text, filters, sort, start: _, ordered_as: _, limit: _, viewer: _, totals: _ } =
        search;
    let mut out = SearchEncoder::default();
    match scope {
        Scope::Market => out.add_option(None),
        Scope::Team(team) => out.add_option(Some(*team)),
    }
    out.add_u64(*sort as u64);
    out.add_text(text);
    out.add_filters(filters);
    out.0
}

#[derive(Default)]
struct SearchEncoder(Vec<u8>);

impl SearchEncoder {
    fn add_u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    fn add_option(&mut self, value: Option<u64>) {
        self.add_u64(u64::from(value.is_some()));
        self.add_u64(value.unwrap_or(0));
    }

    fn add_text(&mut self, text: &str) {
        self.add_u64(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn add_set(&mut self, values: &BTreeSet<u64>) {
        self.add_u64(values.len() as u64);
        for value in values {
            self.add_u64(*value);
        }
    }

    // The pattern names every filter, so that the compiler rejects a new one that is forgotten here.
    fn add_filters(&mut self, filters: &Filters) {
        let Filters {
            labels,
            stages,
            team,
            certified,
            active_bids,
            rare_languages,
            no_assets,
            sample_available,
            vendor_tiers,
            bounds,
            teams,
            listings,
            published: (published_min, published_max),
        } = filters;
        for (_, values) in labels.lists() {
            let values: BTreeSet<&String> = values.iter().collect();
            self.add_u64(values.len() as u64);
            for value in values {
                self.add_text(value);
            }
        }
        self.add_set(&stages.iter().map(|stage| *stage as u64).collect());
        self.add_option(*team);
        for flag in [certified, active_bids, rare_languages, no_assets] {
            self.add_u64(u64::from(*flag));
        }
        self.add_option(sample_available.map(u64::from));
        self.add_option(vendor_tiers.as_ref().map(|_| 0));
        self.add_set(&vendor_tiers.iter().flatten().copied().collect());
        for (measure, bounds) in bounds.iter() {
            // Unset bounds of `Assets` are left out, because cursors did not contain them when the number of
            // assets could not be bounded. The encoding is still unambiguous, because its length differs.
            if measure != Measure::Assets || *bounds != Bounds::default() {
                self.add_option(bounds.min);
                self.add_option(bounds.max);
            }
        }
        // For the same reason, a field that earlier cursors did not have is left out unless it is set.
        if (teams, listings, published_min, published_max) != (&None, &None, &None, &None) {
            self.add_option(teams.as_ref().map(|_| 0));
            self.add_set(&teams.iter().flatten().copied().collect());
            self.add_option(listings.as_ref().map(|_| 0));
            self.add_set(listings.as_deref().unwrap_or(&BTreeSet::new()));
            self.add_option(published_min.map(i64::cast_unsigned));
            self.add_option(published_max.map(i64::cast_unsigned));
        }
    }
}
