//! Clean text: tokens without a tokeniser.
//!
//! Nearly all markup is start tags, end tags and text in their usual form. These are found here in one pass: a start tag
//! ends where its attributes do, an end tag is compared with the name that is open, text ends at `<` or `&`. What is
//! anything else, or in any way wrong, goes to quick-xml as one token, which then says what it is. So faults have one
//! place.
//!
//! Of a stream only a window is there. A token that goes on behind it is left until more is there; one that is whole
//! reads as it would in the whole text.

use quick_xml::Error;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::Event;

use super::error::Fault;
use super::markup::Markup;
use super::sink::Sink;
use super::tokens;
use crate::cancel::Pulse;
use crate::chars::skip_space;

/// Bytes that tell what a token is: those of `<!DOCTYPE` and `<![CDATA[`.
const LONGEST_START: usize = 9;

/// Bytes of text that are looked at one by one, before searching in blocks pays.
const SHORT: usize = 16;

/// What is there of a document's clean text.
pub(super) struct Window<'t> {
    pub(super) text: &'t str,
    /// Where reading begins in it; before that are only names of open elements.
    pub(super) from: usize,
    /// Where it begins in the document.
    pub(super) base: u64,
    /// Whether the document ends with it.
    pub(super) last: bool,
}

/// Reads on to the end of the last token that is there; returns where that is. A fault comes with where its token starts.
///
/// `open` says where the names of open elements are in the text.
pub(super) fn read<S: Sink>(
    window: &Window<'_>,
    document: &mut Markup,
    open: &mut Vec<(usize, usize)>,
    sink: &mut S,
) -> Result<usize, (Fault, usize)> {
    let &Window { text, from, base, last } = window;
    let mut tokens = Tokens { text, base, last, open };
    let (mut at, mut pulse) = (from, Pulse::default());
    while at < text.len() {
        if pulse.requested() {
            return Err((Fault::cancelled(), from)); // nobody asks where, and to count the lines takes a while
        }
        let next = tokens.take(at, document, sink).map_err(|fault| (fault, at))?;
        if next == at {
            break;
        }
        at = next;
    }
    Ok(at)
}

/// A text, and the names of its open elements.
struct Tokens<'t> {
    text: &'t str,
    base: u64,
    last: bool,
    /// Where each name is in the text.
    open: &'t mut Vec<(usize, usize)>,
}

