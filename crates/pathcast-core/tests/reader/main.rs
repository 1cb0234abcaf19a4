//! The reader against hostile input; numbers name the cases of the project's list.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

mod doctype;
mod refused;
mod sizes;
mod values;

use pathcast_core::limits::Limits;
use pathcast_core::reader::{DocumentError, DocumentErrorKind, Reader, Sink, StartTag, UriId};

/// The events of a document in one string: `<{uri}a @x='1'>text</>`.
#[derive(Default)]
struct Trace {
    uris: Vec<String>,
    out: String,
}

impl Trace {
    fn name(&self, uri: UriId, local: &str) -> String {
        match uri {
            UriId::NONE => local.to_owned(),
            UriId::XML => format!("{{xml}}{local}"),
            UriId(number) => format!("{{{}}}{local}", self.uris[number as usize - 2]),
        }
    }
}

impl Sink for Trace {
    fn wants_text(&self) -> bool {
        true
    }
    fn namespace(&mut self, id: UriId, uri: &str) {
        assert_eq!(id.0 as usize, self.uris.len() + 2, "numbers are given in order");
        self.uris.push(uri.to_owned());
    }
    fn start(&mut self, tag: &StartTag<'_>) {
        let mut shown = format!("<{}", self.name(tag.uri, tag.local));
        for one in tag.attributes() {
            shown += &format!(" @{}={:?}", self.name(one.uri, one.local), one.value);
        }
        self.out += &(shown + ">");
    }
    fn end(&mut self) {
        self.out += "</>";
    }
    fn text(&mut self, text: &str) {
        self.out += text;
    }
    fn comment(&mut self, text: &str) {
        self.out += &format!("(c {text:?})");
    }
    fn instruction(&mut self, target: &str, data: &str) {
        self.out += &format!("(p {target} {data:?})");
    }
}

/// Counts elements and wants nothing else.
#[derive(Default)]
struct Count {
    elements: usize,
    attributes: usize,
}

impl Sink for Count {
    fn wants_text(&self) -> bool {
        false
    }
    fn namespace(&mut self, _: UriId, _: &str) {}
    fn start(&mut self, tag: &StartTag<'_>) {
        self.elements += 1;
        self.attributes += tag.attribute_count();
    }
    fn end(&mut self) {}
    fn text(&mut self, _: &str) {
        panic!("text is not wanted");
    }
    fn comment(&mut self, _: &str) {
        panic!("comments are not wanted");
    }
    fn instruction(&mut self, _: &str, _: &str) {
        panic!("instructions are not wanted");
    }
}

fn read(document: impl AsRef<[u8]>) -> Result<String, DocumentError> {
    let mut trace = Trace::default();
    Reader::new(Limits::default()).read_bytes(document.as_ref(), &mut trace)?;
    Ok(trace.out)
}

fn events(document: impl AsRef<[u8]>) -> String {
    read(document).unwrap()
}

/// Checks that a document is refused for a reason, at a place.
#[track_caller]
fn refused(document: impl AsRef<[u8]>, kind: DocumentErrorKind, line: u64, column: u64, reason: &str) {
    let error = read(document).unwrap_err();
    assert!(error.reason.contains(reason), "{error}");
    assert_eq!((error.kind, error.line, error.column), (kind, line, column), "{error}");
}
