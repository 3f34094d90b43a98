//! Finds the listings and assets of a vendor that fit an opportunity.

use std::collections::HashSet;

use marketplace_text::equality_key;

use crate::{
    domain::{assets::Kind, opportunities::Opportunity},
    error::Result,
    market::Reader,
    operations::access::Vendor,
    store::{
        self,
        opportunities::Candidate,
        records::{
            Filters,
            pages::{Start, TeamPageRequest},
            team_lists::requests::{self, OpenRequest},
        },
    },
    string_enum::StringEnum,
};

/// Maximum number of listings, and of assets, that are returned.
const MAX_FITTING: usize = 10;

/// A listing or an asset that fits.
#[derive(Clone, Debug)]
pub struct Fitting {
    /// The listing or the asset, which is of an accepted kind.
    pub candidate: Candidate,
    /// The tags of the opportunity that it has, too.
    pub shared_tags: Vec<String>,
}

/// What fits an opportunity, the best first.
#[derive(Clone, Debug, Default)]
pub struct FittingSupply {
    /// Listings that are not archived.
    pub listings: Vec<Fitting>,
    /// Assets that are on none of these.
    pub assets: Vec<Fitting>,
}

/// Returns which of the vendor's newest listings and assets fit an opportunity: they are of an accepted kind, and those that share
/// most tags come first. If any share a tag, the others are left out. Two statements.
pub fn find_fitting(reader: &Reader, vendor: &Vendor, opportunity: &Opportunity) -> Result<FittingSupply> {
    let team = vendor.team_row_id();
    let accepted = &opportunity.accepted_asset_types;
    let kinds: &[Kind] = if accepted.is_empty() { Kind::ALL } else { accepted };
    let tags: Vec<&str> = opportunity.tags().collect();
    Ok(FittingSupply {
        listings: rank(&tags, store::opportunities::list_candidate_listings(reader.rows, team, kinds)?),
        assets: rank(&tags, store::opportunities::list_candidate_assets(reader.rows, team, kinds)?),
    })
}

/// An open request, with how much of the vendor fits it.
#[derive(Clone, Debug)]
pub struct AskedFor {
    /// The request.
    pub request: OpenRequest,
    /// Number of listings that fit.
    pub listings: usize,
    /// Number of assets that fit, and are on no listing.
    pub assets: usize,
    /// Title of the newest of them.
    pub first: Option<String>,
}

/// Returns the newest open requests of both kinds that the vendor may see, with what fits each of them by the rules of
/// [`find_fitting`]. Three statements.
pub fn list_asked_for(reader: &Reader, vendor: &Vendor, limit: u32) -> Result<Vec<AskedFor>> {
    let team = vendor.team_row_id();
    let page = TeamPageRequest { start: Start::Newest, limit, counts: false };
    let requests = requests::page(reader.rows, team, reader.now, &Filters::default(), page)?.rows;
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let listings = keyed(store::opportunities::list_candidate_listings(reader.rows, team, Kind::ALL)?);
    let assets = keyed(store::opportunities::list_candidate_assets(reader.rows, team, Kind::ALL)?);
    let asked_for = |request: OpenRequest| {
        let (listing_count, listing) = count(&request, &listings);
        let (asset_count, asset) = count(&request, &assets);
        let first = listing.or(asset).map(|candidate| candidate.title.clone());
        AskedFor { request, listings: listing_count, assets: asset_count, first }
    };
    Ok(requests.into_iter().map(asked_for).collect())
}

/// Candidates with the keys of their words.
type Keyed = Vec<(Candidate, HashSet<String>)>;

fn keyed(candidates: Vec<Candidate>) -> Keyed {
    let keys = |candidate: &Candidate| candidate.words.iter().map(|word| key_of(word)).collect();
    candidates
        .into_iter()
        .map(|candidate| (keys(&candidate), candidate))
        .map(|(keys, found)| (found, keys))
        .collect()
}

/// Returns how many candidates fit a request, and the first one of them.
fn count<'c>(request: &OpenRequest, candidates: &'c Keyed) -> (usize, Option<&'c Candidate>) {
    let accepted = &request.accepted_asset_types;
    let is_accepted = |candidate: &Candidate| {
        accepted.is_empty() || candidate.kinds.iter().any(|kind| accepted.contains(kind))
    };
    let of_kind: Vec<_> = candidates.iter().filter(|(candidate, _)| is_accepted(candidate)).collect();
    let tags: Vec<String> = request.metadata.tags.iter().map(|tag| key_of(tag)).collect();
    let shares_tag = |(_, keys): &&&(Candidate, HashSet<String>)| tags.iter().any(|tag| keys.contains(tag));
    let sharing: Vec<_> = of_kind.iter().filter(shares_tag).copied().collect();
    let fitting = if sharing.is_empty() { of_kind } else { sharing };
    (fitting.len(), fitting.first().map(|(candidate, _)| candidate))
}

/// Returns the best candidates, those with most of the tags first, and ties in their order.
fn rank(tags: &[&str], candidates: Vec<Candidate>) -> Vec<Fitting> {
    // Of several spellings of a tag, the first one counts.
    let mut keys = HashSet::new();
    let tags = tags.iter().map(|tag| (key_of(tag), *tag));
    let tags: Vec<(String, &str)> = tags.filter(|(key, _)| keys.insert(key.clone())).collect();
    let fitting = |candidate: Candidate| {
        let words: Vec<String> = candidate.words.iter().map(|word| key_of(word)).collect();
        let shared = tags.iter().filter(|(key, _)| words.contains(key));
        Fitting { shared_tags: shared.map(|(_, tag)| (*tag).to_owned()).collect(), candidate }
    };
    let mut ranked: Vec<Fitting> = candidates.into_iter().map(fitting).collect();
    ranked.sort_by_key(|fitting| std::cmp::Reverse(fitting.shared_tags.len()));
    if ranked.first().is_some_and(|best| !best.shared_tags.is_empty()) {
        ranked.retain(|fitting| !fitting.shared_tags.is_empty());
    }
    ranked.truncate(MAX_FITTING);
    ranked
}

/// Returns the key by which a tag and a slug are compared.
fn key_of(word: &str) -> String {
    equality_key(&word.replace(['_', '-'], " "))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn candidates_with_shared_tags_come_first() {
        let candidate = |title: &str, words: &[&str]| Candidate {
            id: Uuid::nil(),
            title: title.to_owned(),
            kinds: vec![Kind::Codebase],
            catalog_status: None,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        let all = || {
            vec![
                candidate("a", &["law"]),
                candidate("b", &["open_source", "cobol"]),
                candidate("c", &["Cobol"]),
            ]
        };
        let titles = |tags: &[&str]| -> Vec<String> {
            rank(tags, all()).into_iter().map(|fitting| fitting.candidate.title).collect()
        };
        assert_eq!(titles(&["COBOL", "Open source"]), ["b", "c"]);
        assert_eq!(titles(&["mainframe"]), ["a", "b", "c"], "of the accepted kinds only");
        assert_eq!(rank(&["COBOL", "x"], all())[0].shared_tags, ["COBOL"]);
        assert_eq!(titles(&["Law", "COBOL", "Cobol"]), ["a", "b", "c"], "a tag in two spellings counts once");
    }
}
