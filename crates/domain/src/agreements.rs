//! Agreements: the terms of a purchase as text, which the buyer sees before it buys, and which is stored when the
//! purchase is completed.

use std::fmt::Write as _;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    listings::DeliveryMethod,
    money::CURRENCY,
    purchases::{AssetScope, Charges, PayWith, PurchaseKind, ScopeMode},
    time::Timestamp,
};
use crate::string_enum::StringEnum;

/// What precedes the vendor's terms in an agreement.
const TERMS_HEADING: &str = "\nTerms of the vendor:\n\n";

/// What a buyer and a vendor agree on.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Name of the buyer.
    pub buyer: String,
    /// Name of the vendor.
    pub vendor: String,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing.
    pub title: String,
    /// License and conditions of the listing, as text.
    pub conditions: String,
    /// How the data is delivered, and within how many days.
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// Time from which the data can be delivered; `None` if that is immediately.
    pub available_from: Option<Timestamp>,
    /// Number of covered assets. Of a sample, those that it is taken from.
    pub asset_count: u64,
}

/// What is bought, and how it is paid.
#[derive(Clone, Copy, Debug)]
pub struct Deal<'a> {
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// The assets that it covers.
    pub scope: &'a AssetScope,
    /// What it costs.
    pub charges: Charges,
    /// How the buyer pays.
    pub pay_with: PayWith,
    /// Whether it is an exclusive sale.
    pub is_exclusive: bool,
}

/// When an agreement was made, and for which purchase.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// ID of the document.
    pub document: Uuid,
    /// ID of the purchase.
    pub purchase: Uuid,
    /// Time of the completion.
    pub signed_at: Timestamp,
}

/// Returns the agreement of a completed purchase, with the text that [`render_terms`] returned at the time of the order.
pub fn render(terms: &str, signature: &Signature) -> String {
    let Signature { document, purchase, signed_at } = signature;
    format!("Agreement {document}\nPurchase: {purchase}\nSigned at: {signed_at}\n{terms}")
}

/// Returns the part of an agreement that is known before the purchase: everything except its IDs and its time.
pub fn render_terms(terms: &Terms, deal: &Deal) -> String {
    let Terms { buyer, vendor, listing, title, conditions, asset_count, .. } = terms;
    let Deal { kind, scope, charges, pay_with, is_exclusive } = *deal;
    let mut text = format!("Buyer: {buyer}\nVendor: {vendor}\nListing: {title}\nListing ID: {listing}\n");
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name}: {value}").expect("writing to a string cannot fail");
    };
    let assets = if *asset_count == 1 { "1 asset" } else { &format!("{asset_count} assets") };
    let bought = match (scope.mode, kind) {
        (ScopeMode::Sample, _) => "a sample of the listing".to_owned(),
        (ScopeMode::Selection, _) => format!("{assets} of the listing"),
        (ScopeMode::All, PurchaseKind::AcceptedBid) => {
            format!("the whole listing, {assets}, at the amount of an accepted bid")
        }
        (ScopeMode::All, _) => format!("the whole listing, {assets}"),
    };
    line("Bought", &bought);
    for asset in &scope.asset_ids {
        line("Asset ID", &asset.to_string());
    }
    line("Sale", if is_exclusive { "exclusive" } else { "not exclusive" });
    for (name, amount) in
        [("Price", charges.price), ("Buyer fee", charges.buyer_fee), ("Total", charges.total())]
    {
        line(name, &format!("{amount} {CURRENCY}"));
    }
    line("Payment", pay_with.as_str());
    if let Some((method, days)) = terms.delivery {
        let when = match days {
            0 => "at once".to_owned(),
            1 => "within 1 day".to_owned(),
            days => format!("within {days} days"),
        };
        line("Delivery", &format!("{}, {when}", method.as_str().replace('_', " ")));
    }
    if let Some(at) = terms.available_from {
        line("Available from", &at.to_string());
    }
    let conditions = conditions.trim_end();
    text.push_str(TERMS_HEADING);
    text.push_str(if conditions.is_empty() { "The listing states no terms." } else { conditions });
    text.push('\n');
    text
}

/// The names in an agreement: those at the time of the purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'t> {
    /// Name of the buyer.
    pub buyer: &'t str,
    /// Name of the vendor.
    pub vendor: &'t str,
    /// Title of the listing.
    pub title: &'t str,
}

