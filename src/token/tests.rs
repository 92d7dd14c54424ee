//! The counts beside those of tiktoken-rs.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tiktoken_rs::o200k_base_singleton;

use super::*;

#[track_caller]
fn check(text: &str) {
    let expected = o200k_base_singleton().encode_ordinary(text).len();
    assert_eq!(TokenCounter::new().count(text), expected, "{text:?}");
}

#[test]
fn the_table_holds_each_rank_of_the_reference_and_no_other() {
    let tokens = (0..).map_while(|rank| o200k_base_singleton().decode_bytes(&[rank]).ok());
    let mut n_tokens = 0;
    for (rank, token) in (0..).zip(tokens) {
        assert_eq!(ranks::rank(&token, 0, token.len()), rank, "{token:?}");
        // Amid a text words are read in one step.
        let framed = [&[0xFF; 9], token.as_slice(), &[0xFF; 9]].concat();
        assert_eq!(ranks::rank(&framed, 9, 9 + token.len()), rank, "{token:?}");
        if let [first, second] = token[..] {
            assert_eq!(ranks::pair_rank(first, second), rank, "{token:?}");
        }
        n_tokens += 1;
    }
    assert_eq!((ranks::n_ranks(), n_tokens), (n_tokens, 199_998));
}

#[test]
fn what_is_no_token_has_no_rank() {
    for len in [0, 3, 5, 8, 9, 16, 17, 129, 1000] {
        for filler in [0x00, 0xFF] {
            let bytes = vec![filler; len];
            assert_eq!(ranks::rank(&bytes, 0, len), layout::NO_RANK, "{len} bytes {filler}");
        }
    }
}

#[test]
fn counts_equal_those_of_the_reference_tokenizer() {
    for text in [
        "",
        " ",
        "\n\n\n",
        "fn main() {\n    println!(\"hello\");\n}\n",
        "The quick brown fox doesn't jump; it'LL WALK, we've said, I'm I'd you're 'twas 'S'T",
        "<|endoftext|> <|fim_prefix|>x<|endofprompt|><|startoftext|>",
        "naïve café — “quotes” … 😀👩‍👩‍👧‍👦 \u{200b}\u{feff}\u{0}",
        "1234567890 3.14159 0xdeadbeef 12,345 ١٢٣٤ ½¾Ⅷ 1２3４ x²³¹",
        "}\n// comment\n}\n\n//another\n   \n  \t\n",
        "a\r\nb\r\n\r\n  c\r\n",
        "https://example.org///a/b\n//\n/\r\n /x  //",
        "XMLHttpRequest getHTTPResponseCode SCREAMING_SNAKE kebab-case ǅabc ABǅ",
    ] {
        check(text);
    }
}

#[test]
fn counts_equal_in_many_scripts() {
    for text in [
        "日本語のテキスト、漢字かな交じり文。ｶﾀｶﾅ　全角ＡＢＣａｂｃ１２３",
        "中文分詞測試，简体字。没有空格的句子也要正确。",
        "한국어 문장입니다. 토큰을 셉니다!",
        "Быстрая КОРИЧНЕВАЯ лиса ПрыгаетЧерез собаку",
        "Η γρήγορη ΑΛΕΠΟΎ πηδά ΠάνωΑπό τον σκύλο",
        "الثعلب البني السريع ١٢٣ يقفز، فَوْقَ الكلب",
        "השועל החום המהיר קופץ מעל הכלב־העצלן שָׁלוֹם",
        "तेज़ भूरी लोमड़ी कुत्ते के ऊपर कूदती है। क्षत्रिय",
        "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ",
        "Nhanh như chớp, con cáo NÂU nhảy qua; tiếng VIỆT",
        "வேகமான பழுப்பு நரி ፈጣን ቡናማ ቀበሮ სწრაფი ᲥᲐᲠᲗᲣᲚᲘ",
        "ABC日DEF abc日def日ABC日Def ªº ʰʱ ᵃB",
        "e\u{301}E\u{301}A\u{301}BC \u{301}ABC \u{301}abc .\u{301}\u{301}ABC\u{301} 1\u{301}2 \u{301}'s",
        "𝐀𝐁𝐜𝐝 𐐀𐐨 𒀀𒀁 🇩🇪🏳️‍🌈 ❤️'ſ it'ſ IT'ſt x'K",
    ] {
        check(text);
        check(&text.to_uppercase());
        check(&text.replace(' ', "\u{3000}"));
        check(&text.replace(' ', "\u{85}\u{2028} \u{a0}"));
        check(&text.chars().rev().collect::<String>());
    }
}

