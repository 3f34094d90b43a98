//! Text search: stems, accents, prefixes, phrases, misspellings, and hostile texts.

use marketplace_index::document::{Stage, Text};
use marketplace_index::{Filters, MAX_SEARCH_WORDS, MAX_WORD_CHARS, Scope, Search, is_blank};

use proptest::prelude::*;

use crate::market::{TestIndex, active_listing, listing_with_title, search_all};

fn check(titles: &[&str], table: &[(&str, &[u64])]) {
    let market = TestIndex::with_titles(titles);
    for (text, found) in table {
        assert_eq!(market.find(text), *found, "{text:?} among {titles:?}");
    }
}

#[test]
fn words_match_by_stem_without_accents_or_case() {
    check(
        &[
            "Running ROBOTS",
            "the robot runs",
            "Crème brûlée café",
            "Übersetzung für Anfänger",
            "naïve",
            "数据 市场",
        ],
        &[
            ("robot ", &[2, 1]),
            ("ROBOTS run", &[2, 1]),
            ("creme BRULEE", &[3]),
            ("cre\u{300}me cafe\u{301}", &[3]),
            ("ubersetzung fur", &[4]),
            ("naïve naive", &[5]),
            ("数据", &[6]),
            ("市", &[6]),
            ("robot cafe", &[]),
        ],
    );
}

#[test]
fn words_of_all_scripts_match_without_marks_and_case() {
    check(
        &["كِتَاب שָׁלוֹם", "χάρτης Straße", "Ёлки Йод", "İstanbul Cafe\u{301}", "हिन्दी ﾃﾞｰﾀ", "C♯ Ｃ＋＋"],
        &[
            ("كتاب שלום", &[1]),
            ("ΧΑΡΤΗΣ STRASSE", &[2]),
            ("\"χαρτησ strasse\"", &[2]),
            ("елки", &[3]),
            ("ел", &[3]),
            ("И\u{306}ОД", &[3]),
            ("иод ", &[]),
            ("ISTANBUL café", &[4]),
            ("हिन्दी データ", &[5]),
            ("हनद", &[]),
            ("c# c++", &[6]),
        ],
    );
}

#[test]
fn only_the_last_word_is_a_prefix() {
    check(
        &["kitchen dataset", "kitten data", "kit"],
        &[
            ("kit", &[3, 2, 1]),
            ("kitt", &[2]),
            ("kit dat", &[]),
            ("dataset kit", &[1]),
            ("data k", &[2]),
            ("dat \"kitten\"", &[]),
            ("\"kitten\" dat", &[2]),
            ("\"kit\"", &[3]),
            ("kit kit", &[3]),
            ("kit kitch", &[]),
            ("kitch kitch", &[]),
            ("kitchen kitchen", &[1]),
            ("kit \"kitchen\" kit", &[]),
        ],
    );
}

#[test]
fn names_with_signs_are_words() {
    check(
        &[
            "C++ parser",
            "C# tools",
            "F# tools",
            "ASP.NET tools",
            "net weight",
            "a tool in C",
            "Notepad++",
            "VB.NET, C♯",
            "AI#1, C++17",
        ],
        &[
            ("C++", &[9, 1]),
            ("c++ ", &[9, 1]),
            ("ai 1", &[9]),
            ("ai#1", &[9]),
            ("Ｃ＋＋17", &[9]),
            ("C# tools", &[2]),
            ("c#", &[8, 2]),
            ("f# tool", &[3]),
            ("C tool", &[6]),
            ("\"c# tools\"", &[2]),
            (".NET", &[8, 4]),
            ("tools .NET", &[4]),
            ("net", &[8, 5, 4]),
            ("notepad", &[7]),
            ("NOTEPAD++ notepad", &[7]),
        ],
    );
}

/// In Unicode, vowel signs and viramas are parts of letters, but not letters.
#[test]
fn words_of_indic_scripts_are_whole() {
    check(
        &["हिन्दी भाषा", "रम क", "क्रम", "சென்னை", "ไทย हिन्दी"],
        &[
            ("हिन्दी", &[5, 1]),
            ("हिन भाषा", &[]),
            ("क्रम", &[3]),
            ("रम", &[2]),
            ("சென்னை", &[4]),
            ("சென்", &[4]),
            ("சென் क", &[]),
        ],
    );
}

