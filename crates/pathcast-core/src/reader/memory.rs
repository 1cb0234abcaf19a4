//! Clean text in memory: tokens without a tokeniser.
//!
//! Nearly all markup is start tags, end tags and text in their usual form. These are found here in one pass: a start tag
//! ends where its attributes do, an end tag is compared with the name that is open, text ends at `<` or `&`. What is
//! anything else, or in any way wrong, goes to quick-xml as one token, which then says what it is. So faults have one
//! place, and are the same as those of a stream.

use quick_xml::Error;
use quick_xml::errors::IllFormedError;
use quick_xml::events::Event;

use super::error::Fault;
use super::markup::Markup;
use super::sink::Sink;
use super::tokens;
use crate::cancel::Pulse;
use crate::chars::skip_space;

/// Bytes of text that are looked at one by one, before searching in blocks pays.
const SHORT: usize = 16;

/// Reads a text from its start to its end. A fault comes with where its token starts.
///
/// `open` is emptied first; it is handed in so that it is kept from document to document.
pub(super) fn read<S: Sink>(
    text: &str,
    document: &mut Markup,
    open: &mut Vec<(usize, usize)>,
    sink: &mut S,
) -> Result<(), (Fault, u64)> {
    open.clear();
    let mut tokens = Tokens { text, open };
    let (mut at, mut pulse) = (0, Pulse::default());
    while at < text.len() {
        if pulse.requested() {
            return Err((Fault::cancelled(), 0)); // nobody asks where, and to count the lines takes a while
        }
        at = tokens.take(at, document, sink).map_err(|fault| (fault, at as u64))?;
    }
    document.finish(at as u64).map_err(|fault| (fault, at as u64))
}

/// The text, and the names of its open elements.
struct Tokens<'t> {
    text: &'t str,
    /// Where each name is in the text.
    open: &'t mut Vec<(usize, usize)>,
}

impl Tokens<'_> {
    /// Takes the token at a place; returns where the next one is.
    #[inline]
    fn take<S: Sink>(&mut self, at: usize, document: &mut Markup, sink: &mut S) -> Result<usize, Fault> {
        let bytes = self.text.as_bytes();
        let taken = match bytes[at..] {
            [b'<', b'/', ..] => self.end_tag(at, document, sink),
            [b'<', b'!' | b'?', ..] | [b'<'] => None,
            [b'&', ..] => match memchr::memchr3(b';', b'<', b'&', &bytes[at + 1..]) {
                Some(length) if bytes[at + 1 + length] == b';' => {
                    let end = at + 1 + length;
                    sink.token(at as u64, end as u64 + 1);
                    return document.reference(&self.text[at + 1..end], at as u64, sink).map(|()| end + 1);
                }
                _ => None,
            },
            [b'<', ..] => return self.start_tag(at, document, sink),
            _ => {
                let (end, plain) = text_end(bytes, at);
                sink.token(at as u64, end as u64);
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
        sink.token(at as u64, after as u64);
        document.start_scanned(&self.text[name..end], scanned.name, at as u64, sink)?;
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
        sink.token(at as u64, end as u64 + 1);
        document.end(sink);
        Some(end + 1)
    }

    /// A token that quick-xml reads, for the first time or to say what is wrong with it.
    #[cold]
    fn other<S: Sink>(&mut self, at: usize, document: &mut Markup, sink: &mut S) -> Result<usize, Fault> {
        let rest = &self.text[at..];
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
                sink.token(at as u64, end as u64);
                document.handle(&event, at as u64, sink)?;
                if let Event::Start(tag) = &event {
                    self.open.push((at + 1, at + 1 + tag.name().as_ref().len()));
                }
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
