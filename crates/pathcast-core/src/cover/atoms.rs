//! What a condition asks for, in small parts that can be compared as numbers.
//!
//! An *atom* is a name with up to two names directly above it, an attribute of an element so named, a value that an
//! element or attribute equals, or that its value is tested at all. If one condition follows from another ([`super::implies`]), every atom that the general
//! one *requires* is *present* in the specific one: a goal with a name is mapped to a fact with that name, a child to a
//! child, an equal value to one that is listed. So a tree pattern can be found by its atoms, and most pairs are told
//! apart by sets of bits before anything is proven. That a value differs from a text follows from the same test, or
//! from one of another kind: these are two atoms of which *either* must be present.
//!
//! The general condition gives the longest atom at each node and only what every way to satisfy it needs. The specific
//! one gives all of them, from everywhere in it, negations included: too many present atoms cost a comparison, never a
//! covering. Only where more than [`MOST`] atoms are present a covering may be missed.

use super::trie::bit;
use crate::hashing::{Seed, spread};
use crate::pattern::{Axis, Branch, Condition, NameTest, NodePattern, NodeTest};
use crate::values::{Comparison, Real, ValueTest, number};

/// A part of a condition, as a hash: others may have the same.
pub(super) type Atom = u32;

/// Atoms that are kept of one condition.
const MOST: usize = 192;
/// Stands for the document node, and for text nodes and comments, among the numbers of names.
const DOCUMENT: u64 = 1 << 40;
const TEXT: u64 = 2 << 40;
const COMMENT: u64 = 3 << 40;
/// Kinds of atoms.
const NODE: u64 = 1;
const ATTRIBUTE: u64 = 2;
const VALUE: u64 = 3;
/// Kinds of tests of values.
const EQUALS: u8 = 0;
const IS_NUMBER: u8 = 1;
const DIFFERS: u8 = 2;
const IS_NOT_NUMBER: u8 = 3;
/// A test of any kind; one that is not that a text differs; one that is not that a text or a number differs.
const TESTED: u8 = 4;
const TESTED_OTHERWISE: u8 = 5;
const TESTED_NUMBER: u8 = 6;

/// A set of atoms as bits.
pub(super) fn bits(atoms: &[Atom]) -> u128 {
    atoms.iter().fold(0, |all, atom| all | 1 << (atom % 128))
}

/// What a condition requires.
#[derive(Clone, Debug, Default)]
pub(super) struct Required {
    /// Sorted, each once.
    pub(super) atoms: Vec<Atom>,
    /// Of two atoms one.
    pub(super) either: Vec<(Atom, Atom)>,
    /// The names of elements, as bits.
    pub(super) names: u128,
    /// Whether it asks for a value, so that no plain path covers it or is covered by it.
    pub(super) is_valued: bool,
}

impl Required {
    pub(super) fn new(condition: &Condition, seed: Seed) -> Self {
        let mut found = Self::default();
        found.collect(condition, Place::DOCUMENT, seed);
        found.atoms.sort_unstable();
        found.atoms.dedup();
        found
    }

    fn push(&mut self, atom: Atom) {
        if self.atoms.len() < MOST {
            self.atoms.push(atom);
        }
    }

