//! The receipt of a purchase, which can be printed: who bought what from whom, on which terms, and what was delivered.

use data_encoding::HEXLOWER;

use super::{deals, purchases, receipt_files};
use crate::{
    console::{
        parts::listing_view::{Delivery, description_only},
        prelude::*,
        wording,
    },
    domain::{
        agreements,
        bundles::archive_name,
        purchases::{PayWith, PurchaseKind, PurchaseStatus},
    },
    operations::{
        bundles::LinkHolder,
        receipts::{self, Archive, DeliveryState, Receipt},
        signing_keys,
    },
    store::{
        attestations::AttestationSummary, bundle_entries::PreparationProgress, receipts::ReceiptLine,
        records::team_lists::purchases::TeamPurchase,
    },
    web::bundle_urls,
};

/// The page.
pub struct ReceiptPage;

impl Page<Buyer> for ReceiptPage {
    const PATH: &'static str = "/purchases/{purchase_id}";
    const TITLE: &'static str = "Receipt";
    const BUDGET: Budget = Budget::Purchases;

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let receipt = visit.read(move |reader, buyer| receipts::receipt(reader, buyer, id)).await?;
        Ok(content(visit, &receipt).into())
    }
}

fn content(context: &Context, receipt: &Receipt) -> Content {
    let purchase = &receipt.purchase;
    let body = html! {
        (state(context, receipt))
        article.paper {
            (head(purchase))
            div.two { (parties(context, receipt)) (sums(context, purchase)) }
            (agreement(context, receipt))
            (manifest(context, receipt))
            @if let DeliveryState::Ready(archive) = &receipt.delivery { (verification(context, purchase, archive)) }
            @if let Some(found) = &receipt.attestation { (attestation(context, receipt, found)) }
        }
    };
    let mut content =
        Content::new(document(purchase.status).name, body).with_parent("Purchases", paths::PURCHASES);
    if purchase.listing_is_visible {
        content = content.with_parent(&purchase.listing_title, paths::listing(purchase.listing));
    }
    content.with_actions(actions(context, receipt)).narrow().with_request("/v2/listings/browse/purchases")
}

/// The words for what the page shows, which can be printed.
struct Document {
    /// Its name.
    name: &'static str,
    /// The text of the button that prints it.
    print: &'static str,
    /// Its first line.
    head: &'static str,
    /// The heading of the assets.
    assets: &'static str,
}

/// Only what was paid has a receipt.
const fn document(status: PurchaseStatus) -> Document {
    let (name, print) = ("Order", "Print the order");
    match status {
        PurchaseStatus::Pending => {
            Document { name, print, head: "Order on marketplace, not paid yet", assets: "What you ordered" }
        }
        PurchaseStatus::Cancelled => {
            Document { name, print, head: "Canceled order on marketplace", assets: "What you had ordered" }
        }
        PurchaseStatus::Completed | PurchaseStatus::Refunded => Document {
            name: <ReceiptPage as Page<Buyer>>::TITLE,
            print: "Print the receipt",
            head: "Receipt of a purchase on marketplace",
            assets: "What you bought",
        },
    }
}

fn actions(context: &Context, receipt: &Receipt) -> Markup {
    let purchase = &receipt.purchase;
    html! {
        button type="button" hidden data-print { (icons::icon("down")) (document(purchase.status).print) }
        @if let DeliveryState::Ready(archive) = &receipt.delivery {
            a.button.primary href=(download(context, purchase)) {
                (icons::icon("down"))
                @if has_descriptions_only(receipt) { "Download the descriptions, " } @else { "Download " }
                (text::size(archive.size_bytes))
            }
        }
    }
}

/// Whether the download has no data of any asset.
fn has_descriptions_only(receipt: &Receipt) -> bool {
    let page = &receipt.manifest;
    page.next.is_none() && page.lines.iter().all(ReceiptLine::is_description_only)
}

/// Returns the address of the download, which is signed, and valid for one to two hours.
fn download(context: &Context, purchase: &TeamPurchase) -> String {
    let holder = LinkHolder::Purchase(purchase.id);
    bundle_urls::download_url(context.market(), &context.base_url, purchase.listing, holder, context.now())
}

