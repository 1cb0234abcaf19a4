//! Turns a piece of a document into clean UTF-8: decoded, checked, line ends normalised.
//!
//! A piece may end anywhere, also inside a character or between a carriage return and its line feed. What cannot be
//! decided yet is left for the next piece.
//!
//! ISO-8859-1, US-ASCII and windows-1252 are decoded here and exactly: web decoders read the first two as the third and
//! let bytes through that it does not define. The other encodings of the WHATWG list are `encoding_rs`'s.

use super::clean;
use super::encoding::Encoding;
use super::error::Fault;

/// How far a piece was understood.
pub(super) struct Decoded {
    /// Bytes of the piece that need not be seen again.
    pub(super) consumed: usize,
    /// The clean text is that many bytes at the start of the piece itself; else it was appended to the output.
    pub(super) in_place: bool,
    /// What is wrong just behind the clean text.
    pub(super) fault: Option<Fault>,
}

/// What one piece leaves to the next.
#[derive(Default)]
pub(super) struct Carried {
    /// Whether the last character was a carriage return.
    after_return: bool,
    /// A decoder of the WHATWG list, which may hold half a character.
    listed: Option<Box<encoding_rs::Decoder>>,
}

impl Carried {
    /// What is wrong if nothing follows.
    pub(super) fn finish(&mut self) -> Option<Fault> {
        let mut decoder = self.listed.take()?;
        let (result, ..) = decoder.decode_to_utf8_without_replacement(&[], &mut [0; 16], true);
        matches!(result, encoding_rs::DecoderResult::Malformed(..)).then(|| broken(decoder.encoding()))
    }
}

fn broken(encoding: &'static encoding_rs::Encoding) -> Fault {
    Fault::encoding(0, format!("the bytes are not {} here", encoding.name()))
}

/// Decodes a piece; `last` says that nothing follows it.
pub(super) fn decode(
    encoding: Encoding,
    piece: &[u8],
    last: bool,
    carried: &mut Carried,
    out: &mut Vec<u8>,
) -> Decoded {
    match encoding {
        Encoding::Utf8 => utf8(piece, last, carried, out),
        Encoding::Utf16Le => utf16(piece, last, carried, out, u16::from_le_bytes),
        Encoding::Utf16Be => utf16(piece, last, carried, out, u16::from_be_bytes),
        Encoding::Latin1 => single(piece, carried, out, |byte| Some(char::from(byte)), "ISO-8859-1"),
        Encoding::Ascii => {
            single(piece, carried, out, |byte| byte.is_ascii().then(|| char::from(byte)), "US-ASCII")
        }
        Encoding::Windows1252 => single(piece, carried, out, windows_1252, "windows-1252"),
        Encoding::Utf32Le => utf32(piece, last, carried, out, u32::from_le_bytes),
        Encoding::Utf32Be => utf32(piece, last, carried, out, u32::from_be_bytes),
        Encoding::Listed(encoding) => listed(encoding, piece, last, carried, out),
    }
}

fn utf8(piece: &[u8], last: bool, carried: &mut Carried, out: &mut Vec<u8>) -> Decoded {
    let (mut valid, mut fault) = match simdutf8::compat::from_utf8(piece) {
        Ok(_) => (piece.len(), None),
        Err(error) if error.error_len().is_none() && !last => (error.valid_up_to(), None),
        Err(error) => {
            let byte = piece[error.valid_up_to()];
            (
                error.valid_up_to(),
                Some(Fault::encoding(0, format!("the byte 0x{byte:02X} is not UTF-8 here"))),
            )
        }
    };
    if let Some(at) = clean::first_forbidden(&piece[..valid]) {
        fault = Some(Fault::malformed(0, clean::forbidden(&piece[at..])));
        valid = at;
    }
    let text = &piece[..valid];
    let mut from = 0;
    if carried.after_return && valid > 0 {
        carried.after_return = false;
        from = usize::from(text[0] == b'\n');
    }
    if from == 0 && memchr::memchr(b'\r', text).is_none() {
        return Decoded { consumed: valid, in_place: true, fault };
    }
    while let Some(length) = memchr::memchr(b'\r', &text[from..]) {
        out.extend_from_slice(&text[from..from + length]);
        out.push(b'\n');
        from += length + 1;
        match text.get(from) {
            Some(b'\n') => from += 1,
            Some(_) => {}
            None => carried.after_return = true,
        }
    }
    out.extend_from_slice(&text[from..]);
    Decoded { consumed: valid, in_place: false, fault }
}

