//! The characters that variation selectors and joiners have an effect on. After all others, they are invisible, and
//! can hide data.

use std::ops::RangeInclusive;

/// Returns whether a variation selector can change how a base is displayed, if this character follows it.
///
/// Ideographs have registered variants for most selectors, so they are taken as a whole.
pub fn can_vary(base: char, selector: char, next: Option<char>) -> bool {
    match selector {
        // A digit is an emoji only as a keycap.
        '\u{fe0e}'..='\u{fe0f}' if matches!(base, '0'..='9' | '#' | '*') => next == Some('\u{20e3}'),
        '\u{fe0e}'..='\u{fe0f}' => is_in(&EMOJI, base),
        '\u{fe00}' if base == '0' || is_in(&VARIED, base) => true,
        '\u{fe01}' if is_in(&VARIED_TWICE, base) => true,
        '\u{fe00}'..='\u{fe06}' if HIEROGLYPHS.contains(&base) => true,
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => {
            IDEOGRAPHS.iter().any(|range| range.contains(&base))
        }
        _ => false,
    }
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

/// Chinese characters.
const IDEOGRAPHS: [RangeInclusive<char>; 4] =
    ['\u{3400}'..='\u{4dbf}', '\u{4e00}'..='\u{9fff}', '\u{f900}'..='\u{faff}', '\u{20000}'..='\u{3ffff}'];

/// Egyptian hieroglyphs, of which many can be turned.
const HIEROGLYPHS: RangeInclusive<char> = '\u{13000}'..='\u{1345f}';

/// Characters with a text and an emoji style (`emoji-variation-sequences.txt`), except those of keycaps.
#[rustfmt::skip]
const EMOJI: [(char, char); 176] = [
    ('\u{a9}', '\u{a9}'), ('\u{ae}', '\u{ae}'), ('\u{203c}', '\u{203c}'), ('\u{2049}', '\u{2049}'),
    ('\u{2122}', '\u{2122}'), ('\u{2139}', '\u{2139}'), ('\u{2194}', '\u{2199}'), ('\u{21a9}', '\u{21aa}'),
    ('\u{231a}', '\u{231b}'), ('\u{2328}', '\u{2328}'), ('\u{23cf}', '\u{23cf}'), ('\u{23e9}', '\u{23ea}'),
    ('\u{23ed}', '\u{23ef}'), ('\u{23f1}', '\u{23f3}'), ('\u{23f8}', '\u{23fa}'), ('\u{24c2}', '\u{24c2}'),
    ('\u{25aa}', '\u{25ab}'), ('\u{25b6}', '\u{25b6}'), ('\u{25c0}', '\u{25c0}'), ('\u{25fb}', '\u{25fe}'),
    ('\u{2600}', '\u{2604}'), ('\u{260e}', '\u{260e}'), ('\u{2611}', '\u{2611}'), ('\u{2614}', '\u{2615}'),
    ('\u{2618}', '\u{2618}'), ('\u{261d}', '\u{261d}'), ('\u{2620}', '\u{2620}'), ('\u{2622}', '\u{2623}'),
    ('\u{2626}', '\u{2626}'), ('\u{262a}', '\u{262a}'), ('\u{262e}', '\u{262f}'), ('\u{2638}', '\u{263a}'),
    ('\u{2640}', '\u{2640}'), ('\u{2642}', '\u{2642}'), ('\u{2648}', '\u{2653}'), ('\u{265f}', '\u{2660}'),
    ('\u{2663}', '\u{2663}'), ('\u{2665}', '\u{2666}'), ('\u{2668}', '\u{2668}'), ('\u{267b}', '\u{267b}'),
    ('\u{267e}', '\u{267f}'), ('\u{2692}', '\u{2697}'), ('\u{2699}', '\u{2699}'), ('\u{269b}', '\u{269c}'),
    ('\u{26a0}', '\u{26a1}'), ('\u{26a7}', '\u{26a7}'), ('\u{26aa}', '\u{26ab}'), ('\u{26b0}', '\u{26b1}'),
    ('\u{26bd}', '\u{26be}'), ('\u{26c4}', '\u{26c5}'), ('\u{26c8}', '\u{26c8}'), ('\u{26cf}', '\u{26cf}'),
    ('\u{26d1}', '\u{26d1}'), ('\u{26d3}', '\u{26d4}'), ('\u{26e9}', '\u{26ea}'), ('\u{26f0}', '\u{26f5}'),
    ('\u{26f7}', '\u{26fa}'), ('\u{26fd}', '\u{26fd}'), ('\u{2702}', '\u{2702}'), ('\u{2708}', '\u{2709}'),
    ('\u{270c}', '\u{270d}'), ('\u{270f}', '\u{270f}'), ('\u{2712}', '\u{2712}'), ('\u{2714}', '\u{2714}'),
    ('\u{2716}', '\u{2716}'), ('\u{271d}', '\u{271d}'), ('\u{2721}', '\u{2721}'), ('\u{2733}', '\u{2734}'),
    ('\u{2744}', '\u{2744}'), ('\u{2747}', '\u{2747}'), ('\u{2753}', '\u{2753}'), ('\u{2757}', '\u{2757}'),
    ('\u{2763}', '\u{2764}'), ('\u{27a1}', '\u{27a1}'), ('\u{2934}', '\u{2935}'), ('\u{2b05}', '\u{2b07}'),
    ('\u{2b1b}', '\u{2b1c}'), ('\u{2b50}', '\u{2b50}'), ('\u{2b55}', '\u{2b55}'), ('\u{3030}', '\u{3030}'),
    ('\u{303d}', '\u{303d}'), ('\u{3297}', '\u{3297}'), ('\u{3299}', '\u{3299}'),
    ('\u{1f004}', '\u{1f004}'), ('\u{1f170}', '\u{1f171}'), ('\u{1f17e}', '\u{1f17f}'),
    ('\u{1f202}', '\u{1f202}'), ('\u{1f21a}', '\u{1f21a}'), ('\u{1f22f}', '\u{1f22f}'),
    ('\u{1f237}', '\u{1f237}'), ('\u{1f30d}', '\u{1f30f}'), ('\u{1f315}', '\u{1f315}'),
    ('\u{1f31c}', '\u{1f31c}'), ('\u{1f321}', '\u{1f321}'), ('\u{1f324}', '\u{1f32c}'),
    ('\u{1f336}', '\u{1f336}'), ('\u{1f378}', '\u{1f378}'), ('\u{1f37d}', '\u{1f37d}'),
    ('\u{1f393}', '\u{1f393}'), ('\u{1f396}', '\u{1f397}'), ('\u{1f399}', '\u{1f39b}'),
    ('\u{1f39e}', '\u{1f39f}'), ('\u{1f3a7}', '\u{1f3a7}'), ('\u{1f3ac}', '\u{1f3ae}'),
    ('\u{1f3c2}', '\u{1f3c2}'), ('\u{1f3c4}', '\u{1f3c4}'), ('\u{1f3c6}', '\u{1f3c6}'),
    ('\u{1f3ca}', '\u{1f3ce}'), ('\u{1f3d4}', '\u{1f3e0}'), ('\u{1f3ed}', '\u{1f3ed}'),
    ('\u{1f3f3}', '\u{1f3f3}'), ('\u{1f3f5}', '\u{1f3f5}'), ('\u{1f3f7}', '\u{1f3f7}'),
    ('\u{1f408}', '\u{1f408}'), ('\u{1f415}', '\u{1f415}'), ('\u{1f41f}', '\u{1f41f}'),
    ('\u{1f426}', '\u{1f426}'), ('\u{1f43f}', '\u{1f43f}'), ('\u{1f441}', '\u{1f442}'),
    ('\u{1f446}', '\u{1f449}'), ('\u{1f44d}', '\u{1f44e}'), ('\u{1f453}', '\u{1f453}'),
    ('\u{1f46a}', '\u{1f46a}'), ('\u{1f47d}', '\u{1f47d}'), ('\u{1f4a3}', '\u{1f4a3}'),
    ('\u{1f4b0}', '\u{1f4b0}'), ('\u{1f4b3}', '\u{1f4b3}'), ('\u{1f4bb}', '\u{1f4bb}'),
    ('\u{1f4bf}', '\u{1f4bf}'), ('\u{1f4cb}', '\u{1f4cb}'), ('\u{1f4da}', '\u{1f4da}'),
    ('\u{1f4df}', '\u{1f4df}'), ('\u{1f4e4}', '\u{1f4e6}'), ('\u{1f4ea}', '\u{1f4ed}'),
    ('\u{1f4f7}', '\u{1f4f7}'), ('\u{1f4f9}', '\u{1f4fb}'), ('\u{1f4fd}', '\u{1f4fd}'),
    ('\u{1f508}', '\u{1f508}'), ('\u{1f50d}', '\u{1f50d}'), ('\u{1f512}', '\u{1f513}'),
    ('\u{1f549}', '\u{1f54a}'), ('\u{1f550}', '\u{1f567}'), ('\u{1f56f}', '\u{1f570}'),
    ('\u{1f573}', '\u{1f579}'), ('\u{1f587}', '\u{1f587}'), ('\u{1f58a}', '\u{1f58d}'),
    ('\u{1f590}', '\u{1f590}'), ('\u{1f5a5}', '\u{1f5a5}'), ('\u{1f5a8}', '\u{1f5a8}'),
    ('\u{1f5b1}', '\u{1f5b2}'), ('\u{1f5bc}', '\u{1f5bc}'), ('\u{1f5c2}', '\u{1f5c4}'),
    ('\u{1f5d1}', '\u{1f5d3}'), ('\u{1f5dc}', '\u{1f5de}'), ('\u{1f5e1}', '\u{1f5e1}'),
    ('\u{1f5e3}', '\u{1f5e3}'), ('\u{1f5e8}', '\u{1f5e8}'), ('\u{1f5ef}', '\u{1f5ef}'),
    ('\u{1f5f3}', '\u{1f5f3}'), ('\u{1f5fa}', '\u{1f5fa}'), ('\u{1f610}', '\u{1f610}'),
    ('\u{1f687}', '\u{1f687}'), ('\u{1f68d}', '\u{1f68d}'), ('\u{1f691}', '\u{1f691}'),
    ('\u{1f694}', '\u{1f694}'), ('\u{1f698}', '\u{1f698}'), ('\u{1f6ad}', '\u{1f6ad}'),
    ('\u{1f6b2}', '\u{1f6b2}'), ('\u{1f6b9}', '\u{1f6ba}'), ('\u{1f6bc}', '\u{1f6bc}'),
    ('\u{1f6cb}', '\u{1f6cb}'), ('\u{1f6cd}', '\u{1f6cf}'), ('\u{1f6e0}', '\u{1f6e5}'),
    ('\u{1f6e9}', '\u{1f6e9}'), ('\u{1f6f0}', '\u{1f6f0}'), ('\u{1f6f3}', '\u{1f6f3}'),
];

/// Characters with a variant for the first selector (`StandardizedVariants.txt`), except ideographs, hieroglyphs,
/// and the digit zero.
#[rustfmt::skip]
const VARIED: [(char, char); 57] = [
    ('\u{1000}', '\u{1000}'), ('\u{1002}', '\u{1002}'), ('\u{1004}', '\u{1004}'), ('\u{1010}', '\u{1011}'),
    ('\u{1015}', '\u{1015}'), ('\u{1019}', '\u{101a}'), ('\u{101c}', '\u{101d}'), ('\u{1022}', '\u{1022}'),
    ('\u{1031}', '\u{1031}'), ('\u{1075}', '\u{1075}'), ('\u{1078}', '\u{1078}'), ('\u{107a}', '\u{107a}'),
    ('\u{1080}', '\u{1080}'), ('\u{210b}', '\u{210b}'), ('\u{2110}', '\u{2110}'), ('\u{2112}', '\u{2112}'),
    ('\u{211b}', '\u{211b}'), ('\u{212c}', '\u{212c}'), ('\u{2130}', '\u{2131}'), ('\u{2133}', '\u{2133}'),
    ('\u{2205}', '\u{2205}'), ('\u{2229}', '\u{222a}'), ('\u{2268}', '\u{2269}'), ('\u{2272}', '\u{2273}'),
    ('\u{228a}', '\u{228b}'), ('\u{2293}', '\u{2295}'), ('\u{2297}', '\u{2297}'), ('\u{229c}', '\u{229c}'),
    ('\u{22da}', '\u{22db}'), ('\u{2a3c}', '\u{2a3d}'), ('\u{2a9d}', '\u{2a9e}'), ('\u{2aac}', '\u{2aad}'),
    ('\u{2acb}', '\u{2acc}'), ('\u{3001}', '\u{3002}'), ('\u{a856}', '\u{a856}'), ('\u{a85c}', '\u{a85c}'),
    ('\u{a85e}', '\u{a860}'), ('\u{a868}', '\u{a868}'), ('\u{aa60}', '\u{aa66}'), ('\u{aa6b}', '\u{aa6c}'),
    ('\u{aa6f}', '\u{aa6f}'), ('\u{aa7a}', '\u{aa7a}'), ('\u{ff01}', '\u{ff01}'), ('\u{ff0c}', '\u{ff0c}'),
    ('\u{ff0e}', '\u{ff0e}'), ('\u{ff10}', '\u{ff10}'), ('\u{ff1a}', '\u{ff1b}'), ('\u{ff1f}', '\u{ff1f}'),
    ('\u{10ac5}', '\u{10ac6}'), ('\u{10ad6}', '\u{10ad7}'), ('\u{10ae1}', '\u{10ae1}'),
    ('\u{1d49c}', '\u{1d49c}'), ('\u{1d49e}', '\u{1d49f}'), ('\u{1d4a2}', '\u{1d4a2}'),
    ('\u{1d4a5}', '\u{1d4a6}'), ('\u{1d4a9}', '\u{1d4ac}'), ('\u{1d4ae}', '\u{1d4b5}'),
];

/// Characters that have another variant for the second selector.
#[rustfmt::skip]
const VARIED_TWICE: [(char, char); 19] = [
    ('\u{210b}', '\u{210b}'), ('\u{2110}', '\u{2110}'), ('\u{2112}', '\u{2112}'), ('\u{211b}', '\u{211b}'),
    ('\u{212c}', '\u{212c}'), ('\u{2130}', '\u{2131}'), ('\u{2133}', '\u{2133}'), ('\u{3001}', '\u{3002}'),
    ('\u{ff01}', '\u{ff01}'), ('\u{ff0c}', '\u{ff0c}'), ('\u{ff0e}', '\u{ff0e}'), ('\u{ff1a}', '\u{ff1b}'),
    ('\u{ff1f}', '\u{ff1f}'), ('\u{1d49c}', '\u{1d49c}'), ('\u{1d49e}', '\u{1d49f}'),
    ('\u{1d4a2}', '\u{1d4a2}'), ('\u{1d4a5}', '\u{1d4a6}'), ('\u{1d4a9}', '\u{1d4ac}'),
    ('\u{1d4ae}', '\u{1d4b5}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted() {
        for ranges in [&EMOJI[..], &VARIED, &VARIED_TWICE] {
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
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
            ('\u{8fba}', '\u{fe03}', false),
            ('a', '\u{e0101}', false),
            ('\u{3042}', '\u{e0101}', false),
            ('\u{13093}', '\u{fe05}', true),
        ] {
            assert_eq!(can_vary(base, selector, None), expected, "{base:?} {selector:?}");
        }
        assert!(can_vary('1', '\u{fe0f}', Some('\u{20e3}')));
    }
}