/// Returns the notice about the state of the purchase.
fn state(context: &Context, receipt: &Receipt) -> Markup {
    let purchase = &receipt.purchase;
    match &receipt.delivery {
        DeliveryState::Unpaid => match &receipt.obstacle {
            Some(reason) => badges::warning(html! {
                b { "Do not pay for this purchase: it cannot be completed now." } " " (wording::humanize(reason))
                " If you have paid already, tell the market."
            }),
            None => pending(context, purchase),
        },
        DeliveryState::Cancelled => badges::neutral(
            html! { "This purchase was canceled" (on(purchase.cancelled_at)) ". Nothing was charged." },
        ),
        DeliveryState::Refunded => badges::warning(html! {
            "The market refunded this purchase" (on(purchase.refunded_at)) ". Your right to use the data has ended, and \
             the download is gone."
        }),
        DeliveryState::Preparing(progress) => preparing(context, purchase, progress),
        DeliveryState::Ready(_) => html! {},
    }
}

fn on(time: Option<Timestamp>) -> Markup {
    html! { @if let Some(time) = time { " on " (text::day(time)) } }
}

fn pending(context: &Context, purchase: &TeamPurchase) -> Markup {
    let total = text::money(purchase.total());
    let content = html! {
        b { "This purchase waits for your payment of " (total) "." }
        @if let Some(until) = purchase.expires_at {
            " It is canceled unless the market has the payment by " (text::moment(until)) "."
        }
        (deals::where_to_pay(context))
        (number(purchase))
    };
    badges::pending(&content)
}

fn preparing(context: &Context, purchase: &TeamPurchase, progress: &PreparationProgress) -> Markup {
    let PreparationProgress { prepared, entries, is_queued, has_failed } = *progress;
    let here = context.links.to(&paths::purchase(purchase.id));
    let content = html! {
        div.stack.tight {
            @if is_queued {
                b { "Your download is being prepared." }
                // With scripts, the page updates itself during the preparation.
                div hx-get=(here) hx-trigger="every 5s" hx-target="#main" hx-select="#main" hx-swap="outerMorph" {}
                progress aria-label="Prepared files" value=(prepared) max=(entries.max(1)) {}
                p { (text::grouped(prepared)) " of " (text::counted(entries, "file is", "files are")) " ready. "
                    a href=(here) { "See how far it is" } }
            } @else {
                b { @if has_failed { "Your download could not be prepared." } @else { "Your download is not prepared yet." } }
                p { @if has_failed { "Try it again. If it fails again, ask the market." }
                    @else { "The market prepares it when you ask for it." } }
                (fields::button(context, &receipt_files::path(purchase.id, "prepare"), "Prepare the download", "primary"))
            }
        }
    };
    badges::message(if has_failed && !is_queued { Tone::Bad } else { Tone::Waiting }, &content)
}

fn head(purchase: &TeamPurchase) -> Markup {
    html! {
        div.row.apart {
            div {
                p.note { (document(purchase.status).head) }
                p.long { b { bdi { (purchase.listing_title) } } }
                (number(purchase))
            }
            (badges::of(purchases::tone_and_label(purchase.status)))
        }
    }
}

fn number(purchase: &TeamPurchase) -> Markup {
    html! { p.note { "Purchase no. " span.mono.long { (purchase.id) } } }
}

fn parties(context: &Context, receipt: &Receipt) -> Markup {
    let purchase = &receipt.purchase;
    let mut facts = vec![
        ("Buyer", html! { b.long { bdi { (receipt.buyer_name) } } }),
        ("Vendor", html! { b.long { bdi { (purchase.vendor_name) } } }),
        ("Ordered", text::moment(purchase.created_at)),
        (
            "Kind",
            html! { (deals::kind(purchase.kind, purchase.scope)) @if purchase.is_exclusive { ", exclusive sale" } },
        ),
        ("Payment", html! { (deals::payment(purchase.pay_with)) }),
    ];
    for (name, time) in
        [("Paid", purchase.paid_at), ("Canceled", purchase.cancelled_at), ("Refunded", purchase.refunded_at)]
    {
        facts.extend(time.map(|time| (name, text::moment(time))));
    }
    facts.extend(receipt.refundable_until.filter(|until| *until > context.now()).map(|until| {
        ("Refund", html! { "possible until " (text::day(until)) ", if the market decides so" })
    }));
    let bid = purchase
        .offer
        .map(|bid| ("Bid", html! { a.mono.long href=(context.links.to(&paths::bid(bid))) { (bid) } }));
    facts.extend(bid);
    tables::facts(&facts)
}