impl Tokens<'_> {
    /// Takes the token at a place; returns where the next one is, which is here as long as this one is not whole.
    #[inline]
    fn take<S: Sink>(&mut self, at: usize, document: &mut Markup, sink: &mut S) -> Result<usize, Fault> {
        let bytes = self.text.as_bytes();
        let taken = match bytes[at..] {
            [b'<', b'/', ..] => self.end_tag(at, document, sink),
            [b'<', b'!' | b'?', ..] | [b'<'] => None,
            [b'&', ..] => match memchr::memchr3(b';', b'<', b'&', &bytes[at + 1..]) {
                Some(length) if bytes[at + 1 + length] == b';' => {
                    let end = at + 1 + length;
                    sink.token(self.offset(at), self.offset(end + 1));
                    let name = &self.text[at + 1..end];
                    return document.reference(name, self.offset(at), sink).map(|()| end + 1);
                }
                None if !self.last => return Ok(at),
                _ => None,
            },
            [b'<', ..] => return self.start_tag(at, document, sink),
            _ => {
                let (end, plain) = text_end(bytes, at);
                if end == bytes.len() && !self.last {
                    return Ok(at);
                }
                sink.token(self.offset(at), self.offset(end));
                let text = &self.text[at..end];
                let taken = if plain { document.plain_text(text, sink) } else { document.text(text, sink) };
                return taken.map(|()| end);
            }
        };
        match taken {
            Some(end) => Ok(end),
            None => self.other(at, document, sink),
        }
    }

    /// Where a place is in the document.
    #[inline]
    fn offset(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    #[inline]
    fn start_tag<S: Sink>(&mut self, at: usize, document: &mut Markup, sink: &mut S) -> Result<usize, Fault> {
        let name = at + 1;
        let Some(scanned) = document.scan_ahead(&self.text[name..]) else {
            return self.other(at, document, sink);
        };
        let end = name + scanned.end;
        let (empty, after) = match self.text.as_bytes()[end..] {
            [b'>', ..] => (false, end + 1),
            [b'/', ..] => (true, end + 2),
            _ => return self.other(at, document, sink),
        };
        sink.token(self.offset(at), self.offset(after));
        document.start_scanned(&self.text[name..end], scanned.name, self.offset(at), sink)?;
        if empty {
            document.end(sink);
        } else {
            self.open.push((name, name + scanned.name.end));
        }
        Ok(after)
    }

    /// An end tag, if it closes what is open.
    #[inline]
    fn end_tag<S: Sink>(&mut self, at: usize, document: &mut Markup, sink: &mut S) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let &(from, to) = self.open.last()?;
        let name = at + 2;
        let mut end = name + (to - from);
        if bytes.get(name..end)? != &bytes[from..to] {
            return None;
        }
        if bytes.get(end) != Some(&b'>') {
            end = skip_space(bytes, end);
            if bytes.get(end) != Some(&b'>') {
                return None;
            }
        }
        self.open.pop();
        sink.token(self.offset(at), self.offset(end + 1));
        document.end(sink);
        Some(end + 1)
    }

    /// A token that quick-xml reads, for the first time or to say what is wrong with it.
    #[cold]
    fn other<S: Sink>(&mut self, at: usize, document: &mut Markup, sink: &mut S) -> Result<usize, Fault> {
        let rest = &self.text[at..];
        if rest.len() < LONGEST_START && !self.last {
            return Ok(at);
        }
        let mut token = quick_xml::Reader::from_str(rest);
        token.config_mut().allow_unmatched_ends = !self.open.is_empty();
        let event = match (token.read_event(), self.open.last()) {
            (Ok(Event::End(found)), Some(&(from, to))) => {
                let expected = self.text[from..to].to_owned();
                let found = found.name().as_ref().to_owned();
                Err(Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }))
            }
            (event, _) => event,
        };
        let end = at + token.buffer_position() as usize;
        match event {
            Ok(Event::DocType(_)) => document.doctype(&self.text[at..end])?,
            Ok(event) => {
                sink.token(self.offset(at), self.offset(end));
                document.handle(&event, self.offset(at), sink)?;
                if let Event::Start(tag) = &event {
                    self.open.push((at + 1, at + 1 + tag.name().as_ref().len()));
                }
            }
            // That it begins like no token is certain; all other errors of this kind are that it has no end.
            Err(Error::Syntax(error)) if !self.last && error != SyntaxError::InvalidBangMarkup => {
                return Ok(at);
            }
            Err(error) => {
                let ended = memchr::memchr3(b';', b'<', b'&', rest.as_bytes().get(1..).unwrap_or_default());
                return Err(tokens::explain(&error, rest, ended.is_none(), document));
            }
        }
        Ok(end)
    }
}

/// Where text ends, and whether no `>` is in it.
#[inline]
fn text_end(bytes: &[u8], from: usize) -> (usize, bool) {
    let short = bytes.len().min(from + SHORT);
    let stops = |byte: &u8| matches!(byte, b'<' | b'&' | b'>');
    let stop = match bytes[from..short].iter().position(stops) {
        Some(length) => from + length,
        None => {
            memchr::memchr3(b'<', b'&', b'>', &bytes[short..]).map_or(bytes.len(), |length| short + length)
        }
    };
    if bytes.get(stop) != Some(&b'>') {
        return (stop, true);
    }
    (memchr::memchr2(b'<', b'&', &bytes[stop..]).map_or(bytes.len(), |length| stop + length), false)
}
