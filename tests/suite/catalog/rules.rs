//! The rules of the catalog one by one, each on the smallest market that shows it.

use poem::http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::small_market::{BROWSE, keys, listing, matching_keys, published, small_market, small_market_with};
use crate::harness::demo;

/// Rule 1: the first page has counts and facets, later pages do not.
#[tokio::test]
async fn rule_1_only_the_first_page_has_counts_and_facets() {
    let market = small_market(&[
        published("a", 5, &json!({})),
        published("b", 4, &json!({})),
        published("c", 3, &json!({})),
    ]);
    let first = market.get("mkt_buyer", &format!("{BROWSE}?limit=2&sort=recent")).await.ok();
    assert_eq!(keys(&first), ["c", "b"]);
    assert_eq!(first["counts"], json!({"all": 3, "owned": 0}));
    assert_eq!(first["limit"], 2);
    let cursor = first["next_cursor"].as_str().unwrap();
    let last = market.get("mkt_buyer", &format!("{BROWSE}?limit=9&sort=recent&cursor={cursor}")).await.ok();
    assert_eq!(keys(&last), ["a"]);
    assert_eq!(
        (&last["counts"], &last["facets"], &last["next_cursor"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    // A cursor is not bound to a team.
    let other = market.get("mkt_both", &format!("{BROWSE}?limit=9&sort=recent&cursor={cursor}")).await.ok();
    assert_eq!(keys(&other), ["a"]);
}

/// A query without words is treated as no query: its first page is the same, including the cursor, in either order of requests.
#[tokio::test]
async fn cursor_of_a_query_without_words_is_that_of_no_query() {
    let market = small_market(&[
        published("a", 5, &json!({})),
        published("b", 4, &json!({})),
        published("c", 3, &json!({})),
    ]);
    for (limit, query) in [(1, "%20"), (2, "%2D%20%21")] {
        let first = market.get("mkt_buyer", &format!("{BROWSE}?limit={limit}&query={query}")).await.ok();
        let second = market.get("mkt_buyer", &format!("{BROWSE}?limit={limit}")).await.ok();
        assert_eq!(first, second);
        let cursor = second["next_cursor"].as_str().unwrap();
        market.get("mkt_buyer", &format!("{BROWSE}?limit=2&cursor={cursor}")).await.ok();
        market.get("mkt_buyer", &format!("{BROWSE}?limit=2&query=%21&cursor={cursor}")).await.ok();
    }
}

/// Rule 2: facets ignore filters and count all published listings, or all that match the text. Counts apply
/// both.
#[tokio::test]
async fn rule_2_facets_ignore_filters() {
    let market = small_market(&[
        published("a", 5, &json!({"title": "Zorb", "domain_tags": ["finance"]})),
        published("b", 4, &json!({"title": "Zorb", "domain_tags": ["legal"], "team": "both"})),
        published("c", 3, &json!({"title": "Vimp", "domain_tags": ["legal"]})),
        listing("d", &json!({"title": "Zorb", "domain_tags": ["gaming"]})),
    ]);
    let page = market.get("mkt_both", &format!("{BROWSE}?tags=finance&owned=true")).await.ok();
    assert_eq!(page["counts"], json!({"all": 0, "owned": 0}));
    assert_eq!(page["facets"]["tags"], json!({"finance": 1, "legal": 2}));
    assert_eq!(page["facets"]["lifecycle_stages"], json!({"active": 3}));
    let page = market.get("mkt_both", &format!("{BROWSE}?tags=legal&query=zorb")).await.ok();
    assert_eq!(page["counts"], json!({"all": 1, "owned": 1}));
    assert_eq!(page["facets"]["tags"], json!({"finance": 1, "legal": 1}));
    assert_eq!(page["facets"].as_object().unwrap().len(), 8);
}

/// Rule 3: the count of an asset kind that a listing does not have is zero.
#[tokio::test]
async fn rule_3_count_of_a_missing_kind_is_zero() {
    let market = small_market(&[published("a", 5, &json!({}))]);
    for kind in ["codebases", "tasksets", "environments", "robotics_datasets", "tasks"] {
        for (query, expected) in
            [(format!("max_{kind}=0"), 1), (format!("min_{kind}=0"), 1), (format!("min_{kind}=1"), 0)]
        {
            assert_eq!(matching_keys(&market, &query).await.len(), expected, "{query}");
        }
    }
    assert_eq!(matching_keys(&market, "min_raw_data=1&max_raw_data=1").await.len(), 1);
}

/// Rule 4: a team without catalog access gets the same unfiltered first page as other teams, except for
/// `locked`.
#[tokio::test]
async fn rule_4_locked_first_page_equals_the_open_one() {
    let path = format!("{BROWSE}?limit=7");
    let (mut locked, open) =
        (demo().get("mkt_demo_locked", &path).await.ok(), demo().get("mkt_demo_buyer", &path).await.ok());
    assert_eq!(locked["locked"], true);
    assert_eq!(open["locked"], false);
    assert_eq!(locked["next_cursor"], Value::Null, "a locked team cannot get a second page");
    assert_eq!(locked["counts"]["owned"], 1);
    for field in ["locked", "next_cursor"] {
        locked[field] = open[field].clone();
    }
    locked["counts"]["owned"] = open["counts"]["owned"].clone();
    assert_eq!(locked, open);
    let access = demo().get("mkt_demo_locked", "/v2/listings/browse/access").await.ok();
    assert_eq!(access, json!({"published_count": 1, "required_count": 3, "unlocked": false}));
}

#[tokio::test]
async fn empty_ranges_and_unknown_values_match_nothing() {
    for query in [
        "min_price=5&max_price=4",
        "min_tasks=2&max_tasks=1",
        "min_loc=9&max_loc=8",
        "min_zip_size_gb=2&max_zip_size_gb=1",
        "min_raw_data=2&max_raw_data=1",
        "min_sample_price=1&max_sample_price=0",
        "tags=nope",
        "tag_slugs=nope",
        "asset_types=nope",
        "languages=nope",
        "file_extensions=.csv",
        "robotics_formats=nope",
        "robotics_formats=",
        "capabilities=nope",
        "vendor_tiers=9",
        "vendor_tiers=-3",
        "tags=",
        "tags=Finance",
        "query=%00zzzzzzzz",
    ] {
        let page = demo().get("mkt_demo_buyer", &format!("{BROWSE}?{query}")).await.ok();
        assert_eq!((&page["counts"]["all"], keys(&page).len()), (&json!(0), 0), "{query}");
        assert!(page["next_cursor"].is_null() && page["facets"].is_object(), "{query}");
    }
    // A listing matches if it has any value of the list, so an additional unknown value changes nothing.
    let known = demo().get("mkt_demo_buyer", &format!("{BROWSE}?robotics_formats=lerobot_v3")).await.ok();
    let both = demo()
        .get("mkt_demo_buyer", &format!("{BROWSE}?robotics_formats=lerobot_v3&robotics_formats=x"))
        .await
        .ok();
    assert_eq!(known["counts"], both["counts"]);
    assert_ne!(known["counts"]["all"], 0);
}

/// Price and size bounds are exact for every amount that their decimals can express.
#[tokio::test]
async fn decimal_bounds_are_inclusive() {
    let sizes: [(u64, &str); 5] = [
        (4_350_000_000, "4.35"),
        (2_300_000_000, "2.3"),
        (1_001_000_000, "1.001"),
        (8_200_000_000, "8.2"),
        (9_950_000_000, "9.95"),
    ];
    for (bytes, size) in sizes {
        let asset = json!({"key": "zip", "team": "seller", "sku": "raw_data", "title": "Zip", "created_at": "-P90D",
            "raw_data": {"data": {"channel": "zip", "archive_status": "completed", "analysis_status": "completed",
                "attached_at": "-P80D", "archive_bytes": bytes}}});
        let sold =
            published("a", 5, &json!({"assets": ["zip"], "price_usd": 19.99, "sample_price_usd": 0.29}));
        let market = small_market_with(&[sold], &json!({"assets": [asset]}));
        for query in [
            format!("min_zip_size_gb={size}&max_zip_size_gb={size}"),
            "min_price=19.99&max_price=19.99".to_owned(),
            "min_sample_price=0.29&max_sample_price=0.29".to_owned(),
        ] {
            assert_eq!(matching_keys(&market, &query).await.len(), 1, "{bytes}: {query}");
        }
    }
}

#[tokio::test]
async fn bounds_never_match_listings_without_the_value() {
    let market = small_market(&[published("a", 5, &json!({}))]);
    for query in [
        "max_sample_price=9",
        "min_sample_price=0",
        "sample_available=true",
        "max_price_per_task=1e9",
        "min_price_per_task=0",
    ] {
        assert!(matching_keys(&market, query).await.is_empty(), "{query}");
    }
    assert_eq!(matching_keys(&market, "sample_available=false").await.len(), 1);
}

#[tokio::test]
async fn recommended_puts_featured_first_only_without_filters() {
    let market = small_market(&[
        published("old", 9, &json!({"featured": 2})),
        published("new", 1, &json!({})),
        published("older", 20, &json!({"featured": 1})),
        published("twin", 1, &json!({})),
        published("dear", 5, &json!({"price_usd": 900})),
        published("cheap", 5, &json!({"price_usd": 0})),
    ]);
    let new_first = ["twin", "new", "cheap", "dear", "old", "older"];
    for (query, expected) in [
        ("", ["older", "old", "twin", "new", "cheap", "dear"]),
        ("sort=recommended&limit=50", ["older", "old", "twin", "new", "cheap", "dear"]),
        ("verified_only=false&query=%20", ["older", "old", "twin", "new", "cheap", "dear"]),
        ("asset_types=raw_data", new_first),
        ("query=about", new_first),
        ("sort=recent", new_first),
        ("sort=price_low", ["cheap", "twin", "new", "old", "older", "dear"]),
        ("sort=price_high", ["dear", "twin", "new", "old", "older", "cheap"]),
    ] {
        let page = market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok();
        assert_eq!(keys(&page), expected, "{query}");
    }
}

#[tokio::test]
async fn by_ids_returns_published_listings_in_browse_order() {
    let market = small_market(&[
        published("a", 9, &json!({"price_usd": 5})),
        published("b", 3, &json!({"price_usd": 7})),
        listing("draft", &json!({})),
        published("c", 3, &json!({"price_usd": 6, "featured": 1})),
    ]);
    let path = "/v2/listings/browse/by-ids";
    let all = ["a", "b", "c", "draft"]
        .map(|key| format!("ids={}", marketplace::clock::fixture_record_id("listings", key)))
        .join("&");
    for (query, expected) in [
        (String::new(), &[][..]),
        (format!("{all}&ids={}", Uuid::nil()), &["c", "b", "a"]),
        (format!("{all}&{all}&sort=price_low"), &["a", "c", "b"]),
        (format!("{all}&sort=price_high"), &["b", "c", "a"]),
        (format!("{all}&sort=recent"), &["c", "b", "a"]),
        // IDs are a filter, so featured listings do not come first.
        (format!("{all}&sort=recommended"), &["c", "b", "a"]),
    ] {
        let response = market.get("mkt_seller", &format!("{path}?{query}")).await.ok();
        assert_eq!(keys(&json!({"items": response["listings"]})), expected, "{query}");
    }
    let ids = |count: u128| {
        (0..count).map(|id| format!("ids={}", Uuid::from_u128(id))).collect::<Vec<_>>().join("&")
    };
    assert_eq!(market.get("mkt_buyer", &format!("{path}?{}", ids(200))).await.status, 200);
    let rejected = market.get("mkt_buyer", &format!("{path}?{}", ids(201))).await;
    assert_eq!((rejected.status, rejected.error_code().as_str()), (422, "too_long"));
}

#[tokio::test]
async fn search_matches_words_stems_prefixes_phrases_and_typos() {
    let market = small_market(&[
        published("a", 3, &json!({"title": "Crème brûlée recipes", "description": "Tested in kitchens"})),
        published(
            "b",
            2,
            &json!({"title": "Robot arms", "description": "picking things, \"quoted\"", "tag_slugs": ["teleoperated"]}),
        ),
        published("c", 1, &json!({"title": "数据 市场", "description": "данные 48213", "team": "both"})),
    ]);
    for (query, expected) in [
        ("creme%20brulee", &["a"][..]),
        ("CRÈME", &["a"]),
        ("recipe", &["a"]),
        ("testing", &["a"]),
        ("reci", &["a"]),
        ("recipes%20kitch", &["a"]),
        ("kitch%20recipes", &[]),
        ("robots%20arm", &["b"]),
        ("pick", &["b"]),
        ("%22robot%20arms%22", &["b"]),
        ("%22arms%20robot%22", &[]),
        ("%22robot%20thing%22", &[]),
        ("arms%20robot", &["b"]),
        ("recipez", &["a"]),
        ("recpies", &["a"]),
        ("rexipezz", &[]),
        ("robt", &[]),
        ("%22recipez%22", &[]),
        ("48213", &["c"]),
        ("48214", &[]),
        ("r3cipes", &[]),
        ("teleoperated", &["b"]),
        ("数据", &["c"]),
        ("данные", &["c"]),
        ("both%20house", &["c"]),
        ("robot%20recipes", &[]),
        ("%22unclosed", &[]),
        ("%22robot%20arms", &["b"]),
        ("+-!(){}[]^~*?:%5C/", &["c", "b", "a"]),
        ("%22%22", &["c", "b", "a"]),
        ("NOT%20robot", &[]),
        ("title:robot", &[]),
        ("robot*", &["b"]),
        ("%F0%9F%A6%80", &["c", "b", "a"]),
    ] {
        let page = market.get("mkt_buyer", &format!("{BROWSE}?query={query}&sort=recent")).await.ok();
        assert_eq!(keys(&page), expected, "{query}");
    }
}

/// Case and accents do not matter in any script, but letters do.
#[tokio::test]
async fn text_is_found_in_any_case_and_without_its_marks() {
    let titled = |key: &str, days, title: &str| published(key, days, &json!({"title": title}));
    let market = small_market(&[
        titled("a", 9, "كِتَاب שָׁלוֹם"),
        titled("b", 8, "χάρτης Straße"),
        titled("c", 7, "Ёлки и й"),
        titled("d", 6, "İstanbul Cafe\u{301}"),
        titled("old", 5, "हिन्दी ﾃﾞｰﾀ"),
    ]);
    for (query, expected) in [
        ("كتاب", &["a"][..]),
        ("كِتَاب", &["a"]),
        ("שלום", &["a"]),
        ("ΧΑΡΤΗΣ", &["b"]),
        ("χαρτησ", &["b"]),
        ("strasse", &["b"]),
        ("STRAẞE", &["b"]),
        ("елки", &["c"]),
        ("ЁЛКИ", &["c"]),
        ("й ", &["c"]),
        ("istanbul", &["d"]),
        ("ISTANBUL", &["d"]),
        ("café", &["d"]),
        ("cafe", &["d"]),
        ("हिन्दी", &["old"]),
        ("हनद", &[]),
        ("データ", &["old"]),
        ("テ\u{3099}ータ", &["old"]),
    ] {
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let page = market.get("mkt_buyer", &format!("{BROWSE}?query={query}&sort=recent")).await.ok();
        assert_eq!(keys(&page), expected, "{query}");
    }
}

#[tokio::test]
async fn hostile_search_texts_cause_no_server_error() {
    let long = "a%20".repeat(2500);
    let nested = "%22".repeat(3000);
    for query in [
        "%00",
        "a%00b",
        "%zz",
        "%",
        "%f",
        "%FF%FE",
        "%C3",
        "%22%22%22",
        "%27%20OR%201=1--",
        "%3Cscript%3E",
        "a%20AND%20(b",
        "%E2%80%AE%E2%80%8F",
        "%D8%A7%D9%84%D8%A8%D9%8A%D8%A7%D9%86%D8%A7%D8%AA",
        "%F0%9F%8F%B3%EF%B8%8F",
        "%CC%81%CC%81%CC%81",
        &long,
        &nested,
    ] {
        for rest in ["", "&sort=price_low&tags=%00&languages=%FF"] {
            let response = demo().get("mkt_demo_buyer", &format!("{BROWSE}?query={query}{rest}")).await;
            assert_eq!(response.status, 200, "{query}{rest}: {}", String::from_utf8_lossy(&response.bytes));
        }
    }
    let at_most = demo().get("mkt_demo_buyer", &format!("{BROWSE}?query={}", "a".repeat(10_000))).await;
    assert_eq!(at_most.status, 200);
    let longer = demo().get("mkt_demo_buyer", &format!("{BROWSE}?query={}", "%C3%A9".repeat(10_001))).await;
    assert_eq!((longer.status, longer.error_code().as_str()), (422, "string_too_long"));
    let response = demo().get("mkt_demo_buyer", &format!("{BROWSE}?query={}", "%C3%A9".repeat(10_000))).await;
    assert_eq!(response.status, 200, "the limit is in characters, not bytes");
    for query in ["%zz=1", "=", "=1", "%FF=1", "query", "&&&&", "%00=1"] {
        let response =
            demo().send(Method::GET, &format!("{BROWSE}?{query}"), &[("x-api-key", "mkt_demo_buyer")]).await;
        assert!([200, 422].contains(&response.status), "{query}: {}", response.status);
    }
}

#[tokio::test]
async fn cursor_works_only_with_the_query_that_created_it() {
    let get = |path: String| async move { demo().get("mkt_demo_buyer", &path).await };
    let of = |query: &'static str| async move {
        let page = get(format!("{BROWSE}?limit=2&{query}")).await.ok();
        page["next_cursor"].as_str().unwrap_or_else(|| panic!("{query} has one page")).to_owned()
    };
    let plain = of("").await;
    for (made_by, sent_with) in [
        ("", "sort=recent"),
        ("", "query=data"),
        ("", "verified_only=true"),
        ("", "owned=true"),
        ("", "min_price=0"),
        ("sort=price_low", "sort=price_high"),
        ("query=data", "query=datas"),
        ("query=data", ""),
        ("min_price=1", "min_price=2"),
        ("tags=finance", "tag_slugs=finance"),
        ("min_tasks=0", "max_tasks=0"),
        ("sample_available=true", "sample_available=false"),
    ] {
        let cursor = of(made_by).await;
        let own = get(format!("{BROWSE}?cursor={cursor}&limit=9&{made_by}")).await;
        assert_eq!(own.status, 200, "{made_by}");
        let foreign = get(format!("{BROWSE}?cursor={cursor}&{sent_with}")).await;
        assert_eq!(
            (foreign.status, foreign.error_code().as_str()),
            (400, "invalid_cursor"),
            "{made_by} sent with {sent_with}"
        );
    }
    let mut forged: Vec<String> = (0..plain.len())
        .step_by(5)
        .map(|index| {
            let mut bytes = plain.clone().into_bytes();
            bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
            String::from_utf8(bytes).unwrap()
        })
        .collect();
    forged.extend(
        ["", "x", "%00", "null", &plain[1..], &format!("{plain}A"), &format!("{plain}=")].map(str::to_owned),
    );
    for cursor in forged {
        let response = get(format!("{BROWSE}?cursor={cursor}")).await;
        assert_eq!((response.status, response.error_code().as_str()), (400, "invalid_cursor"), "{cursor}");
    }
}
