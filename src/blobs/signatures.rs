//! Signatures of URLs of the built-in store. A signed URL permits its action to anyone who has it, until it
//! expires.

use data_encoding::HEXLOWER;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Returns the HMAC-SHA-256 of the parts in hexadecimal. Each part is preceded by its length, so that bytes
/// cannot be moved from one part to another.
pub fn sign(secret: &[u8; 32], parts: &[&str]) -> String {
    HEXLOWER.encode(&mac(secret, parts).finalize().into_bytes())
}

/// Returns whether a signature matches the parts. Compares in constant time.
pub fn verify(secret: &[u8; 32], parts: &[&str], signature: &str) -> bool {
    let bytes = HEXLOWER.decode(signature.as_bytes());
    bytes.is_ok_and(|bytes| mac(secret, parts).verify_slice(&bytes).is_ok())
}

fn mac(secret: &[u8; 32], parts: &[&str]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC accepts keys of any length");
    for part in parts {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part.as_bytes());
    }
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_covers_every_part() {
        let signature = sign(&[1; 32], &["PUT", "/a", "7"]);
        assert!(verify(&[1; 32], &["PUT", "/a", "7"], &signature));
        for parts in [["PUT", "/a", "8"], ["GET", "/a", "7"], ["PUT/", "a", "7"], ["PUT", "/", "a7"]] {
            assert!(!verify(&[1; 32], &parts, &signature), "{parts:?}");
        }
        assert!(!verify(&[2; 32], &["PUT", "/a", "7"], &signature));
        let (signed_digit, uppercase) = (format!("+{}", &signature[1..]), signature.to_uppercase());
        for invalid in ["", "zz", "a", &signature[..62], "é", &signed_digit, &uppercase] {
            assert!(!verify(&[1; 32], &["PUT", "/a", "7"], invalid), "{invalid:?}");
        }
    }
}
