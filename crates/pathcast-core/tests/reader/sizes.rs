//! Documents that are deep, wide or long. Each must end, and end soon: time grows with the document, never faster.

use std::io::Read;

use super::DocumentErrorKind::Limit;
use super::*;

/// A document that is made while it is read: a head, one piece again and again, a tail; `chunk` bytes at a time.
struct Made {
    parts: Vec<(Vec<u8>, usize)>,
    chunk: usize,
    at: usize,
}

impl Made {
    fn new(head: &str, piece: &str, times: usize, tail: &str, chunk: usize) -> Self {
        let mut parts = vec![
            (tail.as_bytes().to_vec(), 1),
            (piece.as_bytes().to_vec(), times),
            (head.as_bytes().to_vec(), 1),
        ];
        parts.retain(|(part, times)| !part.is_empty() && *times > 0);
        Self { parts, chunk, at: 0 }
    }
}

impl Read for Made {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = self.chunk.min(out.len());
        let mut done = 0;
        while done < most {
            let Some((part, times)) = self.parts.last_mut() else { break };
            let count = (part.len() - self.at).min(most - done);
            out[done..done + count].copy_from_slice(&part[self.at..self.at + count]);
            done += count;
            self.at += count;
            if self.at == part.len() {
                self.at = 0;
                *times -= 1;
                if *times == 0 {
                    self.parts.pop();
                }
            }
        }
        Ok(done)
    }
}

fn count(limits: Limits, source: impl Read) -> Result<Count, DocumentError> {
    let mut count = Count::default();
    Reader::new(limits).read_stream(source, &mut count)?;
    Ok(count)
}

#[test]
fn depth() {
    // 25
    let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(read(nested(1023)).is_ok());
    assert!(read(nested(1024)).is_ok());
    refused(nested(1025), Limit, 1, 3 * 1024 + 1, "deeper than the limit of 1024");
    refused(nested(1_000_000), Limit, 1, 3 * 1024 + 1, "deeper than the limit of 1024");
    refused(format!("{}<b/>", "<a>".repeat(1024)), Limit, 1, 3 * 1024 + 1, "limit of 1024");
    let limits = Limits { depth: 1_000_000, ..Limits::default() };
    assert_eq!(count(limits, nested(1_000_000).as_bytes()).unwrap().elements, 1_000_000);
}

#[test]
fn attributes() {
    // 26
    let wide = |count: usize| {
        let attributes: String = (0..count).map(|i| format!(" a{i}=''")).collect();
        format!("<a{attributes}/>")
    };
    assert!(read(wide(10_000)).is_ok());
    let column = wide(10_000).len() as u64;
    refused(wide(10_001), Limit, 1, column, "limit of 10000");
    let limits = Limits { attributes: 100_000, ..Limits::default() };
    assert_eq!(count(limits.clone(), wide(100_000).as_bytes()).unwrap().attributes, 100_000);
    // one wide element does not slow down those that follow
    let followed = format!(
        "<r>{}{}</r>",
        wide(100_000),
        "<b a='' b='' c='' d='' e='' f='' g='' h='' i=''/>".repeat(10_000)
    );
    assert_eq!(count(limits, followed.as_bytes()).unwrap().elements, 10_002);
}

#[test]
fn namespaces() {
    // 27
    let declared: String = (0..100_000).map(|i| format!(" xmlns:p{i}='u{i}'")).collect();
    let used: String = (0..10_000).map(|i| format!("<p{i}:b p{}:x=''/>", i + 1)).collect();
    let limits = Limits { attributes: 100_000, depth: 10_001, ..Limits::default() };
    let document = format!("<a{declared}>{used}</a>");
    assert_eq!(count(limits.clone(), document.as_bytes()).unwrap().elements, 10_001);
    // 28
    let levels: String = (0..10_000).map(|i| format!("<p:a xmlns:p='u{i}' xmlns='v{i}'>")).collect();
    let document = format!("{levels}{}", "</p:a>".repeat(10_000));
    assert_eq!(count(limits.clone(), document.as_bytes()).unwrap().elements, 10_000);
    // the same attribute by 5,000 prefixes, the last two for one namespace
    let declared: String = (0..5_000).map(|i| format!(" xmlns:p{i}='u{}'", i.min(4_998))).collect();
    let used: String = (0..5_000).map(|i| format!(" p{i}:x=''")).collect();
    let error = count(limits, format!("<a{declared}{used}/>").as_bytes()).map(|_| ()).unwrap_err();
    assert!(error.reason.contains("\"p4999:x\""), "{error}");
}