#[test]
fn counts_equal_around_each_kind_of_character() {
    // With a step of 1 it holds as well, and takes some ten times as long.
    let chars: Vec<char> = ('\0'..'\u{3000}').chain(('\u{3000}'..=char::MAX).step_by(61)).collect();
    for some in chars.chunks(64) {
        let text: String = some.iter().map(|c| format!("{c}aB{c} {c}'{c}{c}7{c}\n{c}")).collect();
        check(&text);
    }
}

#[test]
fn counts_equal_on_source_files() {
    for text in [
        include_str!("mod.rs"),
        include_str!("tests.rs"),
        include_str!("../chunk/mod.rs"),
        include_str!("../../package.json"),
        include_str!("../../README.md"),
        include_str!("../../index.js"),
    ] {
        check(text);
        check(&text.replace('\n', "\r\n"));
        check(&text.replace(' ', ""));
        check(&text.replace(char::is_whitespace, ""));
    }
}

#[test]
fn counts_equal_on_long_runs() {
    for unit in [
        " ", "\n", "\r\n", "\t", " \n", "a", "A", "aB", "Z9", "7", "=", "ab=", "/", "\n/", "漢",
        "é", "😀", "\u{301}",
    ] {
        for n in [1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300, 3000] {
            let run = unit.repeat(n);
            check(&run);
            check(&format!("x{run}y"));
            check(&format!(" {run} \n  z"));
        }
    }
}

#[test]
fn fits_is_exact_at_the_limit() {
    let counter = TokenCounter::new();
    for text in ["let x = compute(y);\n".repeat(40), " ".repeat(5000), "xq".repeat(4000)] {
        let n = counter.count(&text);
        for limit in [0, 1, n / 2, n - 1, n, n + 1, usize::MAX] {
            assert_eq!(counter.fits(&text, limit), n <= limit, "{n} tokens, limit {limit}");
        }
    }
}

#[test]
fn time_is_bounded_whatever_the_text() {
    let counter = TokenCounter::new();
    let letters = (0_u32..1 << 20)
        .map(|i| char::from(b'a' + (i.wrapping_mul(2_654_435_761) >> 24) as u8 % 26));
    let texts = ["a", " ", "\n", "=", "\u{301}A", "\u{301}", "漢", " \u{3000}"]
        .map(|unit| unit.repeat(1 << 20));
    for text in texts.into_iter().chain([letters.collect()]) {
        let start = Instant::now();
        assert!(counter.count(&text) > 0 && !counter.fits(&text, 1000));
        // Some hundred times what it takes; quadratic time would be hours.
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", &text[..8]);
    }
}

/// Text as it stands in source files, put together at random.
fn code_soup() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z]{1,12}",
        "[A-Z]{1,8}",
        "([A-Z]{0,3}[a-z]{1,8}){1,4}",
        "[0-9]{1,9}",
        "[ \\t]{1,9}",
        "(\\r?\\n){1,3} {0,8}",
        "[-!\"#$%&'()*+,./:;<=>?@\\\\^_`{|}~]{1,6}",
        "'(s|S|t|re|RE|ve|m|ll|d|ſ|x)",
        "\\p{L}{1,5}",
        "\\p{M}{1,3}",
        "\\p{N}{1,5}",
        "\\s{1,4}",
        "[漢字かなカナ한글äßÉЖжǅʰ😀/]{1,4}",
        Just("<|endoftext|>".to_string()),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn counts_equal_on_arbitrary_text(text in "(?s).{0,200}") {
        check(&text);
    }

    #[test]
    fn counts_equal_on_code_soup(text in code_soup()) {
        check(&text);
    }

    #[test]
    fn fits_equals_count(text in code_soup(), limit in 0_usize..100) {
        let counter = TokenCounter::new();
        prop_assert_eq!(counter.fits(&text, limit), counter.count(&text) <= limit);
    }
}
