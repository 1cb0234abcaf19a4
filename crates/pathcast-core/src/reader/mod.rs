//! A strict, namespace-aware, limited XML 1.0 reader over quick-xml.
//!
//! Four layers, each of which trusts the one before:
//!
//! 1. bytes to clean text (`encoding`, `decode`, `clean`, `source`): the encoding is found, characters are
//!    checked, line ends normalised. Clean UTF-8 in memory is not copied.
//! 2. clean text to tokens: the usual ones in one pass (`memory`), all others and those of streams by quick-xml, which
//!    finds where a token ends and that end tags match, and is lax otherwise.
//! 3. tokens to events (`markup`, `attributes`, `namespaces`, `references`, `declaration`): everything XML
//!    1.0 and Namespaces 1.0 demand of names, attributes, references, comments and of the order of things.
//! 4. the DOCTYPE (`doctype`) and entities (`entities`): checked, never fetched, attribute defaults applied, entities bounded.
//!
//! A document gives the same events, or the same error at the same place, however it arrives: in memory or in pieces of
//! any size. Nothing before an error counts; the caller must throw away what the sink has gathered.
//!
//! Cost: linear in the document. Memory: the largest token, the open elements, and the distinct prefixes and namespace
//! URIs; never the document.

mod attributes;
mod clean;
mod declaration;
mod decode;
mod doctype;
mod duplicates;
mod encoding;
mod entities;
mod error;
mod input;
mod markup;
mod memory;
mod namespaces;
mod offsets;
mod position;
mod references;
mod sink;
mod source;
#[cfg(test)]
mod splits;
mod tokens;
mod yardstick;

use std::io::Read;

use quick_xml::events::Event;

use crate::cancel::Pulse;
use crate::limits::Limits;

use encoding::{Detected, Encoding};
use error::Fault;
use markup::{KEPT_BYTES, Markup};
use position::Position;
use source::{Buffers, Sizes, Source};

pub use entities::Entities;
pub use error::{DocumentError, DocumentErrorKind};
pub use input::Document;
pub use offsets::Offsets;
pub use sink::{Attribute, Sink, StartTag, UriId};
pub use yardstick::{bare_elements, strict_elements};

/// Bytes from which on a document in memory is read in pieces, so that reading it can be ended: to see that it is clean
/// asks nobody, and takes a quarter of a second for so many.
const LARGE: usize = 1 << 30;

/// Reads documents one after another; buffers are kept in between.
pub struct Reader {
    document: Markup,
    /// Where the names of open elements are, of a text in memory.
    open: Vec<(usize, usize)>,
    buffers: Buffers,
    /// The first bytes of a source.
    head: Vec<u8>,
    /// The token of a stream that is being read.
    token: Vec<u8>,
    sizes: Sizes,
}

impl Reader {
    /// A reader that refuses what is beyond the limits.
    pub fn new(limits: Limits) -> Self {
        Self::with_entities(limits, Entities::default())
    }

    /// A reader that knows entities besides those that documents may declare.
    pub fn with_entities(limits: Limits, entities: Entities) -> Self {
        Self {
            document: Markup::new(limits, entities),
            open: Vec::new(),
            buffers: Buffers::default(),
            head: Vec::new(),
            token: Vec::new(),
            sizes: Sizes::default(),
        }
    }

    /// Reads a whole document in memory; its byte order mark or its declaration name the encoding.
    pub fn read_bytes<S: Sink>(&mut self, document: &[u8], sink: &mut S) -> Result<(), DocumentError> {
        let clean = if document.len() > LARGE { None } else { self.clean_text(document) };
        match clean {
            Some((text, detected)) => self.read_clean(text, Some(detected), sink),
            // what must be decoded or is in any way wrong goes the way of streams, and is refused where they are
            None => self.read_stream(document, sink),
        }
    }

    /// Reads a document that is decoded already: an encoding declaration is checked for syntax and otherwise ignored.
    pub fn read_str<S: Sink>(&mut self, document: &str, sink: &mut S) -> Result<(), DocumentError> {
        let mark = if document.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let text = &document[mark..];
        let small = document.len() <= LARGE && document.len() as u64 <= self.document.limits().document_bytes;
        if small && is_clean(text) {
            return self.read_clean(text, None, sink);
        }
        let known = Detected { encoding: Encoding::Utf8, mark };
        self.read_pieces(text.as_bytes(), Some(known), sink)
    }

    /// Reads a whole document in memory and tells the sink where tokens are in its clean text; gives that text, and where it
    /// comes from in the bytes.
    pub fn read_placed<S: Sink>(
        &mut self,
        document: &[u8],
        sink: &mut S,
    ) -> Result<(String, Offsets), DocumentError> {
        if let Some((text, detected)) = self.clean_text(document) {
            self.read_clean(text, Some(detected), sink)?;
            return Ok((text.to_owned(), Offsets::Same(detected.mark)));
        }
        let within = document.len() as u64 <= self.document.limits().document_bytes;
        let detected = encoding::detect(document).ok().filter(|_| within);
        match detected.and_then(|detected| Some((Offsets::decoded(document, detected)?, detected))) {
            Some(((text, offsets), detected)) => {
                self.read_clean(&text, Some(detected), sink)?;
                Ok((text, offsets))
            }
            // Whatever is wrong is told as it is for any other document.
            None => {
                self.read_stream(document, sink)?;
                Ok((String::new(), Offsets::Same(0)))
            }
        }
    }

