//! Short texts that only machines which have the database of a market can write and read.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::clock::Entropy;

/// The purpose of a text. A text that was sealed for another purpose cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A position that a client brings back.
    Position,
    /// The digest of what a replica reports to its primary.
    Report,
}

impl Purpose {
    const fn label(self) -> &'static [u8] {
        match self {
            Purpose::Position => b"position",
            Purpose::Report => b"report",
        }
    }
}

/// Encrypts texts with a secret of a market, and says whether one was encrypted with it.
pub struct Sealer(LessSafeKey);

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer")
    }
}

impl Sealer {
    /// Uses a secret of a market.
    pub fn new(secret: &[u8; 32]) -> Sealer {
        Sealer(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, secret).expect("the key has 32 bytes")))
    }

    /// Returns bytes as a text in Base64, which looks different each time.
    pub fn seal(&self, purpose: Purpose, content: &[u8], entropy: &Entropy) -> String {
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&entropy.random_secret()[..NONCE_LEN]);
        let mut bytes = content.to_vec();
        let aad = Aad::from(purpose.label());
        let sealed = self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut bytes);
        sealed.expect("a few bytes can be encrypted");
        BASE64_URL_SAFE_NO_PAD.encode([&nonce[..], &bytes].concat())
    }

    /// Returns the bytes of a text; `None` if it was made with another secret, for another purpose, or changed.
    pub fn open(&self, purpose: Purpose, text: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.0.open_in_place(nonce, Aad::from(purpose.label()), sealed).ok()?;
        Some(opened.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_opened_with_their_secret_and_purpose_alone() {
        let entropy = Entropy::System;
        let (own, other) = (Sealer::new(&[1; 32]), Sealer::new(&[2; 32]));
        let text = own.seal(Purpose::Position, b"1234", &entropy);
        assert_eq!(own.open(Purpose::Position, text.as_bytes()).as_deref(), Some(&b"1234"[..]));
        assert_eq!(own.open(Purpose::Report, text.as_bytes()), None);
        assert_eq!(other.open(Purpose::Position, text.as_bytes()), None);
        assert_ne!(own.seal(Purpose::Position, b"1234", &entropy), text, "equal contents look different");
        for length in 0..text.len() {
            assert_eq!(own.open(Purpose::Position, &text.as_bytes()[..length]), None, "{length}");
        }
        for index in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            assert_eq!(own.open(Purpose::Position, &changed), None, "{index}");
        }
    }
}
