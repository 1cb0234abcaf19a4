//! Linear paths: what a linear engine matches natively, and what it can look for on behalf of everything else.

use super::build::{attribute, exists};
use super::bytes::{DecodeError, decode_number, encode_number};
use super::condition::{Axis, Branch, Condition, NameTest, NodePattern, NodeTest};
use crate::image::flat;
use crate::names::NameId;

/// The number of a distinct linear path, given by the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

flat!(PathId { 0: u32 });

/// A path from the document node by named elements and the gaps between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct LinearPath {
    /// The named elements.
    pub steps: Vec<LinearStep>,
    /// What must be found below the last of them.
    pub tail: Tail,
}

/// A named element and the gap before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinearStep {
    /// Levels from the element before, or from the document node; at least 1.
    pub min: u32,
    /// Whether more levels do not count.
    pub exact: bool,
    /// The name; never `Any`.
    pub name: NameTest,
}

/// The end of a linear path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Tail {
    /// The last named element.
    #[default]
    End,
    /// Any element so many levels below it; at least 1.
    Wild(u32),
    /// An attribute of an element so many levels below it; 0 is the element itself.
    Attribute {
        /// Levels.
        min: u32,
        /// Whether more levels do not count.
        exact: bool,
        /// The attribute's name.
        name: NameTest,
    },
}

impl LinearPath {
    /// The condition on the document node that the path is.
    pub fn to_condition(&self) -> Condition {
        let end = match self.tail {
            Tail::End => Condition::True,
            Tail::Wild(levels) => {
                let axis = Axis::Down { min: levels, exact: true };
                exists(axis, NodeTest::Element(NameTest::Any), Condition::True)
            }
            Tail::Attribute { min, exact, name } => {
                let found = attribute(name, Condition::True);
                match (min, exact) {
                    (0, true) => found,
                    _ => exists(Axis::Down { min, exact }, NodeTest::Element(NameTest::Any), found),
                }
            }
        };
        self.steps.iter().rev().fold(end, |found, step| {
            exists(Axis::Down { min: step.min, exact: step.exact }, NodeTest::Element(step.name), found)
        })
    }

    /// The path as bytes; equal paths have equal bytes.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(4 * self.steps.len() + 8);
        self.encode(&mut bytes);
        bytes.into()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        encode_number(self.steps.len() as u64, out);
        for step in &self.steps {
            encode_gap(step.min, step.exact, step.name, out);
        }
        match self.tail {
            Tail::End => out.push(0),
            Tail::Wild(levels) => {
                out.push(1);
                encode_number(u64::from(levels), out);
            }
            Tail::Attribute { min, exact, name } => {
                out.push(2);
                encode_gap(min, exact, name, out);
            }
        }
    }

    /// Takes a path off the front; names must be below `names`.
    ///
    /// # Errors
    /// The bytes are no path.
    pub fn decode(bytes: &mut &[u8], names: usize) -> Result<Self, DecodeError> {
        let mut path = Self::default();
        path.decode_from(bytes, names)?;
        Ok(path)
    }

    /// Becomes the path at the front, in the room that there is; see [`LinearPath::decode`].
    ///
    /// # Errors
    /// The bytes are no path.
    pub fn decode_from(&mut self, bytes: &mut &[u8], names: usize) -> Result<(), DecodeError> {
        let Self { steps, tail } = self;
        let count = decode_number(bytes)?;
        if count > bytes.len() as u64 {
            return Err(DecodeError);
        }
        steps.clear();
        steps.reserve(count as usize);
        for _ in 0..count {
            let (min, exact, name) = decode_gap(bytes, names)?;
            if min == 0 || name == NameTest::Any {
                return Err(DecodeError);
            }
            steps.push(LinearStep { min, exact, name });
        }
        let (&tag, rest) = bytes.split_first().ok_or(DecodeError)?;
        *bytes = rest;
        *tail = match tag {
            0 => Tail::End,
            1 => Tail::Wild(levels(decode_number(bytes)?)?),
            2 => {
                let (min, exact, name) = decode_gap(bytes, names)?;
                Tail::Attribute { min, exact, name }
            }
            _ => return Err(DecodeError),
        };
        if steps.is_empty() && *tail == Tail::End { Err(DecodeError) } else { Ok(()) }
    }
}

/// Gap, exactness and kind of name in one number, then the name: two or three bytes for most steps.
fn encode_gap(min: u32, exact: bool, name: NameTest, out: &mut Vec<u8>) {
    let (kind, id) = match name {
        NameTest::Any => (0, 0),
        NameTest::Name(id) => (1, id.0),
        NameTest::Partial(id) => (2, id.0),
    };
    encode_number(u64::from(min) << 3 | u64::from(exact) << 2 | kind, out);
    encode_number(u64::from(id), out);
}

fn decode_gap(bytes: &mut &[u8], names: usize) -> Result<(u32, bool, NameTest), DecodeError> {
    let packed = decode_number(bytes)?;
    let id = decode_number(bytes)?;
    let name = match packed & 3 {
        0 if id == 0 => NameTest::Any,
        1 if id > 0 && id < names as u64 => NameTest::Name(NameId(id as u32)),
        2 if id > 0 && id < names as u64 => NameTest::Partial(NameId(id as u32)),
        _ => return Err(DecodeError),
    };
    Ok((levels(packed >> 3)?, packed & 4 != 0, name))
}

fn levels(number: u64) -> Result<u32, DecodeError> {
    if number <= u64::from(super::bytes::LEVELS) { Ok(number as u32) } else { Err(DecodeError) }
}

