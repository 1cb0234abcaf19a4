//! The open elements: what tests may ask about them.

use std::cell::Cell;

use super::gist::{Gist, hash_of};
use super::start_test::bit;
use pathcast_core::names::{NameId, Resolved};
use pathcast_core::values::compare;
use pathcast_core::values::number::from_xpath_number;

/// One attribute: its name, where its value is in the buffer, and the number that this is once somebody asked.
#[derive(Clone, Debug)]
struct Attribute {
    name: Resolved,
    value: (usize, usize),
    number: Cell<Option<f64>>,
    /// Its value's hash once somebody asked, else 0.
    hash: Cell<u32>,
}

/// A string that thousands of tests may compare as a number: it is read as one once.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    number: &'a Cell<Option<f64>>,
}

impl<'a> Value<'a> {
    pub(super) fn new(text: &'a str, number: &'a Cell<Option<f64>>) -> Self {
        Self { text, number }
    }

    pub(super) fn number(&self) -> f64 {
        self.number.get().unwrap_or_else(|| {
            let number = from_xpath_number(self.text);
            self.number.set(Some(number));
            number
        })
    }
}

#[derive(Clone, Debug)]
struct Frame {
    name: Resolved,
    /// No other element of any document has this number.
    serial: u64,
    /// Where its attributes and their values start.
    attributes: usize,
    values: usize,
    /// The names of its attributes, a bit for each.
    has: u32,
    /// Where its text starts.
    text: usize,
    /// Whether its text is needed.
    reads: bool,
    /// The deepest level seen in it.
    deepest: u32,
    /// Child elements so far.
    children: u32,
    /// Its text as a number, at its end tag.
    number: Cell<Option<f64>>,
}

/// The open elements, the document node at level 0.
#[derive(Debug, Default)]
pub(super) struct Open {
    frames: Vec<Frame>,
    attributes: Vec<Attribute>,
    values: String,
    text: String,
    /// Open elements whose text is needed.
    readers: usize,
    serial: u64,
}

/// An open element as tests see it.
pub(super) struct Element<'a> {
    pub(super) name: Resolved,
    attributes: &'a [Attribute],
    values: &'a str,
}

impl<'a> Element<'a> {
    /// A node that is no element: it has neither name nor attributes.
    pub(super) const NOTHING: Element<'static> =
        Element { name: Resolved::OTHER, attributes: &[], values: "" };

    pub(super) fn attributes(&self) -> impl Iterator<Item = (Resolved, Value<'a>)> + use<'a> {
        let values = self.values;
        self.attributes
            .iter()
            .map(move |each| (each.name, Value::new(&values[each.value.0..each.value.1], &each.number)))
    }

    /// Whether some attribute passes, as far as a gist tells.
    #[inline]
    pub(super) fn verdict(&self, gist: &Gist) -> Option<bool> {
        let named = |name: NameId| self.attributes.iter().filter(move |each| each.name.name == name);
        let text = |each: &Attribute| &self.values[each.value.0..each.value.1];
        let hash_is = |each: &Attribute, hash: u32| {
            if each.hash.get() == 0 {
                each.hash.set(hash_of(text(each)));
            }
            each.hash.get() == hash
        };
        match *gist {
            Gist::Nothing => Some(true),
            Gist::Other => None,
            Gist::Has { name, .. } => Some(named(name).next().is_some()),
            Gist::Equals { name, hash, .. } => {
                if named(name).any(|each| hash_is(each, hash)) {
                    None
                } else {
                    Some(false)
                }
            }
            Gist::Differs { name, hash, .. } => {
                let mut known = Some(false);
                for each in named(name) {
                    if !hash_is(each, hash) {
                        return Some(true);
                    }
                    known = None;
                }
                known
            }
            Gist::Number { name, comparison, number, .. } => Some(
                named(name)
                    .any(|each| compare(comparison, Value::new(text(each), &each.number).number(), number)),
            ),
        }
    }
}

/// The element's string-value and the levels below it, at its end tag.
#[derive(Clone, Copy)]
pub(super) struct Ending<'a> {
    pub(super) value: Value<'a>,
    pub(super) height: u32,
}