fn sums(context: &Context, purchase: &TeamPurchase) -> Markup {
    let is_bid = purchase.kind == PurchaseKind::AcceptedBid;
    let total = match purchase.status {
        PurchaseStatus::Pending => "To pay, USD",
        PurchaseStatus::Cancelled => "Not charged, USD",
        PurchaseStatus::Completed | PurchaseStatus::Refunded => "Total, USD",
    };
    html! {
        div.stack {
            (tables::sum(&[
                (if is_bid { "Price, your bid" } else { "Price" }, text::money(purchase.price)),
                ("Buyer fee", text::money(purchase.buyer_fee)),
                (total, text::money(purchase.total())),
            ]))
            @if purchase.status == PurchaseStatus::Completed && purchase.pay_with == PayWith::Credits {
                p.note.no-print { a href=(context.links.to(paths::WALLET)) { "See it in your wallet" } }
            }
        }
    }
}

fn agreement(context: &Context, receipt: &Receipt) -> Markup {
    let purchase = &receipt.purchase;
    html! {
        section.stack aria-labelledby="agreement" {
            h2 #agreement { "Agreement" }
            @if let Some(terms) = &receipt.ordered_terms { (deals::agreement(terms)) }
            @match &receipt.agreement {
                Some(agreement) => {
                    (deals::agreement(&agreement.text))
                    (tables::facts(&[
                        ("Agreement ID", html! { span.mono.long {
                            @match agreement.document { Some(id) => (id), None => (text::MISSING) }
                        } }),
                        ("Signed", text::moment(agreement.created_at)),
                        ("SHA-256", html! { span.mono.long { (agreement.sha256) } }),
                    ]))
                    p.no-print { a href=(context.links.to(&receipt_files::path(purchase.id, "agreement"))) download {
                        "Download the text of the agreement"
                    } }
                }
                None => p.note { (no_agreement(purchase.status)) },
            }
        }
    }
}

const fn no_agreement(status: PurchaseStatus) -> &'static str {
    match status {
        PurchaseStatus::Pending => "The agreement is made of this text when the purchase is complete.",
        PurchaseStatus::Cancelled => "No agreement was made, since the purchase was canceled.",
        PurchaseStatus::Completed | PurchaseStatus::Refunded => {
            "The text of this agreement is not stored: the purchase is older than the storage of agreements."
        }
    }
}

fn manifest(context: &Context, receipt: &Receipt) -> Markup {
    let page = &receipt.manifest;
    let is_ready = matches!(receipt.delivery, DeliveryState::Ready(_));
    let has_data = is_ready && !has_descriptions_only(receipt);
    let heading = if has_data { "What was delivered" } else { document(receipt.purchase.status).assets };
    let rest = match receipt.delivery {
        DeliveryState::Ready(_) => "; the file of digests lists all",
        DeliveryState::Unpaid | DeliveryState::Preparing(_) => "; all are listed when the download is ready",
        DeliveryState::Cancelled | DeliveryState::Refunded => "",
    };
    let shown = page.lines.len() as u64;
    html! {
        section.stack aria-labelledby="manifest" {
            h2 #manifest { (heading) }
            @if page.lines.is_empty() { p.note { "No assets." } }
            @else if is_ready { (files(&page.lines)) (delivered_by_vendor(receipt)) }
            @else { (assets(&page.lines)) }
            p.note {
                (text::counted(page.total, "asset", "assets"))
                @if let DeliveryState::Ready(archive) = &receipt.delivery {
                    @let describing = archive.documents.len() as u64;
                    " · " (text::counted(archive.file_count, "file", "files")) ": "
                    (text::grouped(archive.file_count.saturating_sub(describing))) " of the assets, "
                    (text::counted(describing, "that describes them", "that describe them")) " · "
                    (text::grouped(archive.size_bytes)) " bytes as one ZIP file"
                }
                @if shown < page.total { " · The first " (text::grouped(shown)) " are shown" (rest) "." }
            }
            @if is_ready && shown < page.total {
                p.no-print { a href=(context.links.to(&receipt_files::path(receipt.purchase.id, "sha256"))) download {
                    "Download all digests"
                } }
            }
        }
    }
}

/// Says how the vendor delivers, if the download has only the description of an asset.
fn delivered_by_vendor(receipt: &Receipt) -> Markup {
    let is_missing = receipt.manifest.lines.iter().any(ReceiptLine::is_description_only);
    let agreement = receipt.agreement.as_ref().filter(|_| is_missing);
    let delivery = agreement.and_then(|agreement| agreements::delivery(&agreement.text)).map(Delivery::from);
    html! { @if let Some(text) = delivery.and_then(Delivery::by_vendor) { p { (text) } } }
}

