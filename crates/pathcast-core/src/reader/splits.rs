//! However a document is cut into pieces, it gives the same events or the same error.

use std::io::{self, Read};

use super::source::Sizes;
use super::*;

/// Writes down every event.
#[derive(Default)]
struct Record(Vec<String>);

impl Sink for Record {
    fn wants_text(&self) -> bool {
        true
    }
    fn namespace(&mut self, id: UriId, uri: &str) {
        self.0.push(format!("namespace {} {uri}", id.0));
    }
    fn start(&mut self, tag: &StartTag<'_>) {
        self.0.push(format!("start {} {}", tag.uri.0, tag.local));
        self.0.extend(tag.attributes().map(|one| format!("@ {} {}={:?}", one.uri.0, one.local, one.value)));
    }
    fn end(&mut self) {
        self.0.push("end".to_owned());
    }
    fn text(&mut self, text: &str) {
        self.0.push(format!("text {text:?}"));
    }
    fn comment(&mut self, text: &str) {
        self.0.push(format!("comment {text:?}"));
    }
    fn instruction(&mut self, target: &str, data: &str) {
        self.0.push(format!("instruction {target} {data:?}"));
    }
}

/// Gives the bytes in the pieces asked for, then `count` at a time.
struct Pieces<'a> {
    bytes: &'a [u8],
    first: usize,
    count: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = if self.first > 0 { self.first } else { self.count };
        let count = most.min(out.len()).min(self.bytes.len());
        self.first = self.first.saturating_sub(count);
        out[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        Ok(count)
    }
}

type Outcome = (Result<(), DocumentError>, Vec<String>);

