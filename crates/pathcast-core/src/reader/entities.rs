//! Entities: what `&name;` stands for, beyond the five that XML knows itself.
//!
//! *Given* entities hold for every document of a reader: those of a schema, or a named set. *Declared* ones stand in the
//! internal subset of a document, and are let in only under [`Limits::entity_expansion`]. Nothing is ever fetched.
//!
//! The text of an entity in content is read by a tokeniser of its own and goes on as if it stood in the place of the
//! reference, so nothing is copied; elements in it must begin and end in it. Everything in it is at the place of the
//! reference.
//!
//! Cost: bounded. Every text that is opened is counted. Beyond [`FREE_BYTES`] a document may not get more than
//! [`AMPLIFICATION`] times what was read of it, and declared entities never more than their limit. Texts that open one
//! another are nested at most [`NESTING`] deep, and none opens itself.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::error::Fault;
use super::references;
use crate::chars::{is_space, quoted};
use crate::limits::Limits;

/// Bytes that the entities of any document may come to; the numbers are expat's.
const FREE_BYTES: u64 = 8 << 20;
/// Bytes of entities for each byte of the document beyond that.
const AMPLIFICATION: u64 = 100;
/// Entities inside one another.
const NESTING: usize = 64;
/// Bytes of one attribute value.
const LONGEST_VALUE: usize = 1 << 30;

/// Entities that hold for every document: names with their replacement texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entities(Arc<BTreeMap<Box<str>, Arc<str>>>);

impl Entities {
    /// The names with their replacement texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (&**name, &**text))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Entities {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(entities: I) -> Self {
        Self(Arc::new(entities.into_iter().map(|(name, text)| (name.into(), text.into())).collect()))
    }
}

/// What a document declares.
#[derive(Clone, Debug)]
pub(super) enum Declared {
    /// This text.
    Text(Arc<str>),
    /// A file, which is never read.
    External,
    /// Something that is no XML.
    Unparsed,
}

/// The entities of the document that is being read.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    given: Entities,
    declared: HashMap<Box<str>, Declared>,
    /// The names that are being replaced.
    open: Vec<Box<str>>,
    /// Bytes of all texts that were opened.
    spent: u64,
    /// Bytes of the document before the current token.
    read: u64,
}

impl Expansion {
    pub(super) fn new(given: Entities) -> Self {
        Self { given, ..Self::default() }
    }

    /// Gets ready for the next document.
    pub(super) fn begin(&mut self) {
        if !self.declared.is_empty() {
            self.declared = HashMap::new();
        }
        self.open.clear();
        self.spent = 0;
        self.read = 0;
    }

    /// How many bytes of the document come before the current token.
    #[inline]
    pub(super) fn at_token(&mut self, read: u64) {
        self.read = read;
    }

    /// Whether the text of an entity is being read.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Keeps a declaration, unless the entity has one.
    pub(super) fn declare(&mut self, name: &str, declared: Declared) {
        self.declared.entry(name.into()).or_insert(declared);
    }

    /// The replacement text of an entity, which is open from now on; the `&` is at `at`.
    pub(super) fn open(&mut self, name: &str, at: usize, limits: &Limits) -> Result<Arc<str>, Fault> {
        let own = self.declared.get(name);
        let text = match own {
            Some(Declared::Text(text)) => Arc::clone(text),
            Some(Declared::External) => {
                return Err(refused(at, name, "is a file of its own, which is never read"));
            }
            Some(Declared::Unparsed) => {
                return Err(Fault::malformed(at, format!("entity \"{}\" is not made of XML", quoted(name))));
            }
            None => match self.given.0.get(name) {
                Some(text) => Arc::clone(text),
                None => return Err(unknown(at, name)),
            },
        };
        let is_declared = own.is_some();
        if self.open.iter().any(|open| **open == *name) {
            return Err(Fault::malformed(at, format!("entity \"{}\" refers to itself", quoted(name))));
        }
        if self.open.len() == NESTING {
            return Err(Fault::limit(at, format!("entities are nested deeper than {NESTING}")));
        }
        self.spent += text.len() as u64;
        if is_declared && self.spent > limits.entity_expansion {
            let reason = format!("entities come to more than the limit of {} bytes", limits.entity_expansion);
            return Err(Fault::limit(at, reason));
        }
        if self.spent > FREE_BYTES && self.spent > AMPLIFICATION * self.read {
            return Err(Fault::limit(at, "the entities outgrow the document"));
        }
        self.open.push(name.into());
        Ok(text)
    }

    /// The text that was opened last is done.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// Writes what an entity stands for in an attribute value; the `&` is at `at`.
    pub(super) fn write_value(
        &mut self,
        name: &str,
        at: usize,
        limits: &Limits,
        out: &mut String,
    ) -> Result<(), Fault> {
        let text = self.open(name, at, limits)?;
        if out.len() + text.len() > LONGEST_VALUE {
            return Err(Fault::limit(at, "an attribute value is longer than 1 GiB"));
        }
        let mut rest = &*text;
        while let Some(stop) = rest.bytes().position(|byte| byte == b'&' || byte == b'<' || is_space(byte)) {
            out.push_str(&rest[..stop]);
            let stopped = rest.as_bytes()[stop];
            rest = &rest[stop + 1..];
            match stopped {
                b'<' => {
                    let reason =
                        format!("entity \"{}\" holds \"<\", which no attribute value may", quoted(name));
                    return Err(Fault::malformed(at, reason));
                }
                b'&' => {
                    let Some((inner, after)) = rest.split_once(';') else {
                        return Err(Fault::malformed(
                            at,
                            format!("entity \"{}\" ends in a reference", quoted(name)),
                        ));
                    };
                    match references::resolve(inner, at)? {
                        Some(c) => out.push(c),
                        None => self.write_value(inner, at, limits, out)?,
                    }
                    rest = after;
                }
                _ => out.push(' '),
            }
        }
        out.push_str(rest);
        self.close();
        Ok(())
    }
}

#[cold]
fn refused(at: usize, name: &str, why: &str) -> Fault {
    Fault::entity(at, format!("entity \"{}\" {why}", quoted(name)))
}

#[cold]
fn unknown(at: usize, name: &str) -> Fault {
    refused(
        at,
        name,
        "is not one of the five predefined ones; entities=\"html\", or --entities html, gives those of HTML, a schema those of its DTD",
    )
}