/// Appends one decoded character, or says why it may not stand in XML.
#[inline]
fn push(c: char, carried: &mut Carried, out: &mut Vec<u8>) -> Result<(), Fault> {
    let after_return = std::mem::take(&mut carried.after_return);
    match c {
        '\n' if after_return => {}
        '\r' => {
            out.push(b'\n');
            carried.after_return = true;
        }
        ' '..='\u{7F}' | '\t' | '\n' => out.push(c as u8),
        '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {
            return Err(Fault::malformed(0, clean::forbidden_character(u32::from(c))));
        }
        _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
    Ok(())
}

fn single(
    piece: &[u8],
    carried: &mut Carried,
    out: &mut Vec<u8>,
    character: impl Fn(u8) -> Option<char>,
    name: &str,
) -> Decoded {
    for (at, &byte) in piece.iter().enumerate() {
        let pushed = match character(byte) {
            Some(c) => push(c, carried, out),
            None => Err(Fault::encoding(0, format!("the byte 0x{byte:02X} is not {name}"))),
        };
        if let Err(fault) = pushed {
            return Decoded { consumed: at, in_place: false, fault: Some(fault) };
        }
    }
    Decoded { consumed: piece.len(), in_place: false, fault: None }
}

fn utf16(
    piece: &[u8],
    last: bool,
    carried: &mut Carried,
    out: &mut Vec<u8>,
    unit: impl Fn([u8; 2]) -> u16,
) -> Decoded {
    let units = piece.len() / 2;
    let unit_at = |i: usize| unit([piece[2 * i], piece[2 * i + 1]]);
    let mut i = 0;
    let mut fault = None;
    while i < units {
        let first = unit_at(i);
        let pair = (0xD800..0xDC00).contains(&first);
        if pair && i + 1 == units && !last {
            break; // its other half is in the next piece
        }
        let second = if pair && i + 1 < units { Some(unit_at(i + 1)) } else { None };
        let decoded = char::decode_utf16([first].into_iter().chain(second)).next();
        let pushed = match decoded {
            Some(Ok(c)) => push(c, carried, out),
            _ => Err(Fault::encoding(0, format!("the surrogate 0x{first:04X} has no partner in UTF-16"))),
        };
        if let Err(wrong) = pushed {
            fault = Some(wrong);
            break;
        }
        i += 1 + usize::from(pair);
    }
    if fault.is_none() && last && i == units && piece.len() % 2 == 1 {
        fault = Some(Fault::encoding(0, "the document ends in the middle of a UTF-16 character"));
    }
    Decoded { consumed: 2 * i, in_place: false, fault }
}

fn utf32(
    piece: &[u8],
    last: bool,
    carried: &mut Carried,
    out: &mut Vec<u8>,
    unit: impl Fn([u8; 4]) -> u32,
) -> Decoded {
    let (units, rest) = piece.as_chunks::<4>();
    for (at, &bytes) in units.iter().enumerate() {
        let code = unit(bytes);
        let pushed = match char::from_u32(code) {
            Some(c) => push(c, carried, out),
            None => Err(Fault::encoding(0, format!("0x{code:08X} is not a character of UTF-32"))),
        };
        if let Err(fault) = pushed {
            return Decoded { consumed: 4 * at, in_place: false, fault: Some(fault) };
        }
    }
    let half = last && !rest.is_empty();
    let fault = half.then(|| Fault::encoding(0, "the document ends in the middle of a UTF-32 character"));
    Decoded { consumed: 4 * units.len(), in_place: false, fault }
}

/// An encoding of the WHATWG list. The decoder keeps half a character itself, so the whole piece is consumed.
fn listed(
    encoding: &'static encoding_rs::Encoding,
    piece: &[u8],
    last: bool,
    carried: &mut Carried,
    out: &mut Vec<u8>,
) -> Decoded {
    let decoder = carried.listed.get_or_insert_with(|| Box::new(encoding.new_decoder_without_bom_handling()));
    let room =
        decoder.max_utf8_buffer_length_without_replacement(piece.len()).unwrap_or(piece.len() * 4 + 16);
    let mut text = vec![0; room];
    let (result, _, written) = decoder.decode_to_utf8_without_replacement(piece, &mut text, last);
    text.truncate(written);
    if last {
        carried.listed = None; // a decoder that was told the end must not be used again
    }
    let clean = utf8(&text, true, carried, out);
    if clean.in_place {
        out.extend_from_slice(&text[..clean.consumed]);
    }
    let fault = clean.fault.or_else(|| match result {
        encoding_rs::DecoderResult::InputEmpty => None,
        _ => Some(broken(encoding)),
    });
    Decoded { consumed: piece.len(), in_place: false, fault }
}

