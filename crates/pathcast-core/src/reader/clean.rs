//! Finds, fast, the characters of UTF-8 text that XML forbids.
//!
//! Nearly every document has none, so the text is first swept in blocks by a loop without branches that the compiler
//! turns into vector code; only a block with a suspect in it is looked at byte by byte.

/// Large enough for the sweep to pay, small enough that a document full of suspects is not read twice from memory.
const BLOCK: usize = 4096;

/// The offset of the first character that XML 1.0 forbids.
pub(super) fn first_forbidden(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while from < text.len() {
        let to = (from + BLOCK).min(text.len());
        if sweep(&text[from..to])
            && let Some(at) = (from..to).find(|&at| is_forbidden(&text[at..]))
        {
            return Some(at);
        }
        from = to;
    }
    None
}

/// Whether a block holds a control character, or a lead byte that U+FFFE and U+FFFF have.
#[inline]
fn sweep(block: &[u8]) -> bool {
    let suspects = block.iter().fold(0u8, |found, &byte| {
        let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
        found | u8::from(control | (byte == 0xEF))
    });
    suspects != 0
}

#[inline]
fn is_forbidden(rest: &[u8]) -> bool {
    match rest[0] {
        b'\t' | b'\n' | b'\r' => false,
        byte if byte < 0x20 => true,
        0xEF => rest.starts_with(b"\xEF\xBF\xBE") || rest.starts_with(b"\xEF\xBF\xBF"),
        _ => false,
    }
}

/// What is wrong with the character that `rest` starts with, in words.
pub(super) fn forbidden(rest: &[u8]) -> String {
    let code = match rest {
        [0xEF, 0xBF, last, ..] => 0xFFC0 + u32::from(*last & 0x3F),
        [byte, ..] => u32::from(*byte),
        [] => 0,
    };
    forbidden_character(code)
}

/// The sentence about a character that may not stand in XML.
pub(super) fn forbidden_character(code: u32) -> String {
    format!("the character U+{code:04X} may not stand in an XML document")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_forbidden_at_any_place() {
        for length in [0, 1, 31, 32, 4095, 4096, 4097, 9000] {
            for forbidden in ["\0", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
                let text = format!("{}{forbidden}{}", "x".repeat(length), "\u{FFFD}\u{F000}".repeat(3));
                assert_eq!(first_forbidden(text.as_bytes()), Some(length));
            }
        }
        assert_eq!(first_forbidden("a\tb\nc\r\u{7F}\u{80}\u{85}\u{FFFD}日本\u{10FFFF}".as_bytes()), None);
    }
}
