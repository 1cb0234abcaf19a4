//! The reader: the same events or the same error however the document arrives, and what is accepted can be written
//! again from its events.

use std::io::{self, Read};

use pathcast_core::limits::Limits;
use pathcast_core::reader::{DocumentError, Reader, Sink, StartTag, UriId};

use crate::Random;

/// One event; adjacent pieces of text are one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Start { name: Name, attributes: Vec<(Name, String)> },
    End,
    Text(String),
    Comment(String),
    Instruction(String, String),
}

/// Namespace URI and local part.
type Name = (String, String);

const XML: &str = "http://www.w3.org/XML/1998/namespace";

#[derive(Default)]
struct Record {
    uris: Vec<String>,
    events: Vec<Event>,
}

impl Record {
    fn name(&self, uri: UriId, local: &str) -> Name {
        let uri = match uri {
            UriId::NONE => "",
            UriId::XML => XML,
            UriId(number) => &self.uris[number as usize - 2],
        };
        (uri.to_owned(), local.to_owned())
    }
}

impl Sink for Record {
    fn wants_text(&self) -> bool {
        true
    }
    fn namespace(&mut self, id: UriId, uri: &str) {
        assert_eq!(id.0 as usize, self.uris.len() + 2);
        self.uris.push(uri.to_owned());
    }
    fn start(&mut self, tag: &StartTag<'_>) {
        let attributes =
            tag.attributes().map(|one| (self.name(one.uri, one.local), one.value.to_owned())).collect();
        self.events.push(Event::Start { name: self.name(tag.uri, tag.local), attributes });
    }
    fn end(&mut self) {
        self.events.push(Event::End);
    }
    fn text(&mut self, text: &str) {
        assert!(!text.is_empty());
        match self.events.last_mut() {
            Some(Event::Text(before)) => before.push_str(text),
            _ => self.events.push(Event::Text(text.to_owned())),
        }
    }
    fn comment(&mut self, text: &str) {
        self.events.push(Event::Comment(text.to_owned()));
    }
    fn instruction(&mut self, target: &str, data: &str) {
        self.events.push(Event::Instruction(target.to_owned(), data.to_owned()));
    }
}

/// Listens to tags only.
struct Tags;

impl Sink for Tags {
    fn wants_text(&self) -> bool {
        false
    }
    fn namespace(&mut self, _: UriId, _: &str) {}
    fn start(&mut self, _: &StartTag<'_>) {}
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

/// Gives one to `most` bytes a read, as chance will.
struct Pieces<'a> {
    bytes: &'a [u8],
    most: usize,
    random: Random,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = (1 + self.random.below(self.most)).min(out.len()).min(self.bytes.len());
        out[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        Ok(count)
    }
}

type Outcome = Result<Vec<Event>, DocumentError>;

fn outcome(read: impl FnOnce(&mut Record) -> Result<(), DocumentError>) -> Outcome {
    let mut record = Record::default();
    read(&mut record).map(|()| record.events)
}

fn escaped(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '"' | '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", character as u32)),
            _ => out.push(character),
        }
    }
}

/// A document with these events. Prefixes are made up: `n0`, `n1` … in each tag.
fn written(events: &[Event]) -> String {
    let mut out = String::new();
    let mut open = Vec::new();
    for event in events {
        match event {
            Event::Start { name, attributes } => {
                let mut uris: Vec<&str> = Vec::new();
                let used = std::iter::once(name).chain(attributes.iter().map(|(name, _)| name));
                for (uri, _) in used.filter(|(uri, _)| !uri.is_empty() && uri != XML) {
                    if !uris.contains(&uri.as_str()) {
                        uris.push(uri);
                    }
                }
                let qualified = |(uri, local): &Name| match uris.iter().position(|each| each == uri) {
                    Some(number) => format!("n{number}:{local}"),
                    None if uri == XML => format!("xml:{local}"),
                    None => local.clone(),
                };
                let tag = qualified(name);
                out.push_str(&format!("<{tag}"));
                for (number, uri) in uris.iter().enumerate() {
                    out.push_str(&format!(" xmlns:n{number}=\""));
                    escaped(uri, &mut out);
                    out.push('"');
                }
                for (name, value) in attributes {
                    out.push_str(&format!(" {}=\"", qualified(name)));
                    escaped(value, &mut out);
                    out.push('"');
                }
                out.push('>');
                open.push(tag);
            }
            Event::End => out.push_str(&format!("</{}>", open.pop().unwrap())),
            Event::Text(text) => escaped(text, &mut out),
            Event::Comment(text) => out.push_str(&format!("<!--{text}-->")),
            Event::Instruction(target, data) if data.is_empty() => out.push_str(&format!("<?{target}?>")),
            Event::Instruction(target, data) => out.push_str(&format!("<?{target} {data}?>")),
        }
    }
    out
}

/// Reads the document in every way there is; `seed` draws the pieces in which it arrives.
pub fn check(document: &[u8], seed: u64) -> bool {
    let shown = || String::from_utf8_lossy(document).into_owned();
    let mut random = Random(seed);
    let mut reader = Reader::new(Limits::default());
    let whole = outcome(|record| reader.read_bytes(document, record));
    let most = *random.pick(&[1, 2, 3, 7, 64, 5_000]);
    let pieces = Pieces { bytes: document, most, random: Random(random.next()) };
    let streamed = outcome(|record| reader.read_stream(pieces, record));
    assert_eq!(whole, streamed, "in pieces of up to {most} bytes: {:?}", shown());
    let fresh = outcome(|record| Reader::new(Limits::default()).read_bytes(document, record));
    assert_eq!(whole, fresh, "a used reader differs from a new one: {:?}", shown());
    let tags = reader.read_bytes(document, &mut Tags);
    assert_eq!(whole.as_ref().err(), tags.as_ref().err(), "without text: {:?}", shown());
    if let Ok(text) = std::str::from_utf8(document)
        && !text.contains("encoding")
        && !text.contains('\0')
    {
        let decoded = outcome(|record| reader.read_str(text, record));
        // Bytes that begin as an archive does are told to be one; a text only has characters that XML has not.
        if document.starts_with(b"PK\x03\x04") {
            assert!(whole.is_err() && decoded.is_err(), "{:?}", shown());
        } else {
            assert_eq!(whole, decoded, "as text: {:?}", shown());
        }
    }
    match whole {
        Ok(events) => {
            let again = written(&events);
            let read = outcome(|record| reader.read_bytes(again.as_bytes(), record));
            assert_eq!(read, Ok(events), "{:?} was written again as {again:?}", shown());
            true
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "{error}: {:?}", shown());
            assert!(!error.reason.is_empty());
            false
        }
    }
}
