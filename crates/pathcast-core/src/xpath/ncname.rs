//! Names without colons, as XML 1.0 (fifth edition) and Namespaces in XML define them.
//!
//! Cost: one table look-up a byte for ASCII; other characters are decoded and compared with the ranges.

const START: u8 = 1;
const PART: u8 = 2;

/// What each ASCII byte may be in a name.
const ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        table[byte] = if ascii.is_ascii_alphabetic() || ascii == b'_' {
            START | PART
        } else if ascii.is_ascii_digit() || ascii == b'-' || ascii == b'.' {
            PART
        } else {
            0
        };
        byte += 1;
    }
    table
};

/// The end of the name that starts at byte `start`, or `start` itself if none does.
pub(super) fn end_of_name(source: &str, start: usize) -> usize {
    let bytes = source.as_bytes();
    let mut at = start;
    let mut wanted = START;
    while let Some(&byte) = bytes.get(at) {
        if let Some(class) = ASCII.get(usize::from(byte)) {
            if class & wanted == 0 {
                break;
            }
            at += 1;
        } else {
            let Some(character) = source[at..].chars().next() else { break };
            if !(is_start(character) || wanted == PART && is_part_only(character)) {
                break;
            }
            at += character.len_utf8();
        }
        wanted = PART;
    }
    at
}

/// `NameStartChar` beyond ASCII.
fn is_start(character: char) -> bool {
    matches!(character,
        '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// `NameChar` beyond ASCII that is no `NameStartChar`.
fn is_part_only(character: char) -> bool {
    matches!(character, '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