fn outcome(read: impl FnOnce(&mut Record) -> Result<(), DocumentError>) -> Outcome {
    let mut record = Record::default();
    let result = read(&mut record);
    (result, record.0)
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
    units.flat_map(|unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

/// Good and bad documents, in several encodings.
fn documents() -> Vec<Vec<u8>> {
    let rich = "<?xml version=\"1.0\"?>\r\n<!DOCTYPE a [<!ELEMENT a (b|c)*><!ATTLIST a x NMTOKENS \" p  q \" y CDATA 'd'>\r\n\
                <!NOTATION n PUBLIC 'p'><?pi >?><!-- > -->]>\n<!-- c -->\r<a xmlns='urn:a' xmlns:p='urn:p' p:z='1\r\n2&#10;'>\r\n\
                <p:b k=\"<&lt;\"/>t&amp;é日\u{10000}<![CDATA[<x>]]]]><!-- d --><?t  data?></a>\r\n"
        .replace("k=\"<", "k=\"");
    let mut documents = vec![
        rich.clone().into_bytes(),
        utf16(&rich.replace("<?xml version=\"1.0\"?>", "<?xml version='1.0' encoding='UTF-16'?>"), false),
        utf16(&rich.replace("<?xml version=\"1.0\"?>", "<?xml version='1.0' encoding='UTF-16'?>"), true),
        b"<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xE9'>\xFC\r\n\x80</a>".to_vec(),
        b"<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>".to_vec(),
        b"<?xml version='1.0' encoding='windows-1252'?><a>\x81</a>".to_vec(),
        b"<?xml version='1.0' encoding='US-ASCII'?><a>\xE9</a>".to_vec(),
        b"<?xml version='1.0' encoding='Shift_JIS'?><a>\x83\x65</a>".to_vec(),
        b"\xEF\xBB\xBF\xEF\xBB\xBF<a/>".to_vec(),
        b"<a>\n<b>\xC3</b></a>".to_vec(),
        b"<a><b></c>\xFF</a>".to_vec(),
        b"<a>\r\r\n<b x='\x0B'/></a>".to_vec(),
        b"<a>\n  <b x='1' x='2'/></a>".to_vec(),
        "<a>\n<b>é&nbsp;</b></a>".into(),
        b"<!DOCTYPE a [\n<!ENTITY e 'x'>]><a>&e;</a>".to_vec(),
        b"<!DOCTYPE a [<!ELEMENT a ANY>\n<!FOO >]><a/>".to_vec(),
        b"<!DOCTYPE a [<!-x-->]><a/>".to_vec(),
        b"<!doctype a><a/>".to_vec(),
        b"<a><!-x--></a>".to_vec(),
        b"<a><![CDAT[x]]></a>".to_vec(),
        b"<a><!x></a>".to_vec(),
        b"<a>]]></a>".to_vec(),
        "<a>\u{FEFF}x > y<b/>\u{FEFF}&gt;\u{FEFF}<!--\u{FEFF}-->\u{FEFF}</a >".into(),
        "<a b='>'>> a text of more than sixteen bytes > and ]] ]></a>".into(),
        "<a>\u{FEFF}<b></a>".into(),
        "\u{FEFF}<a></a>\u{FEFF}".into(),
        "<a></a>\n>".into(),
        b"<a><!-- - -- --></a>".to_vec(),
        b"<a><!-- ---></a>".to_vec(),
        b"<a>& b</a>".to_vec(),
        b"<a>&b</a>".to_vec(),
        b"<a b='x>\n<c d='y'/></a>".to_vec(),
        b"<a></a><b/>".to_vec(),
        b"<a/>x".to_vec(),
        b"<?x?><?xml version='1.0'?><a/>".to_vec(),
        b"<a><?XML x?></a>".to_vec(),
        b"<a><?></a>".to_vec(),
        b"<a".to_vec(),
        b"<a/><".to_vec(),
        b"<a><b/".to_vec(),
        b"<a><!".to_vec(),
        b"<a><![CD".to_vec(),
        b"".to_vec(),
        b" \n".to_vec(),
        b"\xEF\xBB\xBF".to_vec(),
        b"\xEF\xBB".to_vec(),
        b"\x1F\x8B\x08".to_vec(),
    ];
    documents.push(b"<a>\xEF\xBF\xBE</a>".to_vec());
    documents
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn every_split_gives_the_same() {
    // 4, 18, 36
    let mut reader = Reader::new(Limits::default());
    for document in documents() {
        let shown = String::from_utf8_lossy(&document).into_owned();
        reader.sizes = Sizes::default();
        let whole = outcome(|sink| reader.read_bytes(&document, sink));
        for split in 0..=document.len() {
            let pieces = Pieces { bytes: &document, first: split, count: usize::MAX };
            assert_eq!(outcome(|sink| reader.read_stream(pieces, sink)), whole, "{shown:?} split at {split}");
        }
        for piece in [4, 5, 6, 7, 11, 64] {
            reader.sizes = Sizes { piece };
            let pieces = Pieces { bytes: &document, first: 0, count: 1 };
            let split = outcome(|sink| reader.read_stream(pieces, sink));
            assert_eq!(split, whole, "{shown:?} in pieces of {piece}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn damaged_documents_read_the_same_in_pieces() {
    const PARTS: [&str; 24] = [
        "<",
        ">",
        "</",
        "/>",
        "<!",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "<!DOCTYPE",
        "&",
        ";",
        "&amp;",
        "\"",
        "'",
        "=",
        " ",
        "\n",
        "\r",
        "a",
        "\u{e9}",
        "<b a='1'>t</b>",
    ];
    let mut reader = Reader::new(Limits::default());
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for document in documents() {
        for _ in 0..300 {
            let mut damaged = document.clone();
            for _ in 0..=random(3) {
                let from = random(damaged.len() + 1);
                let to = (from + random(4)).min(damaged.len());
                damaged.splice(from..to, PARTS[random(PARTS.len())].bytes());
            }
            let whole = outcome(|sink| reader.read_bytes(&damaged, sink));
            for piece in [4, 5, 9, 30] {
                reader.sizes = Sizes { piece };
                let split = outcome(|sink| reader.read_stream(&damaged[..], sink));
                assert_eq!(split, whole, "{:?} in pieces of {piece}", String::from_utf8_lossy(&damaged));
            }
            reader.sizes = Sizes::default();
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn every_truncation_is_an_error() {
    // 4
    let mut reader = Reader::new(Limits::default());
    for document in documents() {
        if reader.read_bytes(&document, &mut Record::default()).is_err() {
            continue;
        }
        let trimmed = document.trim_ascii_end();
        let end = if document.starts_with(&[0xFE, 0xFF]) || document.starts_with(&[0xFF, 0xFE]) {
            document.len() - 4 // the line end is two characters of two bytes
        } else {
            trimmed.len()
        };
        for length in 0..end {
            let cut = &document[..length];
            let whole = outcome(|sink| reader.read_bytes(cut, sink));
            assert!(whole.0.is_err(), "{:?}", String::from_utf8_lossy(cut));
            let streamed = outcome(|sink| reader.read_stream(cut, sink));
            assert_eq!(streamed, whole, "{:?}", String::from_utf8_lossy(cut));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn text_that_is_decoded_reads_like_its_bytes() {
    let mut reader = Reader::new(Limits::default());
    for document in documents() {
        let Ok(text) = std::str::from_utf8(&document) else { continue };
        let bytes = outcome(|sink| reader.read_bytes(&document, sink));
        let decoded = outcome(|sink| reader.read_str(text, sink));
        if !matches!(&bytes.0, Err(error) if error.kind == DocumentErrorKind::Encoding) {
            assert_eq!(decoded, bytes, "{text:?}");
        }
    }
    // the declaration speaks of bytes that are no more
    let declared = "<?xml version='1.0' encoding='Shift_JIS'?><a>é</a>";
    assert!(outcome(|sink| reader.read_str(declared, sink)).0.is_ok());
    assert!(outcome(|sink| reader.read_str("<?xml version='1.0' encoding='?'?><a/>", sink)).0.is_err());
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn a_document_that_is_read_with_places_reads_the_same() {
    let mut reader = Reader::new(Limits::default());
    let listed = [("Shift_JIS", "\u{83}"), ("EUC-JP", "\u{8F}"), ("GBK", "\u{FD}"), ("Big5", "\u{A1}")];
    // A byte that begins a character, before one that does not go on with it.
    let broken = listed.map(|(name, begun)| {
        let text = format!("<?xml version='1.0' encoding='{name}'?><a>{begun}<b/></a>");
        text.chars().map(|c| c as u8).collect()
    });
    for document in documents().into_iter().chain(broken) {
        let whole = outcome(|sink| reader.read_bytes(&document, sink));
        let placed = outcome(|sink| reader.read_placed(&document, sink).map(|_| ()));
        assert_eq!(placed, whole, "{:?}", String::from_utf8_lossy(&document));
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn short_and_long_sources_read_like_memory() {
    let mut reader = Reader::new(Limits::default());
    for document in documents() {
        let whole = outcome(|sink| reader.read_bytes(&document, sink));
        let mut pieces = Pieces { bytes: &document, first: 0, count: 1 };
        assert_eq!(outcome(|sink| Document::Stream(&mut pieces).read(&mut reader, sink)), whole);
    }
    let file = std::env::temp_dir().join(format!("pathcast-source-{}.xml", std::process::id()));
    for within in [64 << 10, KEPT_BYTES] {
        let lengths = [within - 1, within, within + 1];
        for (length, end) in lengths.into_iter().flat_map(|length| ["</a>", "</b>"].map(|end| (length, end)))
        {
            let document = format!("<a>{}{end}", "\n".repeat(length - "<a>".len() - end.len()));
            let whole = outcome(|sink| reader.read_bytes(document.as_bytes(), sink));
            let mut pieces = Pieces { bytes: document.as_bytes(), first: 7, count: 10_000 };
            assert_eq!(outcome(|sink| Document::Stream(&mut pieces).read(&mut reader, sink)), whole);
            std::fs::write(&file, &document).unwrap();
            assert_eq!(outcome(|sink| Document::File(&file).read(&mut reader, sink)), whole);
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_source_that_fails_is_an_error_of_its_own() {
    // 35
    struct Broken(usize);
    impl Read for Broken {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => Err(io::Error::from(io::ErrorKind::Interrupted)),
                2 => {
                    out[..5].copy_from_slice(b"<a>\n\xC3");
                    Ok(5)
                }
                _ => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            }
        }
    }
    let mut reader = Reader::new(Limits::default());
    let error = reader.read_stream(Broken(0), &mut Record::default()).unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (DocumentErrorKind::Io, 2, 1));
    let same = Document::Stream(&mut Broken(0)).read(&mut reader, &mut Record::default()).unwrap_err();
    assert_eq!(same, error);
}

#[test]
fn a_document_may_be_as_long_as_the_limit() {
    let document = b"<a>\n<b/>\n</a>";
    let mut reader = Reader::new(Limits { document_bytes: document.len() as u64, ..Limits::default() });
    assert!(reader.read_bytes(document, &mut Record::default()).is_ok());
    assert!(reader.read_stream(&document[..], &mut Record::default()).is_ok());
    let mut reader = Reader::new(Limits { document_bytes: document.len() as u64 - 1, ..Limits::default() });
    let whole = outcome(|sink| reader.read_bytes(document, sink));
    let error = whole.0.clone().unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (DocumentErrorKind::Limit, 3, 4));
    assert_eq!(outcome(|sink| reader.read_stream(&document[..], sink)), whole);
    assert_eq!(outcome(|sink| reader.read_str("<a>\n<b/>\n</a>", sink)), whole);
}

#[test]
fn a_text_with_a_mark_that_is_as_long_as_the_limit_has_places() {
    for text in ["<a>\n<b/></a>", "<a>\r\n<b/></a>"] {
        let mut reader = Reader::new(Limits { document_bytes: text.len() as u64, ..Limits::default() });
        let marked = format!("\u{FEFF}{text}");
        assert!(reader.read_str(&marked, &mut Record::default()).is_ok());
        let (clean, offsets) = reader.read_placed_str(&marked, &mut Record::default()).unwrap();
        assert_eq!((clean.as_str(), offsets.given(clean.len())), ("<a>\n<b/></a>", marked.len()));
        let longer = marked + " ";
        let whole = outcome(|sink| reader.read_str(&longer, sink));
        assert_eq!(outcome(|sink| reader.read_placed_str(&longer, sink).map(|_| ())), whole);
        assert!(whole.0.is_err());
    }
}