fn files(lines: &[ReceiptLine]) -> Markup {
    let row = |line: &ReceiptLine| {
        let missing = || html! { (text::MISSING) };
        let [path, size, digest] = match &line.file {
            Some(file) => [
                html! {
                    span.mono.long { (file.path) }
                    @if line.is_description_only() { br; span.note { (description_only(file.problem.as_deref())) } }
                },
                html! { (text::grouped(file.size_bytes)) },
                html! { span.mono.long { (file.sha256) } },
            ],
            None => [missing(), missing(), missing()],
        };
        [
            Head::text("Asset").cell(html! { bdi.long { (line.name) } }),
            Head::text("File").cell(path),
            Head::number("Bytes").cell(size),
            Head::text("SHA-256").cell(digest),
        ]
    };
    tables::of("Files", lines, row)
}

fn assets(lines: &[ReceiptLine]) -> Markup {
    let row = |line: &ReceiptLine| {
        let name = html! { bdi.long { (line.name) } };
        [Head::text("Asset").cell(name), Head::text("Kind").cell(text::words(kinds::words(line.kind).0))]
    };
    tables::of("Assets", lines, row)
}

/// Returns a value that is a secret or a name for programs, and what it is for.
fn explained(value: &impl std::fmt::Display, purpose: &str) -> Markup {
    html! { span.mono.long { (value) } p.note { (purpose) } }
}

/// Shows the signed statement of the market, and the proof that it is about the buyer.
fn attestation(context: &Context, receipt: &Receipt, attestation: &AttestationSummary) -> Markup {
    let purchase = &receipt.purchase;
    let keys = signing_keys::PUBLISHED_PATH.rsplit('/').next().unwrap_or_default();
    let proof = attestation.is_logged.then(|| receipt_files::proof_name(purchase.id));
    html! {
        section.stack aria-labelledby="attestation" {
            h2 #attestation { "Attestation" }
            p { "The market has signed what it delivered, what it had checked, and under which terms. Anybody who has the market's \
                 public keys can verify it with the download, without this market. Save the files below beside the download, then run:" }
            pre { code {
                "marketplace verify-bundle " (archive_name(purchase.listing)) " --keys " (keys)
                @if let Some(proof) = &proof { " --proof " (proof) }
            } }
            (tables::facts(&[
                ("Attested", text::moment(attestation.created_at)),
                ("Digest of the statement", explained(&attestation.statement_sha256, "Names what the market has signed.")),
                ("ID of your team", explained(&receipt.buyer_id, "The attestation does not have it. With the salt, it \
                    proves that the attestation is about your team: add --buyer and --salt to the command.")),
                ("Salt (a secret)", explained(&HEXLOWER.encode(&attestation.salt), "With it, anybody can see that the \
                    attestation is about your team. Show it only to those who may know.")),
            ]))
            @if proof.is_none() {
                p.note.no-print { "The proof that the attestation is in the public log of the market is available within an hour." }
            }
            p.row.no-print {
                a href=(context.links.outside(signing_keys::PUBLISHED_PATH)) download=(keys) { "Download the market's public keys" }
                @if proof.is_some() {
                    a href=(context.links.to(&receipt_files::path(purchase.id, "proof"))) download {
                        "Download the proof that this is in the market's public log"
                    }
                }
                a href=(context.links.to(&receipt_files::path(purchase.id, "attestation"))) download { "Download attestation.json" }
            }
        }
    }
}

/// Returns how to check what was downloaded.
fn verification(context: &Context, purchase: &TeamPurchase, archive: &Archive) -> Markup {
    let name = receipt_files::digests_name(purchase.id);
    let documents = archive.documents.iter();
    let names: Vec<String> = documents.clone().map(|(path, _)| format!("Digest of {path}")).collect();
    let digests = documents.map(|(_, digest)| html! { span.mono.long { (digest.sha256) } });
    let mut facts = vec![("Size of the download", html! { (text::grouped(archive.size_bytes)) " bytes" })];
    facts.extend(names.iter().map(String::as_str).zip(digests));
    html! {
        section.stack.no-print aria-labelledby="verify" {
            h2 #verify { "Check what you received" }
            p { "Unpack the download, save the file of digests beside the unpacked files, then run:" }
            pre { code { "sha256sum --check " (name) } }
            p { a href=(context.links.to(&receipt_files::path(purchase.id, "sha256"))) download { "Download " (name) } }
            (tables::facts(&facts))
            p.note { "The link of the download is valid for an hour or longer. Open this page again for a new one." }
        }
    }
}