    fn collect(&mut self, condition: &Condition, place: Place, seed: Seed) {
        match condition {
            Condition::And(parts) => parts.iter().for_each(|part| self.collect(part, place, seed)),
            Condition::Or(parts) => self.common(parts, place, seed),
            Condition::Exists(axis, pattern) => {
                let (min, exact) = levels(*axis);
                self.down(min, exact, pattern, place, seed);
            }
            Condition::Ordered(branches) => {
                for branch in branches {
                    if let Branch::Exists { min, exact, pattern } = branch {
                        self.down(*min, *exact, pattern, place, seed);
                    }
                }
            }
            Condition::Attribute(NameTest::Name(name), inner) => {
                let place = place.attribute(u64::from(name.0));
                self.push(place.longest());
                self.collect(inner, place, seed);
            }
            Condition::Attribute(_, inner) => self.collect(inner, Place::UNKNOWN, seed),
            Condition::Root(inner) => self.collect(inner, Place::DOCUMENT, seed),
            Condition::Value(test) => {
                self.is_valued = true;
                let atom = |value| place.with_value(value, place.is_known());
                self.push(atom(kind(TESTED)));
                match test {
                    ValueTest::Equals(text) => self.push(atom(seed.hash(&(EQUALS, &**text)))),
                    ValueTest::Number(Comparison::Equal, number) => {
                        self.push(atom(seed.hash(&(IS_NUMBER, number))));
                    }
                    ValueTest::Differs(text) => {
                        let same = atom(seed.hash(&(DIFFERS, &**text)));
                        self.either.push((same, atom(kind(TESTED_OTHERWISE))));
                    }
                    ValueTest::Number(Comparison::NotEqual, number) => {
                        let same = atom(seed.hash(&(IS_NOT_NUMBER, number)));
                        self.either.push((same, atom(kind(TESTED_NUMBER))));
                    }
                    _ => {}
                }
            }
            Condition::First(..) | Condition::Typed(_) => self.is_valued = true,
            Condition::True | Condition::False | Condition::Not(_) | Condition::Is(_) => {}
        }
    }

    fn down(&mut self, min: u32, exact: bool, pattern: &NodePattern, place: Place, seed: Seed) {
        // What stands on the same level is asked for by another name: nothing is known of what lies above.
        let place = if min == 0 { Place::UNKNOWN } else { place }.below(&pattern.test, exact && min == 1);
        if place.is_known() {
            self.push(place.longest());
            if let NodeTest::Element(name) = pattern.test {
                self.names |= bit(name);
            }
        }
        self.collect(&pattern.condition, place, seed);
    }

    /// What every one of some alternatives requires.
    fn common(&mut self, parts: &[Condition], place: Place, seed: Seed) {
        let mut shared: Option<Self> = None;
        for part in parts {
            let mut one = Self::default();
            one.collect(part, place, seed);
            shared = Some(match shared {
                None => one,
                Some(mut all) => {
                    all.atoms.retain(|atom| one.atoms.contains(atom));
                    all.either.retain(|pair| one.either.contains(pair));
                    all.names &= one.names;
                    all.is_valued &= one.is_valued;
                    all
                }
            });
        }
        if let Some(all) = shared {
            all.atoms.into_iter().for_each(|atom| self.push(atom));
            self.either.extend(all.either);
            self.names |= all.names;
            self.is_valued |= all.is_valued;
        }
    }
}

/// The atoms that are present in a condition, sorted, each once.
pub(super) fn present(condition: &Condition, seed: Seed) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(32);
    collect(condition, Place::DOCUMENT, seed, &mut atoms);
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

fn collect(condition: &Condition, place: Place, seed: Seed, atoms: &mut Vec<Atom>) {
    if atoms.len() > MOST {
        return;
    }
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| collect(part, place, seed, atoms));
        }
        Condition::Not(inner) => collect(inner, place, seed, atoms),
        Condition::Exists(axis, pattern) => {
            let (min, exact) = levels(*axis);
            down(min, exact, pattern, place, seed, atoms);
        }
        Condition::Ordered(branches) => {
            for branch in branches {
                if let Branch::Exists { min, exact, pattern } = branch {
                    down(*min, *exact, pattern, place, seed, atoms);
                }
            }
        }
        Condition::Attribute(name, inner) => {
            let mut inside = Place::UNKNOWN;
            if let NameTest::Name(name) = name {
                inside = place.attribute(u64::from(name.0));
                atoms.extend(inside.all());
            }
            collect(inner, inside, seed, atoms);
        }
        Condition::Root(inner) => collect(inner, Place::DOCUMENT, seed, atoms),
        Condition::Value(test) => {
            let mut push = |value| {
                atoms.push(place.with_value(value, false));
                if place.is_known() {
                    atoms.push(place.with_value(value, true));
                }
            };
            push(kind(TESTED));
            match test {
                ValueTest::Differs(_) => {}
                ValueTest::Number(Comparison::NotEqual, _) => push(kind(TESTED_OTHERWISE)),
                _ => {
                    push(kind(TESTED_OTHERWISE));
                    push(kind(TESTED_NUMBER));
                }
            }
            match test {
                ValueTest::Equals(text) => {
                    push(seed.hash(&(EQUALS, &**text)));
                    if let Some(number) = Real::new(number::from_xpath_number(text)) {
                        push(seed.hash(&(IS_NUMBER, number)));
                    }
                }
                ValueTest::Differs(text) => push(seed.hash(&(DIFFERS, &**text))),
                ValueTest::Number(Comparison::NotEqual, number) => {
                    push(seed.hash(&(IS_NOT_NUMBER, number)));
                }
                // `>=` and `<=` together are `=`.
                ValueTest::Number(
                    Comparison::Equal | Comparison::LessEqual | Comparison::GreaterEqual,
                    number,
                ) => {
                    push(seed.hash(&(IS_NUMBER, number)));
                }
                _ => {}
            }
        }
        Condition::True
        | Condition::False
        | Condition::Is(_)
        | Condition::First(..)
        | Condition::Typed(_) => {}
    }
}

