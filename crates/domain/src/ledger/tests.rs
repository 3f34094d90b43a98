use proptest::prelude::*;

use super::*;

const BUYER: TeamRowId = TeamRowId(1);
const VENDOR: TeamRowId = TeamRowId(2);

fn terms(source: PaymentSource) -> SaleTerms {
    SaleTerms {
        kind: PurchaseKind::Full,
        buyer: BUYER,
        vendor: VENDOR,
        price: Cents(1_000),
        buyer_fee: Cents(50),
        platform_fee: Cents(100),
        source,
    }
}

fn postings(transfer: &Transfer) -> Vec<(Account, i64)> {
    transfer.postings.iter().map(|posting| (posting.account, posting.cents.0)).collect()
}

/// One row per movement of money.
#[test]
fn each_movement_has_its_type_and_its_postings() {
    use Account::{Credits, Earnings, Payments, Payouts, Platform};
    let (invoice, credits) = (terms(PaymentSource::Invoice), terms(PaymentSource::Credits));
    let rows = [
        (
            Transfer::sale(&invoice),
            EntryType::Sale,
            vec![(Payments, -1_050), (Earnings(VENDOR), 1_000), (Platform, 50)],
        ),
        (
            Transfer::sale(&credits),
            EntryType::Sale,
            vec![(Credits(BUYER), -1_050), (Earnings(VENDOR), 1_000), (Platform, 50)],
        ),
        (
            Transfer::platform_fee(&credits),
            EntryType::PlatformFee,
            vec![(Earnings(VENDOR), -100), (Platform, 100)],
        ),
        (
            Transfer::credit_purchase(BUYER, Cents(70)),
            EntryType::Adjustment,
            vec![(Payments, -70), (Credits(BUYER), 70)],
        ),
        (
            Transfer::adjustment(BUYER, Cents(-70)),
            EntryType::Adjustment,
            vec![(Platform, 70), (Credits(BUYER), -70)],
        ),
        (
            Transfer::quality_charge(VENDOR, Cents(5)),
            EntryType::Adjustment,
            vec![(Platform, 5), (Credits(VENDOR), -5)],
        ),
        (
            Transfer::conversion(VENDOR, Cents(70)),
            EntryType::CreditConversion,
            vec![(Earnings(VENDOR), -70), (Credits(VENDOR), 70)],
        ),
        (
            Transfer::withdrawal(VENDOR, Cents(70)),
            EntryType::Withdrawal,
            vec![(Earnings(VENDOR), -70), (Payouts, 70)],
        ),
        (
            Transfer::withdrawal_reversal(VENDOR, Cents(70)),
            EntryType::Withdrawal,
            vec![(Earnings(VENDOR), 70), (Payouts, -70)],
        ),
    ];
    for (transfer, entry_type, expected) in rows {
        assert_eq!((transfer.entry_type, postings(&transfer)), (entry_type, expected));
        assert!(transfer.is_balanced(), "{transfer:?}");
    }
}

#[test]
fn free_purchase_has_no_postings() {
    let free = SaleTerms {
        price: Cents(0),
        buyer_fee: Cents(0),
        platform_fee: Cents(0),
        ..terms(PaymentSource::Credits)
    };
    assert_eq!(Transfer::sale(&free).postings, []);
    assert_eq!(Transfer::platform_fee(&free).postings, []);
    assert_eq!(Transfer::refund(&[]).postings, []);
}

#[test]
fn kinds_of_purchases_have_types_of_their_own() {
    let types = [
        (PurchaseKind::Full, EntryType::Sale),
        (PurchaseKind::Sample, EntryType::SampleSale),
        (PurchaseKind::AcceptedBid, EntryType::AcceptedBidSale),
    ];
    for (kind, expected) in types {
        let terms = SaleTerms { kind, ..terms(PaymentSource::Invoice) };
        assert_eq!(Transfer::sale(&terms).entry_type, expected);
    }
}

/// Pending and available earnings add up to what the ledger has, and what a team uses was earned before.
#[test]
fn balances_change_by_the_postings_of_their_team() {
    let sale = Transfer::sale(&terms(PaymentSource::Credits)).balance_changes(Cents(1_000));
    let of = BalanceChange::none;
    let buyer = BalanceChange { credits: Cents(-1_050), ..of(BUYER) };
    let vendor = BalanceChange { earned: Cents(1_000), pending: Cents(1_000), ..of(VENDOR) };
    assert_eq!(sale, [buyer, vendor]);
    let converted = Transfer::conversion(VENDOR, Cents(30)).balance_changes(Cents(0));
    assert_eq!(converted, [BalanceChange { credits: Cents(30), available: Cents(-30), ..of(VENDOR) }]);
    let refund = Transfer::refund(&Transfer::sale(&terms(PaymentSource::Invoice)).postings);
    let expected =
        BalanceChange { earned: Cents(-1_000), pending: Cents(-400), available: Cents(-600), ..of(VENDOR) };
    assert_eq!(refund.balance_changes(Cents(-400)), [expected]);
}

#[test]
fn names_of_accounts_are_those_of_their_kinds() {
    for kind in AccountKind::ALL {
        let of_team = Account::new(*kind, Some(BUYER));
        let of_platform = Account::new(*kind, None);
        assert!(of_team.is_some() != of_platform.is_some(), "{kind:?}");
        let account = of_team.or(of_platform).unwrap();
        assert_eq!((account.kind(), account.name()), (*kind, kind.as_str()));
    }
}

proptest! {
    #[test]
    fn every_transfer_sums_to_zero(
        price in 0..=1_000_000_000_000_000_i64,
        buyer_percent in 0.0..100.0,
        platform_percent in 0.0..100.0,
        amount in -1_000_000_000_000_i64..=1_000_000_000_000,
    ) {
        let price = Cents(price);
        for source in [PaymentSource::Invoice, PaymentSource::Credits] {
            let terms = SaleTerms {
                price,
                buyer_fee: price.percent(buyer_percent),
                platform_fee: price.percent(platform_percent),
                ..terms(source)
            };
            let (sale, fee) = (Transfer::sale(&terms), Transfer::platform_fee(&terms));
            let all = [sale.postings.clone(), fee.postings.clone()].concat();
            let refund = Transfer::refund(&all);
            prop_assert!(sale.is_balanced() && fee.is_balanced() && refund.is_balanced());
            // The refund leaves nothing in any account.
            for posting in &all {
                let sum: i64 = all.iter().chain(&refund.postings)
                    .filter(|other| other.account == posting.account).map(|other| other.cents.0).sum();
                prop_assert_eq!(sum, 0);
            }
        }
        let amount = Cents(amount);
        for transfer in [
            Transfer::credit_purchase(BUYER, amount), Transfer::adjustment(BUYER, amount),
            Transfer::quality_charge(BUYER, amount), Transfer::conversion(BUYER, amount),
            Transfer::withdrawal(BUYER, amount), Transfer::withdrawal_reversal(BUYER, amount),
        ] {
            prop_assert!(transfer.is_balanced());
        }
    }
}