/// Returns the names in an agreement, or in a text of [`render_terms`]; `None` if the text has another form.
pub fn names(text: &str) -> Option<Names<'_>> {
    let (_, text) = text.split_once("Buyer: ")?;
    let (buyer, text) = text.split_once("\nVendor: ")?;
    let (vendor, text) = text.split_once("\nListing: ")?;
    // The title can have anything in it.
    let (title, _) = text.split_once("\nListing ID: ")?;
    Some(Names { buyer, vendor, title })
}

/// Returns the vendor's terms in an agreement, to the end of its text; `None` if it has no such part.
pub fn vendor_terms(text: &str) -> Option<&str> {
    text.split_once(TERMS_HEADING).map(|(_, terms)| terms)
}

/// Returns how the data is delivered, as an agreement states it: the method, and the number of days. `None` if it does not.
pub fn delivery(text: &str) -> Option<(DeliveryMethod, u32)> {
    let (facts, _) = text.split_once(TERMS_HEADING)?;
    // The title of the listing, which comes before this line, can have anything in it.
    let (method, when) =
        facts.lines().rev().find_map(|line| line.strip_prefix("Delivery: "))?.split_once(", ")?;
    let days = when.split(' ').find_map(|word| word.parse().ok()).unwrap_or_default();
    Some((DeliveryMethod::parse(&method.replace(' ', "_"))?, days))
}

/// Returns the SHA-256 digest of an agreement, in hexadecimal.
pub fn digest(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Cents;

    fn terms() -> Terms {
        Terms {
            buyer: "Basalt Labs".to_owned(),
            vendor: "Copper Works".to_owned(),
            listing: Uuid::from_u128(7),
            title: "Ledger of a bank".to_owned(),
            conditions: "For training only.\n".to_owned(),
            delivery: Some((DeliveryMethod::Download, 3)),
            available_from: None,
            asset_count: 2,
        }
    }

    #[test]
    fn agreement_states_what_was_agreed() {
        let scope = AssetScope { mode: ScopeMode::Selection, asset_ids: vec![Uuid::from_u128(8)] };
        let deal = Deal {
            kind: PurchaseKind::Full,
            scope: &scope,
            charges: Charges::new(Cents(10_000), 5.0, 10.0),
            pay_with: PayWith::Invoice,
            is_exclusive: false,
        };
        let (document, purchase) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let signature = Signature { document, purchase, signed_at: Timestamp(0) };
        let text = render(&render_terms(&terms(), &deal), &signature);
        for part in [
            "Agreement 00000000-0000-0000-0000-000000000001\n",
            "Buyer: Basalt Labs\nVendor: Copper Works\n",
            "Bought: 2 assets of the listing\nAsset ID: 00000000-0000-0000-0000-000000000008\n",
            "Price: 100.00 USD\nBuyer fee: 5.00 USD\nTotal: 105.00 USD\nPayment: invoice\n",
            "\n\nFor training only.\n",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        assert_eq!(vendor_terms(&text), Some("For training only.\n"));
        for (stated, days) in [
            (DeliveryMethod::Download, 3),
            (DeliveryMethod::RepositoryTransfer, 1),
            (DeliveryMethod::BucketCopy, 0),
        ] {
            let stating = Terms { delivery: Some((stated, days)), ..terms() };
            assert_eq!(delivery(&render_terms(&stating, &deal)), Some((stated, days)));
        }
        let title = "A\nDelivery: download";
        let silent = Terms { delivery: None, title: title.to_owned(), ..terms() };
        let text_of_silent = render_terms(&silent, &deal);
        assert_eq!((delivery(&text_of_silent), names(&text_of_silent).unwrap().title), (None, title));
        assert_eq!(vendor_terms("An agreement of another form."), None);
        let expected = Names { buyer: "Basalt Labs", vendor: "Copper Works", title: "Ledger of a bank" };
        assert_eq!(names(&text), Some(expected));
        assert_eq!(names(&render_terms(&terms(), &deal)), Some(expected));
        assert_eq!(names("An agreement of another form."), None);
        assert!(!text.contains("90.00"), "the buyer does not learn the fee of the platform");
        assert_eq!(digest(&text).len(), 64);
    }

    #[test]
    fn listing_without_terms_says_so() {
        let scope = AssetScope { mode: ScopeMode::Sample, asset_ids: Vec::new() };
        let deal = Deal {
            kind: PurchaseKind::Sample,
            scope: &scope,
            charges: Charges::new(Cents(0), 5.0, 10.0),
            pay_with: PayWith::Credits,
            is_exclusive: false,
        };
        let text = render_terms(&Terms { conditions: " \n".to_owned(), ..terms() }, &deal);
        assert!(text.ends_with("\n\nThe listing states no terms.\n"), "{text}");
    }
}
