//! A place in the text of a DOCTYPE, and the small things that are read there.

use super::super::attributes::long_name;
use super::super::entities::Expansion;
use super::super::error::Fault;
use crate::chars::{self, NotAName};
use crate::limits::Limits;

/// Reads forward through a declaration; offsets count from its `<`.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    entities: &'a mut Expansion,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, limits: &'a Limits, entities: &'a mut Expansion) -> Self {
        Self { text, at: 0, limits, entities }
    }

    pub(super) fn limits(&self) -> &Limits {
        self.limits
    }

    pub(super) fn entities(&mut self) -> &mut Expansion {
        self.entities
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    /// A fault here; at the end of the text it is the end that is wrong.
    #[cold]
    pub(super) fn wrong(&self, reason: &str) -> Fault {
        Fault::malformed(self.at, reason)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether `word` stands here.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(word.as_bytes())
    }

    /// Steps over `word` if it stands here.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Steps over white space; whether there was any.
    pub(super) fn skip_space(&mut self) -> bool {
        let before = self.at;
        self.at = chars::skip_space(self.text.as_bytes(), before);
        self.at > before
    }

    /// White space that must be here.
    pub(super) fn space(&mut self, place: &str) -> Result<(), Fault> {
        if self.skip_space() { Ok(()) } else { Err(self.wrong(&format!("white space is missing {place}"))) }
    }

    /// The end of a declaration.
    pub(super) fn close(&mut self) -> Result<(), Fault> {
        if self.eat(">") { Ok(()) } else { Err(self.wrong("this does not belong into the declaration")) }
    }

    /// Steps behind the next `end`.
    pub(super) fn until(&mut self, end: &str, reason: &str) -> Result<(), Fault> {
        match memchr::memmem::find(&self.text.as_bytes()[self.at..], end.as_bytes()) {
            Some(length) => {
                self.at += length + end.len();
                Ok(())
            }
            None => Err(Fault::malformed(self.text.len(), reason)),
        }
    }

    pub(super) fn ncname(&mut self) -> Result<&'a str, Fault> {
        let end = chars::ncname(self.text, self.at);
        self.take(end)
    }

    pub(super) fn qname(&mut self) -> Result<&'a str, Fault> {
        let end = chars::qname(self.text, self.at).map(|name| name.end);
        self.take(end)
    }

    pub(super) fn nmtoken(&mut self) -> Result<&'a str, Fault> {
        let end = chars::nmtoken(self.text, self.at);
        self.take(end)
    }

    fn take(&mut self, end: Result<usize, NotAName>) -> Result<&'a str, Fault> {
        let end = end.map_err(|not| Fault::malformed(not.at, "a name is expected"))?;
        if end - self.at > self.limits.name_bytes {
            return Err(long_name(self.at, self.limits));
        }
        let name = &self.text[self.at..end];
        self.at = end;
        Ok(name)
    }

    /// A literal in quotes, as it is.
    pub(super) fn literal(&mut self) -> Result<&'a str, Fault> {
        let quote = self.quote("a literal in quotes is expected")?;
        match memchr::memchr(quote, &self.text.as_bytes()[self.at..]) {
            Some(length) => {
                let literal = &self.text[self.at..self.at + length];
                self.at += length + 1;
                Ok(literal)
            }
            None => Err(Fault::malformed(self.text.len(), "a literal has no closing quote")),
        }
    }

    /// An attribute value in quotes, normalised into `out`.
    pub(super) fn attribute_value(&mut self, out: &mut String) -> Result<(), Fault> {
        let quote = self.quote("a default value in quotes is expected")?;
        let Self { text, at, limits, entities } = self;
        let end =
            super::super::attributes::rewrite_value(text, *at, *at, quote, limits, Some(entities), out)?;
        self.at = end + 1;
        Ok(())
    }

    fn quote(&mut self, reason: &str) -> Result<u8, Fault> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                Ok(quote)
            }
            _ => Err(self.wrong(reason)),
        }
    }
}
