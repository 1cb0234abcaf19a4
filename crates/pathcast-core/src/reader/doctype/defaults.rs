//! What the internal subset says about attributes: default values, which values are tokens, which are IDs.
//!
//! Applied to every element that has declarations, as XML 1.0 demands of every processor. The first declaration of an
//! attribute counts. Which declared attributes are present is found by marking, so an element costs its own attributes
//! plus its defaults.
//!
//! A default costs its declaration once but is given to any number of elements, so a short document could ask for
//! very much work (hostile case 43); what is given altogether is therefore limited by what has been read.

use hashbrown::HashMap;

use super::super::attributes::{Attributes, Slot, too_many};
use super::super::error::Fault;
use crate::limits::Limits;

/// Bytes of defaults that any document may be given.
const FREE_BYTES: u64 = 16 << 20;
/// Bytes of defaults for each byte of the document beyond that.
const AMPLIFICATION: u64 = 16;

/// All attribute declarations of a document.
#[derive(Default)]
pub(in super::super) struct Defaults {
    elements: HashMap<Box<str>, usize>,
    lists: Vec<List>,
    /// The declaration of an attribute of an element, for quick look-up.
    index: HashMap<(usize, Box<str>), usize>,
    /// One more for each start tag; see `Declared::present`.
    tags: u64,
    /// Bytes of defaults given so far.
    given: u64,
}

/// What the type of an attribute means for its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `CDATA`: they are kept as they are.
    Text,
    /// Spaces in them collapse.
    Tokens,
    /// The same, and they identify their elements.
    Id,
}

#[derive(Default)]
struct List {
    declared: Vec<Declared>,
}

struct Declared {
    name: Box<str>,
    kind: Kind,
    default: Option<String>,
    /// The number of the last start tag that had the attribute.
    present: u64,
}

impl Defaults {
    /// Whether nothing was declared.
    #[inline]
    pub(in super::super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The list of an element, made when it is first named.
    pub(super) fn element(&mut self, name: &str) -> usize {
        if let Some(&list) = self.elements.get(name) {
            return list;
        }
        let list = self.lists.len();
        self.elements.insert(name.into(), list);
        self.lists.push(List::default());
        list
    }

    /// Keeps a declaration, unless the attribute has one.
    pub(super) fn declare(&mut self, element: usize, name: &str, kind: Kind, default: Option<String>) {
        let list = &mut self.lists[element];
        let key = (element, Box::from(name));
        if self.index.contains_key(&key) {
            return;
        }
        self.index.insert(key, list.declared.len());
        let default = default.map(|value| if kind == Kind::Text { value } else { collapsed(&value) });
        list.declared.push(Declared { name: name.into(), kind, default, present: 0 });
    }

    /// Completes the attributes of an element. `read` is how many bytes of the document came before.
    pub(in super::super) fn apply(
        &mut self,
        element: &str,
        tag: &str,
        attributes: &mut Attributes,
        limits: &Limits,
        read: u64,
    ) -> Result<(), Fault> {
        let Some(&number) = self.elements.get(element) else { return Ok(()) };
        let list = &mut self.lists[number];
        self.tags += 1;
        let Attributes { slots, declarations, scratch, .. } = attributes;
        for slot in slots.iter_mut().chain(declarations) {
            mark(slot, tag, scratch, number, list, &self.index, self.tags);
        }
        for declared in &list.declared {
            let Some(value) = &declared.default else { continue };
            if declared.present == self.tags {
                continue;
            }
            if attributes.slots.len() + attributes.declarations.len() >= limits.attributes {
                return Err(too_many(0, limits));
            }
            self.given += (declared.name.len() + value.len()) as u64;
            if self.given > FREE_BYTES + AMPLIFICATION * read
                || attributes.scratch.len() + value.len() > u32::MAX as usize / 2
            {
                return Err(Fault::limit(0, "the attributes given by default outgrow the document"));
            }
            attributes.add_default(&declared.name, value, declared.kind == Kind::Id);
        }
        Ok(())
    }
}

/// Marks the declaration of an attribute that is there, and gives it what its type means.
fn mark(
    slot: &mut Slot,
    tag: &str,
    scratch: &mut String,
    element: usize,
    list: &mut List,
    index: &HashMap<(usize, Box<str>), usize>,
    number: u64,
) {
    let found = match list.declared.len() {
        // most lists are short: no hashing
        0..=8 => list.declared.iter().position(|declared| *declared.name == *slot.name(tag, scratch)),
        _ => index.get(&Key(element, slot.name(tag, scratch))).copied(),
    };
    if let Some(found) = found {
        let declared = &mut list.declared[found];
        declared.present = number;
        slot.id = declared.kind == Kind::Id;
        if declared.kind != Kind::Text {
            Attributes::collapse_spaces(slot, tag, scratch);
        }
    }
}

/// A key of the index that is only borrowed; it hashes like the owned one.
#[derive(Hash)]
struct Key<'a>(usize, &'a str);

impl hashbrown::Equivalent<(usize, Box<str>)> for Key<'_> {
    fn equivalent(&self, key: &(usize, Box<str>)) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

fn collapsed(value: &str) -> String {
    let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