/// `None` for the five bytes that windows-1252 does not define.
fn windows_1252(byte: u8) -> Option<char> {
    const UPPER: [char; 32] = [
        '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’',
        '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => Some(UPPER[usize::from(byte - 0x80)]).filter(|&c| c != '\0'),
        _ => Some(char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(encoding: Encoding, bytes: &[u8], size: usize) -> (String, bool) {
        let (mut text, mut carried, mut from) = (Vec::new(), Carried::default(), 0);
        loop {
            let to = (from + size).min(bytes.len());
            let mut out = Vec::new();
            let decoded = decode(encoding, &bytes[from..to], to == bytes.len(), &mut carried, &mut out);
            text.extend_from_slice(if decoded.in_place {
                &bytes[from..from + decoded.consumed]
            } else {
                &out
            });
            from += decoded.consumed;
            if decoded.fault.is_some() || to == bytes.len() {
                return (String::from_utf8(text).unwrap(), decoded.fault.is_some());
            }
        }
    }

    #[test]
    fn line_ends_become_line_feeds_however_the_text_is_cut() {
        // NEL is a character like any other in XML 1.0
        let text = "a\r\nb\rc\n\r\r\n\u{85}é日\u{10000}\r";
        let wide: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for size in 4..20 {
            let clean = ("a\nb\nc\n\n\n\u{85}é日\u{10000}\n".to_owned(), false);
            assert_eq!(all(Encoding::Utf8, text.as_bytes(), size), clean);
            assert_eq!(all(Encoding::Utf16Le, &little, size), clean);
            assert_eq!(all(Encoding::Utf16Be, &big, size), clean);
            let wider: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            assert_eq!(all(Encoding::Utf32Le, &wider, size), clean);
            let chinese = encoding_rs::GB18030;
            assert_eq!(all(Encoding::Listed(chinese), &chinese.encode(text).0, size), clean);
        }
    }

    #[test]
    fn what_is_not_in_the_encoding_is_refused() {
        let cases: [(Encoding, &[u8], &str); 17] = [
            (Encoding::Utf8, b"ab\xC0\xAF", "ab"),
            (Encoding::Utf8, b"ab\xED\xA0\x80", "ab"),
            (Encoding::Utf8, b"ab\xC3", "ab"),
            (Encoding::Utf8, b"ab\0c", "ab"),
            (Encoding::Utf8, b"a\rb\x0Bc", "a\nb"),
            (Encoding::Utf8, b"ab\xEF\xBF\xBE", "ab"),
            (Encoding::Utf16Le, b"a\0b", "a"),
            (Encoding::Utf16Le, b"a\0\0\xD8b\0", "a"),
            (Encoding::Utf16Le, b"a\0\0\xDCb\0", "a"),
            (Encoding::Utf16Be, b"\0a\xD8\0", "a"),
            (Encoding::Ascii, b"ab\x80", "ab"),
            (Encoding::Windows1252, b"a\x80\x81", "a€"),
            (Encoding::Utf32Le, b"a\0\0\0\0\xD8\0\0", "a"),
            (Encoding::Utf32Be, b"\0\0\0a\0\0", "a"),
            (Encoding::Listed(encoding_rs::SHIFT_JIS), b"a\x82\xA0\x82", "aあ"),
            (Encoding::Listed(encoding_rs::BIG5), b"ab\xFFc", "ab"),
            (Encoding::Listed(encoding_rs::WINDOWS_1253), b"ab\xD2c", "ab"),
        ];
        for (encoding, bytes, clean) in cases {
            for size in 4..8 {
                assert_eq!(all(encoding, bytes, size), (clean.to_owned(), true), "{bytes:?}");
            }
        }
        assert_eq!(all(Encoding::Latin1, b"\x80\xE9", 4), ("\u{80}é".to_owned(), false));
    }
}
