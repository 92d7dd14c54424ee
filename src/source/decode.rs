//! From bytes to text.
//!
//! In: the bytes of a file, or of its start. Out: text without a byte-order mark, or why the bytes are none.
//! UTF-8; UTF-16 with a mark, or without one where every other byte shows it; else an older encoding, guessed.
//! Pure.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Control bytes that text may hold now and then, in thousandths.
const MAX_CONTROL_PERMILLE: usize = 20;

/// A NUL in this many bytes is taken for an accident in a text, not for a sign of a binary file.
const MIN_BYTES_PER_NUL: usize = 4096;

/// Decoded text.
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether something stands as U+FFFD.
    pub(super) is_lossy: bool,
}

/// Decodes `bytes`. `is_cut`: the file goes on, so that its last character may be incomplete.
pub(super) fn decode(bytes: &[u8], is_cut: bool) -> Option<Decoded<'_>> {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(bytes) {
        let body = &bytes[mark_bytes..];
        return if encoding == UTF_8 {
            decode_bytes(body, is_cut)
        } else {
            utf16(body, encoding, is_cut)
        };
    }
    if let Some(encoding) = guess_utf16(bytes) {
        return utf16(bytes, encoding, is_cut);
    }
    decode_bytes(bytes, is_cut)
}

/// UTF-8 or an older encoding of one byte or more.
fn decode_bytes(bytes: &[u8], is_cut: bool) -> Option<Decoded<'_>> {
    let (n_nuls, n_controls) = count_controls(bytes);
    if n_nuls * MIN_BYTES_PER_NUL > bytes.len()
        || n_controls * 1000 > bytes.len() * MAX_CONTROL_PERMILLE
    {
        return None;
    }
    let decoded = match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.into(), is_lossy: false },
        Err(error) if is_cut && error.error_len().is_none() => {
            let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Decoded { text, is_lossy: false }
        }
        Err(_) if is_mostly_utf8(bytes) => {
            Decoded { text: String::from_utf8_lossy(bytes), is_lossy: true }
        }
        Err(_) => older_encoding(bytes)?,
    };
    if n_nuls == 0 {
        return Some(decoded);
    }
    Some(Decoded { text: decoded.text.replace('\0', "\u{fffd}").into(), is_lossy: true })
}

/// NULs, and other bytes that text has no use for. Escape is not among them: logs have colours.
fn count_controls(bytes: &[u8]) -> (usize, usize) {
    let n_nuls = memchr::memchr_iter(0, bytes).count();
    let is_control = |byte: &&u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    (n_nuls, bytes.iter().filter(is_control).count())
}

/// Whether characters of more than one byte are whole far more often than broken.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut n_whole, mut n_broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        n_whole += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        n_broken += usize::from(!chunk.invalid().is_empty());
    }
    n_whole > 4 * n_broken
}

fn older_encoding(bytes: &[u8]) -> Option<Decoded<'_>> {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, chardetng::Utf8Detection::Deny);
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    // What was guessed from binary data shows by what text does not have.
    let n_odd =
        text.chars().filter(|&letter| letter == '\u{fffd}' || is_odd_control(letter)).count();
    (n_odd * 1000 <= text.len() * MAX_CONTROL_PERMILLE)
        .then_some(Decoded { text, is_lossy: has_errors })
}

fn is_odd_control(letter: char) -> bool {
    letter.is_control()
        && !matches!(letter, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}')
}

