//! Which characters XML 1.0 (fifth edition) allows where.
//!
//! Names are almost always ASCII, so one table decides byte by byte and only other characters are decoded.
//! The reader and the grammar of expressions share it.

/// May start a name: a letter or `_`. The colon is left out: it separates the parts of a qualified name.
const START: u8 = 1;
/// May follow in a name: a start character, a digit, `-` or `.`.
const FOLLOW: u8 = 2;

const fn ascii_names() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        table[byte] = if c.is_ascii_alphabetic() || c == b'_' {
            START | FOLLOW
        } else if c.is_ascii_digit() || c == b'-' || c == b'.' {
            FOLLOW
        } else {
            0
        };
        byte += 1;
    }
    table
}

static ASCII_NAMES: [u8; 256] = ascii_names();

/// `S` of the XML grammar. A carriage return can only come from a character reference, which is never markup.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}

/// `Char` of the XML grammar.
pub(crate) fn is_xml_char(c: u32) -> bool {
    matches!(c, 0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x1_0000..=0x10_FFFF)
}

fn is_name_start(c: char) -> bool {
    matches!(u32::from(c),
        0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x2FF | 0x370..=0x37D | 0x37F..=0x1FFF | 0x200C..=0x200D
        | 0x2070..=0x218F | 0x2C00..=0x2FEF | 0x3001..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFFD
        | 0x1_0000..=0xE_FFFF)
}

fn is_name_follow(c: char) -> bool {
    is_name_start(c) || matches!(u32::from(c), 0xB7 | 0x300..=0x36F | 0x203F..=0x2040)
}

/// Why no name starts, or goes on, at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAName {
    /// The byte offset of the character that is in the way.
    pub(crate) at: usize,
}

/// The end of the `NCName` (a name without colons) that starts at `from`.
#[inline(always)]
pub(crate) fn ncname(text: &str, from: usize) -> Result<usize, NotAName> {
    let bytes = text.as_bytes();
    let mut at = from;
    match bytes.get(at) {
        Some(&byte) if ASCII_NAMES[byte as usize] & START != 0 => at += 1,
        Some(&byte) if byte >= 128 => match text[at..].chars().next() {
            Some(c) if is_name_start(c) => at += c.len_utf8(),
            _ => return Err(NotAName { at }),
        },
        _ => return Err(NotAName { at }),
    }
    Ok(follow(text, at, false))
}

/// The end of the `NCName` that starts at `from`, or `from` itself if none does.
pub(crate) fn end_of_name(text: &str, from: usize) -> usize {
    ncname(text, from).unwrap_or(from)
}

/// A qualified name: where it ends, and where its local part begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QName {
    pub(crate) local: usize,
    pub(crate) end: usize,
}

/// The `QName` that starts at `from`: one name, or two with a colon between them.
#[inline(always)] // called for every name of the document
pub(crate) fn qname(text: &str, from: usize) -> Result<QName, NotAName> {
    let end = ncname(text, from)?;
    if text.as_bytes().get(end) != Some(&b':') {
        return Ok(QName { local: from, end });
    }
    let local = end + 1;
    let end = ncname(text, local)?;
    if text.as_bytes().get(end) == Some(&b':') {
        return Err(NotAName { at: end });
    }
    Ok(QName { local, end })
}

/// The end of the `Nmtoken` that starts at `from`.
pub(crate) fn nmtoken(text: &str, from: usize) -> Result<usize, NotAName> {
    match follow(text, from, true) {
        end if end > from => Ok(end),
        at => Err(NotAName { at }),
    }
}

/// Whether a whole text is a `Name` of XML 1.0, colons anywhere: what an entity reference may hold.
pub(crate) fn is_name(text: &str) -> bool {
    let starts = match text.chars().next() {
        Some(c) if c.is_ascii() => c == ':' || ASCII_NAMES[c as usize] & START != 0,
        Some(c) => is_name_start(c),
        None => false,
    };
    starts && follow(text, 0, true) == text.len()
}

#[inline(always)]
fn follow(text: &str, from: usize, colons: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        if ASCII_NAMES[byte as usize] != 0 {
            at += 1;
        } else if byte < 128 {
            if !(colons && byte == b':') {
                break;
            }
            at += 1;
        } else {
            match text[at..].chars().next() {
                Some(c) if is_name_follow(c) => at += c.len_utf8(),
                _ => break,
            }
        }
    }
    at
}

/// The offset after the white space that starts at `from`.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// A piece of the document to quote in a reason: short, and on one line whatever a stranger wrote into it.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_fifth_edition() {
        assert_eq!(ncname("abc d", 0), Ok(3));
        assert_eq!(ncname("a-1.b_=", 0), Ok(6));
        assert_eq!(ncname("1a", 0), Err(NotAName { at: 0 }));
        assert_eq!(ncname("", 0), Err(NotAName { at: 0 }));
        // Not Latin, combining characters, and beyond the basic plane
        assert_eq!(ncname("日本語>", 0), Ok(9));
        assert_eq!(ncname("e\u{301}>", 0), Ok(3));
        assert_eq!(ncname("\u{301}e", 0), Err(NotAName { at: 0 }));
        assert_eq!(ncname("\u{10000}", 0), Ok(4));
        assert_eq!(ncname("\u{D7}", 0), Err(NotAName { at: 0 }));
        assert_eq!(ncname("\u{F0000}", 0), Err(NotAName { at: 0 }));
    }

    #[test]
    fn names_end_where_xml_says() {
        for (source, length) in [
            ("a", 1),
            ("a-b.c_9:d", 7),
            ("_x y", 2),
            ("9a", 0),
            ("-a", 0),
            (".a", 0),
            ("", 0),
            ("größe=", 7),
            ("\u{B7}a", 0),
            ("a\u{B7}\u{300}[", 5),
            ("\u{D7}", 0),
            ("\u{10000}\u{EFFFF}", 8),
            ("a\u{A0}", 1),
            ("a\u{FFFE}", 1),
        ] {
            assert_eq!(end_of_name(source, 0), length, "{source:?}");
        }
    }

    #[test]
    fn qualified_names_have_two_parts_at_most() {
        let name = qname("p:local rest", 0).unwrap();
        assert_eq!((name.local, name.end), (2, 7));
        for (text, at) in [(":a", 0), ("a:", 2), ("a::b", 2), ("a:b:c", 3), ("a:1", 2)] {
            assert_eq!(qname(text, 0).unwrap_err().at, at, "{text}");
        }
    }

    #[test]
    fn quotations_stay_on_one_line() {
        assert_eq!(quoted("a\nb"), "a\\nb");
        assert!(quoted(&"x".repeat(1000)).len() < 70);
    }
}