    /// Reads text that is decoded already as [`Reader::read_placed`] reads bytes; its places are those in UTF-8.
    pub fn read_placed_str<S: Sink>(
        &mut self,
        document: &str,
        sink: &mut S,
    ) -> Result<(String, Offsets), DocumentError> {
        let mark = if document.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let known = Detected { encoding: Encoding::Utf8, mark };
        let within = document.len() as u64 <= self.document.limits().document_bytes;
        if within && is_clean(&document[mark..]) {
            self.read_clean(&document[mark..], None, sink)?;
            return Ok((document[mark..].to_owned(), Offsets::Same(mark)));
        }
        match Offsets::decoded(document.as_bytes(), known).filter(|_| within) {
            Some((text, offsets)) if !text.starts_with('\u{FEFF}') => {
                self.read_clean(&text, None, sink)?;
                Ok((text, offsets))
            }
            _ => {
                self.read_str(document, sink)?;
                Ok((String::new(), Offsets::Same(0)))
            }
        }
    }

    /// Reads a document from a source that may give it in pieces of any size, with the same answer.
    pub fn read_stream<R: Read, S: Sink>(&mut self, source: R, sink: &mut S) -> Result<(), DocumentError> {
        self.read_pieces(source, None, sink)
    }

    /// The text of a document that needs no decoding and has no fault in its bytes.
    fn clean_text<'d>(&self, document: &'d [u8]) -> Option<(&'d str, Detected)> {
        if document.len() as u64 > self.document.limits().document_bytes {
            return None;
        }
        let detected = encoding::detect(document).ok()?;
        let bytes = &document[detected.mark..];
        let text = match detected.encoding {
            Encoding::Utf8 => simdutf8::basic::from_utf8(bytes).ok()?,
            Encoding::Ascii if bytes.is_ascii() => simdutf8::basic::from_utf8(bytes).ok()?,
            _ => return None,
        };
        is_clean(text).then_some((text, detected))
    }

    /// Reads clean text: tokens borrow from it.
    fn read_clean<S: Sink>(
        &mut self,
        text: &str,
        detected: Option<Detected>,
        sink: &mut S,
    ) -> Result<(), DocumentError> {
        self.document.begin(detected, sink.wants_text());
        memory::read(text, &mut self.document, &mut self.open, sink)
            .map_err(|(fault, start)| place(fault, text, start))
    }

    /// Reads from a source: tokens are gathered in a buffer.
    fn read_pieces<R: Read, S: Sink>(
        &mut self,
        source: R,
        known: Option<Detected>,
        sink: &mut S,
    ) -> Result<(), DocumentError> {
        let Self { document, buffers, token, sizes, .. } = self;
        let limit = document.limits().document_bytes;
        let mut source = Source::new(source, buffers, *sizes, limit, known);
        let detected = match (known, source.detect()) {
            (Some(_), _) => None,
            (None, Ok(detected)) => Some(detected),
            (None, Err(fault)) => return Err(fault.placed(1, 1)),
        };
        document.begin(detected, sink.wants_text());
        let mut tokens = quick_xml::Reader::from_reader(source);
        let mut pulse = Pulse::default();
        let result = loop {
            token.clear();
            if pulse.requested() {
                break Err((Fault::cancelled(), 0));
            }
            tokens.get_mut().mark();
            let start = tokens.buffer_position();
            let result = match tokens.read_event_into(token) {
                Ok(Event::Eof) => break document.finish(start).map_err(|fault| (fault, 0)),
                Ok(Event::DocType(_)) => document.doctype(as_text(token)),
                Ok(event) => document.handle(&event, start, sink),
                Err(error) => {
                    let source = tokens.get_mut();
                    // a lone `<` at the end is consumed, but never reaches the token
                    let missing = source.delivered().saturating_sub(start + token.len() as u64);
                    // only an I/O error comes from the source; others are found before its fault is reached
                    let broken =
                        if matches!(error, quick_xml::Error::Io(_)) { source.take_fault() } else { None };
                    let fault = match broken {
                        Some(fault) => fault.later(token.len()),
                        None => tokens::explain(&error, as_text(token), source.is_at_end(), document),
                    };
                    break Err((fault, missing));
                }
            };
            if let Err(fault) = result {
                break Err((fault, 0));
            }
        };
        let result = result.map_err(|(fault, missing)| {
            let mut position = tokens.get_ref().marked();
            position.advance(&token[..fault.at().min(token.len())]);
            position.column += missing;
            fault.placed(position.line, position.column)
        });
        token.clear();
        token.shrink_to(KEPT_BYTES);
        result
    }
}

/// Whether text holds only XML characters, needs no line end changed, and no second byte order mark is before it.
fn is_clean(text: &str) -> bool {
    let bytes = text.as_bytes();
    clean::first_forbidden(bytes).is_none()
        && memchr::memchr(b'\r', bytes).is_none()
        && !text.starts_with('\u{FEFF}')
}

/// The bytes of a token as the text they are known to be.
fn as_text(token: &[u8]) -> &str {
    std::str::from_utf8(token).unwrap_or_default()
}

/// Finds line and column of a fault in a token that starts at `start`.
#[cold]
fn place(fault: Fault, text: &str, start: u64) -> DocumentError {
    let mut position = Position::START;
    let end = (start as usize + fault.at()).min(text.len());
    position.advance(&text.as_bytes()[..end]);
    fault.placed(position.line, position.column)
}