#[test]
fn names() {
    // 31
    let name = "n".repeat(64 << 10);
    assert!(read(format!("<{name} {name}=''/>")).is_ok());
    for document in [
        format!("<{name}n/>"),
        format!("<a {name}n=''/>"),
        format!("<a xmlns:{name}=''/>"),
        format!("<p:{name}/>"),
        format!("<?{name}n?><a/>"),
        format!("<!DOCTYPE {name}n><a/>"),
        format!("<{}/>", "n".repeat(1 << 20)),
    ] {
        let error = read(document).unwrap_err();
        assert_eq!(error.kind, Limit);
        assert!(error.reason.contains("limit of 65536 bytes"), "{error}");
    }
}

#[test]
fn long_tokens_in_small_chunks() {
    // 30, and the same for the other tokens
    for chunk in [1, 4096] {
        for (head, tail) in [
            ("<a x='", "'/>"),
            ("<a>", "</a>"),
            ("<a><!--", "--></a>"),
            ("<a><![CDATA[", "]]></a>"),
            ("<a><?p ", "?></a>"),
            ("<!DOCTYPE a [<!--", "-->]><a/>"),
            ("<!DOCTYPE a SYSTEM '", "'><a/>"),
        ] {
            let source = Made::new(head, "x > ]  ] - ", 100_000, tail, chunk);
            assert_eq!(count(Limits::default(), source).unwrap().elements, 1, "{head}");
        }
    }
}

#[test]
fn many_siblings_and_names() {
    // 32, 33 on a small scale; the full one is below
    let source = Made::new("<a>", "<b/>\n", 100_000, "</a>", 1000);
    assert_eq!(count(Limits::default(), source).unwrap().elements, 100_001);
    let names: String = (0..100_000).map(|i| format!("<n{i}/>")).collect();
    assert_eq!(count(Limits::default(), format!("<a>{names}</a>").as_bytes()).unwrap().elements, 100_001);
}

#[test]
fn an_error_far_into_a_stream_has_its_place() {
    let source = Made::new("<a>\n", "<b>é</b>\n", 50_000, "  <c x=1/></a>", 4096);
    let error = count(Limits::default(), source).map(|_| ()).unwrap_err();
    assert_eq!((error.line, error.column), (50_002, 8));
    // the token starts many pieces before the fault in it
    let source = Made::new("<a>\n <b x='", "é\n", 100_000, "<'/></a>", 4096);
    let error = count(Limits::default(), source).map(|_| ()).unwrap_err();
    assert_eq!((error.line, error.column), (100_002, 1));
    let source = Made::new("<a>\n <b\n x='", "é", 100_000, "\n' x=''/></a>", 4096);
    let error = count(Limits::default(), source).map(|_| ()).unwrap_err();
    assert_eq!((error.line, error.column), (4, 3));
}

/// The sizes of the list. Takes a minute; run with `--release -- --ignored`.
#[test]
#[ignore = "a gigabyte of input"]
fn full_size() {
    let limits = || Limits { document_bytes: 2 << 30, ..Limits::default() };
    let counted = |source| count(limits(), source).unwrap().elements;
    assert_eq!(counted(Made::new("<a>", "x ]", 35_000_000, "</a>", 4096)), 1); // 29
    assert_eq!(counted(Made::new("<a x='", "y", 16 << 20, "'/>", 1)), 1); // 30
    assert_eq!(counted(Made::new("<a x='", "y&#10;", 16 << 20, "'/>", 4096)), 1);
    assert_eq!(counted(Made::new("<a>", "<b/>", 10_000_000, "</a>", 4096)), 10_000_001); // 32
    assert_eq!(counted(Made::new("<a>", "<b c='d'>0123456789</b>\n", 45_000_000, "</a>", 65536)), 45_000_001); // 34
    let error = count(Limits::default(), Made::new("<a>", "<b>0123456789</b>\n", 70_000_000, "</a>", 65536));
    assert_eq!(error.map(|_| ()).unwrap_err().kind, Limit);
}
