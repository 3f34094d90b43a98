//! The characters on which variation selectors and joiners have an effect. After other characters, selectors and
//! joiners are invisible and can hide data.

use std::ops::RangeInclusive;

mod variants;

/// Number of selectors from U+E0100 on that are kept after an ideograph; `variants::MANY_VARIANTS` are the
/// exceptions. It is a limit for all ideographs, because the registered variants of each would be a large
/// table.
const IDEOGRAPHIC_SELECTORS: u8 = 8;

/// Returns whether a character is a variation selector.
pub const fn is_selector(character: char) -> bool {
    matches!(character,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a variation selector can change how a base is displayed, if this character follows it.
pub fn can_vary(base: char, selector: char, next: Option<char>) -> bool {
    match selector {
        // A digit is an emoji only as a keycap.
        '\u{fe0e}'..='\u{fe0f}' if matches!(base, '0'..='9' | '#' | '*') => next == Some('\u{20e3}'),
        '\u{fe0e}'..='\u{fe0f}' => is_in(&variants::EMOJI, base),
        '\u{fe00}' => {
            base == '0' || is_in(&variants::FIRST_VARIANTS, base) || has_compatibility_variants(base, 1)
        }
        '\u{fe01}' => is_in(&variants::SECOND_VARIANTS, base) || has_compatibility_variants(base, 2),
        '\u{fe02}' => is_in(&variants::THIRD_VARIANTS, base) || has_compatibility_variants(base, 3),
        '\u{180b}' => is_in(&variants::MONGOLIAN_FIRST_VARIANTS, base),
        '\u{180c}' => is_in(&variants::MONGOLIAN_SECOND_VARIANTS, base),
        '\u{180d}' => is_in(&variants::MONGOLIAN_THIRD_VARIANTS, base),
        '\u{e0100}'..='\u{e01ef}' => u32::from(selector) - 0xe0100 < u32::from(ideographic_selectors(base)),
        _ => false,
    }
}

/// Returns whether at least this many compatibility ideographs are variants of an ideograph.
fn has_compatibility_variants(ideograph: char, number: u8) -> bool {
    let is_any = |table: &[char]| table.binary_search(&ideograph).is_ok();
    is_any(&variants::IDEOGRAPHS_VARIED_THRICE)
        || number <= 2 && is_any(&variants::IDEOGRAPHS_VARIED_TWICE)
        || number <= 1 && is_any(&variants::IDEOGRAPHS_VARIED_ONCE)
}

/// Returns the number of selectors from U+E0100 on that can change a character.
fn ideographic_selectors(base: char) -> u8 {
    if !IDEOGRAPHS.iter().any(|range| range.contains(&base)) {
        return 0;
    }
    let exception = variants::MANY_VARIANTS.binary_search_by_key(&base, |(ideograph, _)| *ideograph);
    exception.map_or(IDEOGRAPHIC_SELECTORS, |index| variants::MANY_VARIANTS[index].1)
}

/// Returns whether a Mongolian vowel separator between two characters can change them: it separates a last
/// *a* or *e* from its word.
pub const fn can_separate(before: char, after: char) -> bool {
    matches!(before, '\u{1820}'..='\u{18aa}') && matches!(after, '\u{1820}' | '\u{1821}')
}

/// Returns whether a joiner can change how this letter is displayed: its script connects or combines letters.
pub fn can_join(letter: char) -> bool {
    !letter.is_numeric() && JOINING_SCRIPTS.iter().any(|range| range.contains(&letter))
}

/// Returns whether a character can be a part of an emoji that consists of several, which joiners connect.
pub fn is_emoji_part(character: char) -> bool {
    EMOJI_PARTS.iter().any(|range| range.contains(&character))
}

/// Returns whether a character is in one of these ranges, which are sorted.
fn is_in(ranges: &[(char, char)], character: char) -> bool {
    let index = ranges.partition_point(|(_, last)| *last < character);
    ranges.get(index).is_some_and(|(first, _)| *first <= character)
}

/// Scripts with cursive letters, and scripts whose consonants combine.
const JOINING_SCRIPTS: [RangeInclusive<char>; 23] = [
    // Arabic, Syriac, N'Ko, Mandaic, without Thaana and Samaritan.
    '\u{620}'..='\u{77f}',
    '\u{7ca}'..='\u{7fa}',
    '\u{840}'..='\u{8ff}',
    // From Devanagari to Sinhala.
    '\u{900}'..='\u{dff}',
    // Myanmar, Khmer, Mongolian.
    '\u{1000}'..='\u{109f}',
    '\u{1780}'..='\u{17d3}',
    '\u{1820}'..='\u{18aa}',
    // Tai Tham, Balinese, Sundanese, Batak, and Vedic signs.
    '\u{1a20}'..='\u{1a7f}',
    '\u{1b00}'..='\u{1bff}',
    '\u{1cd0}'..='\u{1cff}',
    // Phags-pa, Saurashtra, Devanagari, Javanese, Myanmar, Meetei Mayek.
    '\u{a840}'..='\u{a871}',
    '\u{a880}'..='\u{a8ff}',
    '\u{a980}'..='\u{a9ff}',
    '\u{aa60}'..='\u{aa7f}',
    '\u{aae0}'..='\u{aaff}',
    '\u{abc0}'..='\u{abff}',
    // Manichaean, Psalter Pahlavi, Hanifi Rohingya, Sogdian, Old Uyghur, Chorasmian.
    '\u{10ac0}'..='\u{10aff}',
    '\u{10b80}'..='\u{10baf}',
    '\u{10d00}'..='\u{10d3f}',
    '\u{10f30}'..='\u{10fdf}',
    // From Brahmi to Gunjala Gondi, and Tulu-Tigalari.
    '\u{11000}'..='\u{11daf}',
    // Kawi, and Adlam.
    '\u{11f00}'..='\u{11f5f}',
    '\u{1e900}'..='\u{1e95f}',
];

/// Blocks with emoji and the symbols that are joined to them.
const EMOJI_PARTS: [RangeInclusive<char>; 5] = [
    '\u{2190}'..='\u{21ff}',
    '\u{2300}'..='\u{23ff}',
    '\u{2600}'..='\u{27bf}',
    '\u{2b00}'..='\u{2bff}',
    '\u{1f000}'..='\u{1faff}',
];

/// Chinese characters, without the compatibility ideographs, which have no registered variants, except for twelve
/// characters in their block that are not compatibility ideographs.
const IDEOGRAPHS: [RangeInclusive<char>; 12] = [
    '\u{3400}'..='\u{4dbf}',
    '\u{4e00}'..='\u{9fff}',
    '\u{fa0e}'..='\u{fa0f}',
    '\u{fa11}'..='\u{fa11}',
    '\u{fa13}'..='\u{fa14}',
    '\u{fa1f}'..='\u{fa1f}',
    '\u{fa21}'..='\u{fa21}',
    '\u{fa23}'..='\u{fa24}',
    '\u{fa27}'..='\u{fa29}',
    '\u{20000}'..='\u{2a6df}',
    '\u{2a700}'..='\u{2ee5d}',
    '\u{30000}'..='\u{33479}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted() {
        for ranges in [
            &variants::EMOJI[..],
            &variants::FIRST_VARIANTS,
            &variants::SECOND_VARIANTS,
            &variants::THIRD_VARIANTS,
            &variants::MONGOLIAN_FIRST_VARIANTS,
            &variants::MONGOLIAN_SECOND_VARIANTS,
            &variants::MONGOLIAN_THIRD_VARIANTS,
        ] {
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
        for characters in [
            &variants::IDEOGRAPHS_VARIED_ONCE[..],
            &variants::IDEOGRAPHS_VARIED_TWICE,
            &variants::IDEOGRAPHS_VARIED_THRICE,
        ] {
            assert!(characters.is_sorted_by(|a, b| a < b));
        }
        assert!(variants::MANY_VARIANTS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(variants::MANY_VARIANTS.iter().all(|(_, number)| *number > IDEOGRAPHIC_SELECTORS));
    }

    /// Returns how many selectors are kept after a character.
    fn number_of_selectors(base: char) -> usize {
        let selectors =
            ('\u{180b}'..='\u{180f}').chain('\u{fe00}'..='\u{fe0f}').chain('\u{e0100}'..='\u{e01ef}');
        selectors.filter(|selector| can_vary(base, *selector, None)).count()
    }

    #[test]
    fn a_selector_hides_few_bits_in_any_character() {
        // All characters with tables of their own, and the first and last of each range of ideographs.
        let ranges = [&variants::EMOJI[..], &variants::FIRST_VARIANTS, &variants::MONGOLIAN_FIRST_VARIANTS];
        let ranged = ranges.into_iter().flatten().flat_map(|(first, last)| *first..=*last);
        let symbols = ranged.chain('\u{0}'..='\u{ff}').map(number_of_selectors).max();
        assert_eq!(symbols, Some(3), "at most 2 bits in a symbol, an emoji, or a letter");

        let varied = variants::IDEOGRAPHS_VARIED_ONCE.iter().chain(&variants::IDEOGRAPHS_VARIED_TWICE);
        let varied = varied.chain(&variants::IDEOGRAPHS_VARIED_THRICE).copied();
        let ideographs = varied.chain(IDEOGRAPHS.iter().flat_map(|range| [*range.start(), *range.end()]));
        let is_exception =
            |ideograph: &char| variants::MANY_VARIANTS.iter().any(|(other, _)| other == ideograph);
        let most = ideographs.filter(|ideograph| !is_exception(ideograph)).map(number_of_selectors).max();
        assert_eq!(most, Some(11), "at most 3.6 bits in an ideograph");

        let exceptions = variants::MANY_VARIANTS.iter();
        let most = exceptions.map(|(base, _)| (number_of_selectors(*base), *base)).max();
        assert_eq!(most, Some((32, '邉')), "at most 5.1 bits in the character with the most variants");
    }

    #[test]
    fn selectors_vary_only_registered_bases() {
        for (base, selector, expected) in [
            ('\u{2764}', '\u{fe0f}', true),
            ('\u{2764}', '\u{fe0e}', true),
            ('\u{2764}', '\u{fe00}', false),
            ('a', '\u{fe0f}', false),
            ('1', '\u{fe0f}', false),
            ('0', '\u{fe00}', true),
            ('1', '\u{fe00}', false),
            ('\u{2229}', '\u{fe00}', true),
            ('\u{2229}', '\u{fe01}', false),
            ('\u{3001}', '\u{fe01}', true),
            ('\u{8fba}', '\u{e0101}', true),
            ('\u{8fba}', '\u{e0107}', true),
            ('\u{8fba}', '\u{e0108}', false),
            ('\u{9089}', '\u{e011f}', true),
            ('\u{9089}', '\u{e0120}', false),
            ('\u{9f8d}', '\u{e01ef}', false),
            // A compatibility ideograph, and another character in their block.
            ('\u{f900}', '\u{e0100}', false),
            ('\u{f900}', '\u{fe00}', false),
            ('\u{fa11}', '\u{e0104}', true),
            ('\u{2f800}', '\u{e0100}', false),
            ('\u{8fba}', '\u{fe00}', false),
            ('\u{8fba}', '\u{fe03}', false),
            ('\u{6b63}', '\u{fe00}', false),
            ('\u{8c48}', '\u{fe00}', true),
            ('\u{8c48}', '\u{fe01}', false),
            ('\u{1820}', '\u{180b}', true),
            ('\u{1821}', '\u{180c}', false),
            ('\u{1820}', '\u{180f}', false),
            ('\u{13093}', '\u{fe01}', true),
            ('\u{13093}', '\u{fe00}', false),
            ('a', '\u{e0101}', false),
            ('\u{3042}', '\u{e0101}', false),
            ('\u{13093}', '\u{fe05}', false),
        ] {
            assert_eq!(can_vary(base, selector, None), expected, "{base:?} {selector:?}");
        }
        assert!(can_vary('1', '\u{fe0f}', Some('\u{20e3}')));
    }
}