#[test]
fn text_is_found_however_its_characters_are_written() {
    check(
        &[
            "ﾃﾞｰﾀｾｯﾄ",
            "データセット",
            "テ\u{3099}ータ",
            "Ｒｏｂｏｔ ﬁngers",
            "и\u{306}од",
            "\u{1103}\u{1166}이터",
        ],
        &[
            ("データ", &[3, 2, 1]),
            ("ﾃﾞｰﾀ", &[3, 2, 1]),
            ("テ\u{3099}ータセ", &[2, 1]),
            ("テ", &[]),
            ("robot", &[4]),
            ("fingers", &[4]),
            ("йод", &[5]),
            ("데이터", &[6]),
        ],
    );
}

#[test]
fn text_without_spaces_is_found_by_any_part() {
    check(
        &[
            "机器人操作数据集",
            "ロボットアームのデータセット",
            "ชุดข้อมูลหุ่นยนต์",
            "AI数据 set",
            "数 据",
            "robot 数据集 set",
        ],
        &[
            ("操作数据", &[1]),
            ("作", &[1]),
            ("机器人 数据", &[1]),
            ("机器数据", &[]),
            ("アームの", &[2]),
            ("データ", &[2]),
            ("タデ", &[]),
            ("ข้อมูล", &[3]),
            ("หุ่น ชุด", &[3]),
            ("มูลข้อ", &[]),
            ("数据", &[6, 4, 1]),
            ("数", &[6, 5, 4, 1]),
            ("ai数", &[4]),
            ("\"AI数据 set\"", &[4]),
            ("\"robot 数据\"", &[6]),
            ("\"robot 数据 set\"", &[]),
            ("rob 数据", &[]),
            ("数据 rob", &[6]),
        ],
    );
}

proptest! {
    #[test]
    fn unspaced_text_matches_exactly_the_texts_that_contain_it(
        titles in proptest::collection::vec("[数据集のデข้]{1,7}", 1..6),
        part in "[数据集のデข้]{1,4}",
    ) {
        let market = TestIndex::with_titles(&titles.iter().map(String::as_str).collect::<Vec<_>>());
        // A search starts at its first letter: a mark before it belongs to no letter.
        let part = part.trim_start_matches('\u{e49}');
        let contains = |title: &str| title.trim_start_matches('\u{e49}').contains(part);
        let expected: Vec<u64> =
            (1..=titles.len()).rev().filter(|title| contains(&titles[title - 1])).map(|title| title as u64).collect();
        prop_assert_eq!(market.find(part), expected);
    }
}

#[test]
fn phrases_match_adjacent_words_within_one_value() {
    let mut market = TestIndex::new();
    let text = Text {
        title: "robot arm".into(),
        description: "dataset of kitchens".into(),
        tag_labels: vec!["gripper tasks".into(), "home robots".into()],
        team_name: "Acme Labs".into(),
    };
    let mut doc = active_listing(1);
    doc.text = text;
    market.commit(&[doc, listing_with_title(2, "arm robot dataset")], &[]);
    for (text, found) in [
        ("\"robot arm\"", &[1][..]),
        ("\"robots arms\"", &[1]),
        ("\"arm robot\"", &[2]),
        ("\"arm dataset\"", &[]),
        ("\"kitchen gripper\"", &[]),
        ("\"tasks home\"", &[]),
        ("\"home robot\" \"acme labs\"", &[1]),
        ("“acme lab” kitchen", &[1]),
        ("„acme lab“ kitchen", &[1]),
        ("„robot arm“ acme", &[1]),
        ("robot \"dataset of kitch", &[]),
        ("robot \"dataset of kitchen", &[1]),
        ("\"dataset", &[2, 1]),
        ("\"robot-arm\"", &[1]),
    ] {
        assert_eq!(market.find(text), found, "{text:?}");
    }
}

#[test]
fn long_words_without_matches_are_retried_with_one_edit() {
    check(
        &["kitchen", "kitten", "mitten", "größer", "cat"],
        &[
            ("kitchn ", &[1]),
            ("kittchen ", &[1]),
            ("kitxhen ", &[1]),
            ("kithcen ", &[1]),
            ("bitten ", &[3, 2]),
            ("kitten ", &[2]),
            ("kithcne ", &[]),
            ("grosxer", &[4]),
            ("kitche mitte", &[]),
            ("kitche", &[1]),
            // Words of four letters are too short for a retry.
            ("catt ", &[]),
            // Words in quotes are not retried.
            ("\"kitchn\"", &[]),
        ],
    );
}

