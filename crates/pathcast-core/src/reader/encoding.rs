//! In which encoding a document is written.
//!
//! The first bytes decide the family (byte order mark, or the shape that `<?xml` has in it), the XML declaration decides
//! within the family. A guess is only made here; whether the declaration tells the truth about the bytes is checked by
//! [`Detected::agrees_with`] when the declaration is read properly, where its place is known.
//!
//! The names are those of the WHATWG Encoding Standard and a few that XML documents use beside them. The standard reads
//! `iso-8859-1` and `us-ascii` as windows-1252; here they are what they say.

use super::declaration;
use super::error::Fault;

/// An encoding that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Latin1,
    Ascii,
    Windows1252,
    Utf32Le,
    Utf32Be,
    /// One of the WHATWG list that is not above.
    Listed(&'static encoding_rs::Encoding),
}

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detected {
    pub(super) encoding: Encoding,
    /// The length of the byte order mark.
    pub(super) mark: usize,
}

/// No XML declaration of good will is longer; one that is must be in UTF-8.
pub(super) const LONGEST_DECLARATION: usize = 4096;

/// Looks at the beginning of a document. `head` is all of it, or at least [`LONGEST_DECLARATION`] bytes.
pub(super) fn detect(head: &[u8]) -> Result<Detected, Fault> {
    let found = |encoding, mark| Ok(Detected { encoding, mark });
    let refuse = |reason: &str| Err(Fault::encoding(0, reason));
    match head {
        [0xEF, 0xBB, 0xBF, ..] => found(Encoding::Utf8, 3),
        [0xFF, 0xFE, 0, 0, ..] => found(Encoding::Utf32Le, 4),
        [0, 0, 0xFE, 0xFF, ..] => found(Encoding::Utf32Be, 4),
        [b'<', 0, 0, 0, b'?', 0, 0, 0, ..] => found(Encoding::Utf32Le, 0),
        [0, 0, 0, b'<', 0, 0, 0, b'?', ..] => found(Encoding::Utf32Be, 0),
        [b'<', 0, 0, 0, ..] | [0, 0, 0, b'<', ..] => {
            refuse("this looks like UTF-32 with neither a byte order mark nor an XML declaration")
        }
        [0xFF, 0xFE, ..] => found(Encoding::Utf16Le, 2),
        [0xFE, 0xFF, ..] => found(Encoding::Utf16Be, 2),
        [b'<', 0, b'?', 0, ..] => found(Encoding::Utf16Le, 0),
        [0, b'<', 0, b'?', ..] => found(Encoding::Utf16Be, 0),
        [b'<', 0, ..] | [0, b'<', ..] => {
            refuse("this looks like UTF-16 with neither a byte order mark nor an XML declaration")
        }
        [0x1F, 0x8B, ..] => refuse("this is gzip data, not XML; decompress it first"),
        [b'P', b'K', 3, 4, ..] => refuse("this is a zip archive, not XML; extract it first"),
        [0x4C, 0x6F, 0xA7, 0x94, ..] => refuse("the encoding looks like EBCDIC, which is not supported"),
        _ => found(declared(head).unwrap_or(Encoding::Utf8), 0),
    }
}

/// The encoding that a declaration names, if its letters are those of ASCII in it.
fn declared(head: &[u8]) -> Option<Encoding> {
    let rest = head.strip_prefix(b"<?")?;
    let rest = &rest[..rest.len().min(LONGEST_DECLARATION)];
    let end = memchr::memmem::find(rest, b"?>")?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    let declaration = declaration::parse(text).ok()?;
    match named(declaration.encoding?.name)? {
        Named::Exactly(
            encoding @ (Encoding::Latin1 | Encoding::Ascii | Encoding::Windows1252 | Encoding::Listed(_)),
        ) => Some(encoding),
        _ => None,
    }
}

/// What the name of an encoding stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Exactly(Encoding),
    /// UTF-16 or UTF-32, the byte order left to the byte order mark.
    Utf16,
    Utf32,
}

fn named(name: &str) -> Option<Named> {
    const NAMES: &[(&str, Named)] = &[
        ("utf-8", Named::Exactly(Encoding::Utf8)),
        ("utf8", Named::Exactly(Encoding::Utf8)),
        ("utf-16", Named::Utf16),
        ("utf16", Named::Utf16),
        ("iso-10646-ucs-2", Named::Utf16),
        ("ucs-2", Named::Utf16),
        ("utf-16le", Named::Exactly(Encoding::Utf16Le)),
        ("utf-16be", Named::Exactly(Encoding::Utf16Be)),
        ("utf-32", Named::Utf32),
        ("utf32", Named::Utf32),
        ("ucs-4", Named::Utf32),
        ("iso-10646-ucs-4", Named::Utf32),
        ("utf-32le", Named::Exactly(Encoding::Utf32Le)),
        ("utf-32be", Named::Exactly(Encoding::Utf32Be)),
        ("iso-8859-1", Named::Exactly(Encoding::Latin1)),
        ("iso_8859-1", Named::Exactly(Encoding::Latin1)),
        ("iso8859-1", Named::Exactly(Encoding::Latin1)),
        ("iso-latin-1", Named::Exactly(Encoding::Latin1)),
        ("latin1", Named::Exactly(Encoding::Latin1)),
        ("latin-1", Named::Exactly(Encoding::Latin1)),
        ("l1", Named::Exactly(Encoding::Latin1)),
        ("cp819", Named::Exactly(Encoding::Latin1)),
        ("ibm819", Named::Exactly(Encoding::Latin1)),
        ("us-ascii", Named::Exactly(Encoding::Ascii)),
        ("ascii", Named::Exactly(Encoding::Ascii)),
        ("iso646-us", Named::Exactly(Encoding::Ascii)),
        ("ansi_x3.4-1968", Named::Exactly(Encoding::Ascii)),
        ("windows-1252", Named::Exactly(Encoding::Windows1252)),
        ("cp1252", Named::Exactly(Encoding::Windows1252)),
        ("cp-1252", Named::Exactly(Encoding::Windows1252)),
        ("x-cp1252", Named::Exactly(Encoding::Windows1252)),
    ];
    let known = |name: &str| {
        let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|&(_, named)| named).or_else(|| listed(name))
    };
    known(name).or_else(|| known(&name.replace('_', "-")))
}