fn utf16(body: &[u8], encoding: &'static Encoding, is_cut: bool) -> Option<Decoded<'static>> {
    // An incomplete unit at the end of a whole file is a loss, of a cut one it is not.
    let whole = &body[..body.len() - body.len() % 2];
    let (text, has_errors) = encoding.decode_without_bom_handling(whole);
    let mut text = text.into_owned();
    let mut is_lossy = has_errors || (!is_cut && whole.len() < body.len());
    if is_cut && text.ends_with('\u{fffd}') {
        text.pop();
        is_lossy = text.contains('\u{fffd}');
    }
    let n_odd =
        text.chars().filter(|&letter| letter == '\u{fffd}' || is_odd_control(letter)).count();
    let is_text = !text.contains('\0') && n_odd * 1000 <= text.len() * MAX_CONTROL_PERMILLE;
    is_text.then_some(Decoded { text: text.into(), is_lossy })
}

/// UTF-16 without a mark: in text that is mostly of Latin letters every other byte is NUL.
fn guess_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let n_units = bytes.len() / 2;
    if n_units == 0 || bytes.len() % 2 == 1 || memchr::memchr(0, bytes).is_none() {
        return None;
    }
    let (mut n_high_first, mut n_low_first) = (0, 0);
    for pair in bytes.chunks_exact(2) {
        n_high_first += usize::from(pair[0] == 0);
        n_low_first += usize::from(pair[1] == 0);
    }
    let is_regular =
        |often: usize, seldom: usize| often * 10 >= n_units * 4 && seldom * 100 <= n_units;
    if is_regular(n_low_first, n_high_first) {
        Some(UTF_16LE)
    } else if is_regular(n_high_first, n_low_first) {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<(&str, bool)>) {
        let decoded = decode(bytes, false);
        let found = decoded.as_ref().map(|decoded| (&*decoded.text, decoded.is_lossy));
        assert_eq!(found, expected);
    }

    fn utf16_bytes(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn utf8() {
        check(b"", Some(("", false)));
        check("a ä 漢\n".as_bytes(), Some(("a ä 漢\n", false)));
        check(b"\xef\xbb\xbfdef f():\n", Some(("def f():\n", false)));
        check(b"\xef\xbb\xbf", Some(("", false)));
        let mostly = [&"ä漢ö".repeat(4).into_bytes()[..], b" \xff."].concat();
        check(&mostly, Some((&format!("{} \u{fffd}.", "ä漢ö".repeat(4)), true)));
    }

    #[test]
    fn utf16_with_and_without_a_mark() {
        let text = "// first line\r\nclass A {\r\n}\r\n";
        let little = utf16_bytes(text, u16::to_le_bytes);
        let big = utf16_bytes(text, u16::to_be_bytes);
        check(&[b"\xff\xfe", &little[..]].concat(), Some((text, false)));
        check(&[b"\xfe\xff", &big[..]].concat(), Some((text, false)));
        check(&little, Some((text, false)));
        check(&big, Some((text, false)));
        check(
            &[b"\xff\xfe", &utf16_bytes("漢字\n", u16::to_le_bytes)[..]].concat(),
            Some(("漢字\n", false)),
        );
        check(b"\xff\xfe\0\0a\0\0\0b\0\0\0", None);
    }

    #[test]
    fn older_encodings() {
        check(b"/* W\xfcrfel */\nint f(void);\n", Some(("/* Würfel */\nint f(void);\n", false)));
        let late = [&b"/* padding */\n".repeat(700)[..], b"/* caf\xe9 */\n"].concat();
        assert!(decode(&late, false).unwrap().text.ends_with("/* café */\n"));
        // "テスト" in Shift-JIS; whatever it is taken for, the code stays.
        let decoded = decode(b"/* \x83e\x83X\x83g */\nint f(void) { return 2; }\n", false).unwrap();
        assert!(decoded.text.ends_with("*/\nint f(void) { return 2; }\n"));
        let (russian, _, _) =
            encoding_rs::WINDOWS_1251.encode("// Проверяем, что срок действия токена истёк\n");
        check(&russian, Some(("// Проверяем, что срок действия токена истёк\n", false)));
    }

    #[test]
    fn binary_data_is_no_text() {
        let mut random = 7_u32;
        let mut noise = |n_bytes: usize| -> Vec<u8> {
            let next = |_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 24) as u8
            };
            (0..n_bytes).map(next).collect()
        };
        check(&noise(5000), None);
        let late = [b"plain text line\n".repeat(563), noise(60_000)].concat();
        check(&late, None);
        let without_nul: Vec<u8> = noise(5000).into_iter().map(|byte| byte.max(1)).collect();
        check(&without_nul, None);
        check(b"a\0b", None);
    }

    #[test]
    fn a_rare_nul_is_replaced() {
        let text = "some text\n".repeat(1000);
        let with_nul = format!("{text}\0\n");
        check(with_nul.as_bytes(), Some((&format!("{text}\u{fffd}\n"), true)));
    }

    #[test]
    fn a_cut_inside_a_character_is_no_loss() {
        let decoded = decode("aä".as_bytes().split_last().unwrap().1, true).unwrap();
        assert_eq!((&*decoded.text, decoded.is_lossy), ("a", false));
    }
}