fn down(min: u32, exact: bool, pattern: &NodePattern, place: Place, seed: Seed, atoms: &mut Vec<Atom>) {
    let inside = place.below(&pattern.test, exact && min == 1);
    // On the same level and without a name of its own it is the node that is known.
    let inside = if min == 0 && !inside.is_known() { place } else { inside };
    if min > 0 || inside.is_known() {
        atoms.extend(inside.all());
    }
    collect(&pattern.condition, inside, seed, atoms);
}

/// How far an axis leads: levels, and whether it is exactly so many.
fn levels(axis: Axis) -> (u32, bool) {
    match axis {
        Axis::Down { min, exact } => (min, exact),
        _ => (2, false),
    }
}

/// Names on the way to a node, from the node upwards, as far as each is the parent of the one before.
#[derive(Clone, Copy)]
struct Place {
    kind: u64,
    names: [Option<u64>; 3],
}

impl Place {
    const UNKNOWN: Self = Self { kind: NODE, names: [None; 3] };
    const DOCUMENT: Self = Self { kind: NODE, names: [Some(DOCUMENT), None, None] };

    fn is_known(&self) -> bool {
        self.names[0].is_some()
    }

    /// The place of a node below; `close` if it is a child.
    fn below(self, test: &NodeTest, close: bool) -> Self {
        let name = match test {
            NodeTest::Element(NameTest::Name(name)) => u64::from(name.0),
            NodeTest::Text => TEXT,
            NodeTest::Comment => COMMENT,
            _ => return Self::UNKNOWN,
        };
        let above = if close { [self.names[0], self.names[1]] } else { [None; 2] };
        Self { kind: NODE, names: [Some(name), above[0], above[1]] }
    }

    /// The place of an attribute. An element that is not known has attributes that are.
    fn attribute(self, name: u64) -> Self {
        Self { kind: ATTRIBUTE, names: [Some(name), self.names[0], self.names[1]] }
    }

    fn atoms(self) -> impl Iterator<Item = u64> {
        let mut number = spread(self.kind);
        self.names.into_iter().map_while(move |name| {
            number = spread(number ^ name?);
            Some(number)
        })
    }

    /// By all the names that are known.
    fn longest(self) -> Atom {
        shortened(self.atoms().last().unwrap_or_default())
    }

    /// By one name, by two, by three.
    fn all(self) -> impl Iterator<Item = Atom> {
        self.atoms().map(shortened)
    }

    /// A value, by itself or with what it is the value of.
    fn with_value(self, value: u64, with_name: bool) -> Atom {
        let name =
            if with_name { self.names[0].map_or(0, |name| spread(self.kind ^ spread(name))) } else { 0 };
        shortened(spread(value ^ spread(VALUE ^ name)))
    }
}

/// A kind of test as a number that stands for no value.
fn kind(test: u8) -> u64 {
    spread(u64::from(test) + 1)
}

fn shortened(number: u64) -> Atom {
    (spread(number) >> 32) as Atom
}