/// The encoding of the WHATWG list with this label. Two of the list are not encodings: one stands for everything that
/// is dangerous to read, the other for bytes.
fn listed(name: &str) -> Option<Named> {
    let encoding = encoding_rs::Encoding::for_label(name.as_bytes())?;
    let real = encoding != encoding_rs::REPLACEMENT && encoding != encoding_rs::X_USER_DEFINED;
    real.then_some(Named::Exactly(Encoding::Listed(encoding)))
}

impl Detected {
    /// Whether the declared encoding can be that of the bytes; `None` when the declaration names none.
    pub(super) fn agrees_with(self, declared: Option<&declaration::EncodingName<'_>>) -> Result<(), Fault> {
        let utf16 = matches!(self.encoding, Encoding::Utf16Le | Encoding::Utf16Be);
        let utf32 = matches!(self.encoding, Encoding::Utf32Le | Encoding::Utf32Be);
        let Some(declared) = declared else {
            if (utf16 || utf32) && self.mark == 0 {
                let width = if utf16 { 16 } else { 32 };
                let reason = format!("UTF-{width} without a byte order mark must be declared");
                return Err(Fault::encoding(0, reason));
            }
            return Ok(());
        };
        let agrees = match named(declared.name) {
            None => {
                let reason = format!(
                    "encoding \"{}\" is not supported; UTF-8, UTF-16, UTF-32 and the encodings of the WHATWG list are",
                    crate::chars::quoted(declared.name)
                );
                return Err(Fault::encoding(declared.at, reason));
            }
            Some(Named::Utf16) => utf16,
            Some(Named::Utf32) => utf32,
            Some(Named::Exactly(encoding)) => encoding == self.encoding,
        };
        if agrees {
            return Ok(());
        }
        let bytes = match self.encoding {
            Encoding::Utf16Le => "little-endian UTF-16",
            Encoding::Utf16Be => "big-endian UTF-16",
            Encoding::Utf32Le => "little-endian UTF-32",
            Encoding::Utf32Be => "big-endian UTF-32",
            _ if self.mark > 0 => "UTF-8 by their byte order mark",
            _ => "UTF-8 or another encoding with one byte per ASCII character",
        };
        let reason = format!("encoding \"{}\" is declared, but the bytes are {bytes}", declared.name);
        Err(Fault::encoding(declared.at, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_decide_the_family() {
        let cases: [(&[u8], Encoding, usize); 11] = [
            (b"<a/>", Encoding::Utf8, 0),
            (b"\xEF\xBB\xBF<a/>", Encoding::Utf8, 3),
            (b"\xFF\xFE<\0", Encoding::Utf16Le, 2),
            (b"\xFE\xFF\0<", Encoding::Utf16Be, 2),
            (b"<\0?\0x\0", Encoding::Utf16Le, 0),
            (b"<?xml version='1.0' encoding='Latin1'?><a/>", Encoding::Latin1, 0),
            (b"<?xml version='1.0' encoding='CP1252'?><a/>", Encoding::Windows1252, 0),
            (b"<?xml version='1.0' encoding='euc_kr'?><a/>", Encoding::Listed(encoding_rs::EUC_KR), 0),
            (b"<?xml version='1.0' encoding='x-user-defined'?><a/>", Encoding::Utf8, 0),
            (b"\xFF\xFE\0\0<\0\0\0", Encoding::Utf32Le, 4),
            (b"\0\0\0<\0\0\0?", Encoding::Utf32Be, 0),
        ];
        for (head, encoding, mark) in cases {
            assert_eq!(detect(head).unwrap(), Detected { encoding, mark });
        }
    }

    #[test]
    fn foreign_formats_are_named() {
        let cases: [(&[u8], &str); 4] = [
            (b"\x1F\x8B\x08", "gzip"),
            (b"PK\x03\x04", "zip"),
            (b"\x4C\x6F\xA7\x94", "EBCDIC"),
            (b"<\0a\0", "UTF-16"),
        ];
        for (head, name) in cases {
            let error = detect(head).unwrap_err().placed(1, 1);
            assert!(error.reason.contains(name), "{}", error.reason);
        }
    }
}