impl Open {
    /// Opens the document node alone.
    pub(super) fn begin(&mut self) {
        self.frames.clear();
        self.attributes.clear();
        self.values.clear();
        self.text.clear();
        self.readers = 0;
        self.push(Resolved::OTHER);
    }

    fn push(&mut self, name: Resolved) {
        let deepest = self.frames.len() as u32;
        self.serial += 1;
        self.frames.push(Frame {
            name,
            serial: self.serial,
            attributes: self.attributes.len(),
            values: self.values.len(),
            has: 0,
            text: self.text.len(),
            reads: false,
            deepest,
            children: 0,
            number: Cell::new(None),
        });
    }

    /// Opens an element; `attributes` may be left out when no test asks for them.
    pub(super) fn start<'a>(
        &mut self,
        name: Resolved,
        attributes: impl Iterator<Item = (Resolved, &'a str)>,
    ) {
        if let Some(parent) = self.frames.last_mut() {
            parent.children += 1;
        }
        self.push(name);
        let mut has = 0;
        for (name, value) in attributes {
            has |= bit(name.name);
            let start = self.values.len();
            self.values.push_str(value);
            let value = (start, self.values.len());
            let (number, hash) = (Cell::new(None), Cell::new(0));
            self.attributes.push(Attribute { name, value, number, hash });
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.has = has;
        }
    }

    /// Which attributes the innermost element has, a bit for each name.
    #[inline]
    pub(super) fn has(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.has)
    }

    /// The text of the innermost element is needed.
    pub(super) fn read(&mut self) {
        if let Some(frame) = self.frames.last_mut()
            && !std::mem::replace(&mut frame.reads, true)
        {
            self.readers += 1;
        }
    }

    pub(super) fn text(&mut self, piece: &str) {
        if self.readers > 0 {
            self.text.push_str(piece);
        }
    }

    pub(super) fn end(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.attributes.truncate(frame.attributes);
            self.values.truncate(frame.values);
            self.readers -= usize::from(frame.reads);
            if self.readers == 0 {
                self.text.clear();
            }
            if let Some(parent) = self.frames.last_mut() {
                parent.deepest = parent.deepest.max(frame.deepest);
            }
        }
    }

    /// The level of the innermost element.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        self.frames.len().saturating_sub(1) as u32
    }

    /// Which child of the element at a level is open now, or was last; the first is 1.
    #[inline]
    pub(super) fn branch(&self, level: u32) -> u32 {
        self.frames.get(level as usize).map_or(0, |frame| frame.children)
    }

    /// The number of the element at a level.
    #[inline]
    pub(super) fn serial(&self, level: u32) -> u64 {
        self.frames.get(level as usize).map_or(0, |frame| frame.serial)
    }

    pub(super) fn element(&self, level: u32) -> Element<'_> {
        let Some(frame) = self.frames.get(level as usize) else { return Element::NOTHING };
        let end = self.frames.get(level as usize + 1).map_or(self.attributes.len(), |next| next.attributes);
        Element {
            name: frame.name,
            attributes: &self.attributes[frame.attributes..end],
            values: &self.values,
        }
    }

    /// The string-value so far of the innermost element, and the levels below it.
    pub(super) fn ending(&self) -> Option<Ending<'_>> {
        let level = self.level();
        self.frames.last().map(|frame| Ending {
            value: Value::new(self.text.get(frame.text..).unwrap_or(""), &frame.number),
            height: frame.deepest - level,
        })
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>()
            + self.attributes.capacity() * size_of::<Attribute>()
            + self.values.capacity()
            + self.text.capacity()
    }

    /// Gives back what one huge document made large.
    pub(super) fn shrink(&mut self) {
        const KEPT: usize = 1 << 20;
        for buffer in [&mut self.values, &mut self.text] {
            if buffer.capacity() > KEPT {
                *buffer = String::new();
            }
        }
    }
}