/// The linear path that a condition on the document node is, if it is one.
pub fn as_linear(condition: &Condition) -> Option<LinearPath> {
    let mut path = LinearPath::default();
    let mut condition = condition;
    loop {
        match condition {
            Condition::True if !path.steps.is_empty() => return Some(path),
            Condition::Attribute(name, value) if **value == Condition::True && !path.steps.is_empty() => {
                path.tail = Tail::Attribute { min: 0, exact: true, name: *name };
                return Some(path);
            }
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                match (&pattern.test, &pattern.condition) {
                    (NodeTest::Element(NameTest::Any), Condition::True) if *min > 0 => {
                        path.tail = Tail::Wild(*min);
                        return Some(path);
                    }
                    (NodeTest::Element(NameTest::Any), Condition::Attribute(name, value))
                        if **value == Condition::True =>
                    {
                        path.tail = Tail::Attribute { min: *min, exact: *exact, name: *name };
                        return Some(path);
                    }
                    (NodeTest::Element(name), next) if *name != NameTest::Any && *min > 0 => {
                        path.steps.push(LinearStep { min: *min, exact: *exact, name: *name });
                        condition = next;
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

/// What must be found before a condition needs to be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Nothing: it may hold for any document.
    Always,
    /// At least one of these paths; with none it never holds.
    AnyOf(Vec<LinearPath>),
}

/// Linear paths of which at least one is in every document that satisfies the condition.
pub fn trigger(condition: &Condition) -> Trigger {
    Prefix::default().trigger(condition)
}

/// A path on the way to the node that a condition is about.
#[derive(Clone, Default)]
struct Prefix {
    steps: Vec<LinearStep>,
    /// The gap from the last named element to the node.
    gap: u32,
    /// Whether the gap may be longer.
    open: bool,
}

impl Prefix {
    /// The path to the node itself.
    fn close(self) -> Trigger {
        let tail = if self.gap == 0 { Tail::End } else { Tail::Wild(self.gap) };
        if self.steps.is_empty() && tail == Tail::End {
            return Trigger::Always;
        }
        Trigger::AnyOf(vec![LinearPath { steps: self.steps, tail }])
    }

    fn down(mut self, min: u32, exact: bool) -> Self {
        self.gap += min;
        self.open |= !exact;
        self
    }

    fn named(mut self, name: NameTest) -> Self {
        if name != NameTest::Any {
            // Zero levels down from a node that was not named: a name for it, at least one level below the last.
            self.steps.push(LinearStep { min: self.gap.max(1), exact: !self.open, name });
            self.gap = 0;
            self.open = false;
        }
        self
    }

    fn pattern(self, min: u32, exact: bool, pattern: &NodePattern) -> Trigger {
        match (&pattern.test, min) {
            // The name of the node itself or of one below: neither is sure, the way here is.
            (NodeTest::Element(NameTest::Name(_) | NameTest::Partial(_)), 0) if !self.steps.is_empty() => {
                self.close()
            }
            (NodeTest::Element(name), _) => self.down(min, exact).named(*name).trigger(&pattern.condition),
            (NodeTest::Node, 0) => self.down(min, exact).trigger(&pattern.condition),
            _ => self.close(),
        }
    }

    fn trigger(self, condition: &Condition) -> Trigger {
        match condition {
            Condition::False => Trigger::AnyOf(Vec::new()),
            Condition::And(all) => {
                let triggers = all.iter().map(|each| self.clone().trigger(each));
                triggers.reduce(better).unwrap_or(Trigger::Always)
            }
            Condition::Or(any) => {
                let mut paths = Vec::new();
                for each in any {
                    match self.clone().trigger(each) {
                        Trigger::Always => return self.close(),
                        Trigger::AnyOf(more) => paths.extend(more),
                    }
                }
                paths.dedup();
                Trigger::AnyOf(paths)
            }
            Condition::Exists(Axis::Down { min, exact }, pattern) => self.pattern(*min, *exact, pattern),
            Condition::Exists(_, pattern) => better(self.close(), Self::default().pattern(1, false, pattern)),
            Condition::Attribute(name, _) => {
                let (min, exact) = (self.gap, !self.open);
                Trigger::AnyOf(vec![LinearPath {
                    steps: self.steps,
                    tail: Tail::Attribute { min, exact, name: *name },
                }])
            }
            Condition::Root(inner) => better(self.close(), trigger(inner)),
            Condition::Ordered(branches) => {
                let triggers = branches.iter().map(|branch| match branch {
                    Branch::Exists { min, exact, pattern } => self.clone().pattern(*min, *exact, pattern),
                    Branch::First(..) => self.clone().close(),
                });
                triggers.reduce(better).unwrap_or(Trigger::Always)
            }
            Condition::True
            | Condition::Not(_)
            | Condition::Is(_)
            | Condition::Value(_)
            | Condition::First(..)
            | Condition::Typed(_) => self.close(),
        }
    }
}

/// The one that more rarely happens: fewer paths, then longer ones.
fn better(left: Trigger, right: Trigger) -> Trigger {
    let weight = |trigger: &Trigger| match trigger {
        Trigger::Always => (usize::MAX, 0),
        Trigger::AnyOf(paths) => (paths.len(), -(paths.iter().map(named_steps).min().unwrap_or(i64::MAX))),
    };
    if weight(&right) < weight(&left) { right } else { left }
}

fn named_steps(path: &LinearPath) -> i64 {
    path.steps.len() as i64 * 2 + i64::from(path.tail != Tail::End)
}