#[test]
fn numbers_are_not_retried() {
    check(
        &["48213", "v4821x", "٤٨٢١٣", "released"],
        &[
            ("48213", &[1]),
            ("48214", &[]),
            ("48213x", &[]),
            ("v4822x", &[]),
            ("٤٨٢١٤", &[]),
            ("relea5ed", &[]),
        ],
    );
}

#[test]
fn retry_depends_on_documents_alive_in_scope() {
    let mut market = TestIndex::new();
    let mut draft = listing_with_title(3, "bitten");
    draft.stage = Stage::Draft;
    draft.team = 2;
    market.commit(&[listing_with_title(1, "kitten"), listing_with_title(2, "kittem"), draft], &[]);
    assert_eq!(market.find("kittem "), [2]);
    // The word occurs in the draft, which is not in the market's scope.
    assert_eq!(market.find("bitten "), [1]);
    let own = Search { scope: Scope::Team(2), text: "kitten".into(), ..search_all() };
    assert_eq!(market.search(&own).listings, [3]);
    market.commit(&[], &[2]);
    assert_eq!(market.find("kittem "), [1]);
}

#[test]
fn only_the_start_of_a_long_word_counts() {
    let long = "x".repeat(MAX_WORD_CHARS + 10);
    let longer = "x".repeat(100_000);
    let other = format!("y{long}");
    check(
        &[&long, &longer, &other],
        &[(&long, &[2, 1]), (&longer, &[2, 1]), (&"x".repeat(MAX_WORD_CHARS), &[2, 1]), ("xxxxx", &[2, 1])],
    );
}

#[test]
fn words_over_the_maximum_are_ignored() {
    let words: Vec<String> = (0..MAX_SEARCH_WORDS).map(|index| format!("w{index}")).collect();
    let text = words.join(" ");
    check(&[&text], &[(&format!("{text} missing"), &[1]), (&format!("missing {text}"), &[])]);
}

#[test]
fn any_text_is_valid() {
    let market = TestIndex::with_titles(&["robot arm", "kitchen"]);
    let all = market.search(&search_all());
    for blank in ["", " ", "\"", "\"\"", "***", "\0", "\u{301}", "()[]{}^~:\\/&&||!", "—", "“”"] {
        assert!(is_blank(blank), "{blank:?}");
        assert_eq!(market.search(&Search { text: blank.into(), ..search_all() }), all, "{blank:?}");
    }
    let texts =
        ["robot \"arm", "a\0b", "title:robot AND (x OR y) NOT z~2^3", "\"\"\"\"robot\"\"\"", "-robot +arm"];
    for text in texts {
        market.find(text);
    }
    let long = "robot ".repeat(2_000);
    assert_eq!(market.find(&long), [1]);
    for script in ["данные робот", "ข้อมูล", "नमस्ते दुनिया", "🤖🤖 robot", "مرحبا", "ﬀﬃ", "ǅ İ ß", "𝔯𝔬𝔟𝔬𝔱"]
    {
        market.find(script);
        market.find(&format!("\"{script}"));
        market.find(&script.repeat(1_000));
    }
    let every_character: String = (0..=0x3_0000).filter_map(char::from_u32).collect();
    for characters in every_character.chars().collect::<Vec<_>>().chunks(5_000) {
        market.find(&characters.iter().collect::<String>());
        market.find(&characters.iter().flat_map(|char| [*char, ' ']).collect::<String>());
    }
    assert_eq!(market.search(&Search { text: " robot ".into(), ..search_all() }).listings, [1]);
}

#[test]
fn blank_text_starts_with_featured_listings() {
    let mut market = TestIndex::new();
    let mut docs: Vec<_> = (1..=4).map(|listing| listing_with_title(listing, "robot")).collect();
    docs[0].featured = Some(2);
    docs[1].featured = Some(1);
    docs[2].flags.certified = true;
    market.commit(&docs, &[]);
    let listings = |search: Search| market.search(&search).listings;
    assert_eq!(listings(search_all()), [2, 1, 3, 4]);
    assert_eq!(listings(Search { text: " ?! ".into(), ..search_all() }), [2, 1, 3, 4]);
    assert_eq!(listings(Search { text: "robot".into(), ..search_all() }), [3, 4, 2, 1]);
    let filters = Filters { sample_available: Some(false), ..Filters::default() };
    assert_eq!(listings(Search { filters, ..search_all() }), [3, 4, 2, 1]);
    assert_eq!(listings(Search { scope: Scope::Team(1), ..search_all() }), [3, 4, 2, 1]);
}
