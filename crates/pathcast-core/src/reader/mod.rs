//! A strict, namespace-aware, limited XML 1.0 reader over quick-xml.
//!
//! Four layers, each of which trusts the one before:
//!
//! 1. bytes to clean text (`encoding`, `decode`, `clean`, `source`): the encoding is found, characters are
//!    checked, line ends normalised. Clean UTF-8 in memory is not copied.
//! 2. clean text to tokens: the usual ones in one pass (`scanner`), all others by quick-xml, which finds where a token ends
//!    and is lax otherwise. Of a stream a window is in memory.
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
mod namespaces;
mod offsets;
mod position;
mod references;
mod scanner;
mod sink;
mod source;
#[cfg(test)]
mod splits;
mod tokens;
mod yardstick;

use std::io::Read;

use crate::limits::Limits;

use encoding::{Detected, Encoding};
use error::Fault;
use markup::{KEPT_BYTES, Markup};
use position::Position;
use scanner::Window;
use source::{Buffers, Sizes, Source};

pub use entities::Entities;
pub use error::{DocumentError, DocumentErrorKind};
pub use input::Document;
pub use offsets::Offsets;
pub use sink::{Attribute, Sink, StartTag, UriId};
pub use yardstick::{bare_elements, strict_elements};

/// Bytes from which on a document in memory is read in pieces, so that reading it can be ended: to see that it is clean
/// asks nobody.
const LARGE: usize = 64 << 20;

/// Reads documents one after another; buffers are kept in between.
pub struct Reader {
    document: Markup,
    /// Where the names of open elements are, of a text in memory.
    open: Vec<(usize, usize)>,
    buffers: Buffers,
    /// What is in memory of the clean text of a stream.
    window: Vec<u8>,
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
            window: Vec::new(),
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
            Some(((text, offsets), detected)) if !text.starts_with('\u{FEFF}') => {
                self.read_clean(&text, Some(detected), sink)?;
                Ok((text, offsets))
            }
            // Whatever is wrong is told as it is for any other document.
            _ => {
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
        let (known, text) = (Detected { encoding: Encoding::Utf8, mark }, &document[mark..]);
        // The mark does not count: what is read must have its text told.
        let within = text.len() as u64 <= self.document.limits().document_bytes;
        if within && is_clean(text) {
            self.read_clean(text, None, sink)?;
            return Ok((text.to_owned(), Offsets::Same(mark)));
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
        self.open.clear();
        let window = Window { text, from: 0, base: 0, last: true };
        scanner::read(&window, &mut self.document, &mut self.open, sink)
            .and_then(|at| self.document.finish(at as u64).map_err(|fault| (fault, at)))
            .map_err(|(fault, start)| place(fault, text, start, Position::START))
    }

    /// Reads from a source: of its clean text a window is in memory, which begins with the names of open elements.
    fn read_pieces<R: Read, S: Sink>(
        &mut self,
        source: R,
        known: Option<Detected>,
        sink: &mut S,
    ) -> Result<(), DocumentError> {
        let Self { document, open, buffers, window: bytes, sizes, .. } = self;
        let limit = document.limits().document_bytes;
        let mut source = Source::new(source, buffers, *sizes, limit, known);
        let detected = match (known, source.detect()) {
            (Some(_), _) => None,
            (None, Ok(detected)) => Some(detected),
            (None, Err(fault)) => return Err(fault.placed(1, 1)),
        };
        document.begin(detected, sink.wants_text());
        open.clear();
        bytes.clear();
        let (mut from, mut base, mut position) = (0, 0, Position::START);
        let result = loop {
            // As much again as is there, so that a long token is not looked at too often.
            let more = source.read_into(bytes, 2 * bytes.len() + sizes.piece);
            let fault = source.take_fault();
            let text = match simdutf8::basic::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => {
                    break Err(Fault::encoding(0, error.to_string()).placed(position.line, position.column));
                }
            };
            let window = Window { text, from, base, last: !more && fault.is_none() };
            let read = scanner::read(&window, document, open, sink).and_then(|at| match fault {
                Some(fault) => Err((fault, text.len())),
                None if more => Ok(at),
                None => document.finish(base + at as u64).map(|()| at).map_err(|fault| (fault, at)),
            });
            match read {
                Err((fault, start)) => break Err(place(fault, &text[from..], start - from, position)),
                Ok(_) if !more => break Ok(()),
                Ok(at) => {
                    position.advance(&bytes[from..at]);
                    (from, base) = leave(bytes, at, base, open);
                }
            }
        };
        bytes.clear();
        bytes.shrink_to(KEPT_BYTES);
        result
    }
}

/// Takes what was read from a window, but for the names of open elements; says where reading goes on, and where the window
/// begins in the document.
fn leave(window: &mut Vec<u8>, at: usize, base: u64, open: &mut [(usize, usize)]) -> (usize, u64) {
    let mut end = 0;
    for (from, to) in open {
        // Names are in the order of their elements, so none is overwritten before it is moved.
        window.copy_within(*from..*to, end);
        (*from, *to) = (end, end + (*to - *from));
        end = *to;
    }
    window.drain(end..at);
    (end, base + (at - end) as u64)
}

/// Whether text holds only XML characters, needs no line end changed, and no second byte order mark is before it.
fn is_clean(text: &str) -> bool {
    let bytes = text.as_bytes();
    clean::first_forbidden(bytes).is_none()
        && memchr::memchr(b'\r', bytes).is_none()
        && !text.starts_with('\u{FEFF}')
}

/// Finds line and column of a fault in a token that starts at `start` of a text whose position is known.
#[cold]
fn place(fault: Fault, text: &str, start: usize, mut position: Position) -> DocumentError {
    let end = (start + fault.at()).min(text.len());
    position.advance(&text.as_bytes()[..end]);
    fault.placed(position.line, position.column)
}
