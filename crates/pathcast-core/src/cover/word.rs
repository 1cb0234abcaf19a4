//! A linear path seen as the least document that satisfies it, and which other linear paths that document satisfies.
//!
//! The published covering test for `//` ("Routing of XML and XPath Queries in Data Dissemination Networks", its
//! algorithm for descendant expressions) is neither sound nor complete. This one is exact. Wildcards are dropped and
//! only *gaps* are kept: a path is its named elements, each so many levels below the one before, exactly or at least.
//! `general` covers `specific` iff the named elements of the first map in order to named elements of the second with
//! accepted names such that an exact gap meets a distance of the same length without any `//` in it, an at-least gap
//! meets a distance that is long enough at its shortest, and what the tail asks for is there below the last one.
//! A gap that `//` left open can always be filled with names nobody knows, which is why nothing else can be covered.
//!
//! A row is the set of places at which the last element seen so far may stand; a step of the general path turns a row
//! into the next. Cost: the product of the two lengths at worst. Rows are small bit sets, because a path has at
//! most 256 steps.

use super::trie::bits;
use crate::names::Names;
use crate::pattern::{LinearPath, NameTest, Tail};

/// Places in a word: the document node, 256 steps and one element that only has an attribute.
const WORDS: usize = 5;

/// A set of places in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Row([u64; WORDS]);

impl Row {
    pub(super) fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&part| part == 0)
    }

    pub(super) fn first(&self) -> Option<usize> {
        let at = self.0.iter().position(|&part| part != 0)?;
        Some(at * 64 + self.0[at].trailing_zeros() as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (mut at, mut left) = (0, self.0[0]);
        std::iter::from_fn(move || {
            while left == 0 {
                at += 1;
                left = *self.0.get(at)?;
            }
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            Some(at * 64 + bit)
        })
    }
}

/// One place of a word.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Levels below the document node, at the least.
    level: u32,
    /// How many open gaps lie above: between two places with the same number the distance is exact.
    open: u32,
}

/// A linear path, prepared to be covered by others.
#[derive(Clone, Debug)]
pub(super) struct Word {
    places: Vec<Place>,
    /// Levels of the least document.
    depth: u32,
    /// The place that has an attribute, and which.
    attribute: Option<(usize, NameTest)>,
    /// Every name test that accepts some place, with all the places it accepts.
    pub(super) tests: Vec<(NameTest, Row)>,
    /// By place: the names of those after it, as bits.
    later: Vec<u128>,
}

impl Word {
    pub(super) fn new(path: &LinearPath, names: &Names) -> Self {
        let mut word = Self {
            places: Vec::with_capacity(path.steps.len() + 2),
            depth: 0,
            attribute: None,
            tests: Vec::with_capacity(path.steps.len()),
            later: vec![0; path.steps.len() + 2],
        };
        word.places.push(Place { level: 0, open: 0 });
        for (place, step) in path.steps.iter().enumerate().rev() {
            word.later[place] = word.later[place + 1] | bits(step.name);
        }
        for step in &path.steps {
            let place = word.push(step.min, step.exact);
            word.accept(step.name, place);
            if let NameTest::Name(id) = step.name {
                names.partials(id).for_each(|partial| word.accept(NameTest::Partial(partial), place));
            }
        }
        match path.tail {
            Tail::End => {}
            Tail::Wild(levels) => word.depth += levels,
            Tail::Attribute { min: 0, exact: true, name } => {
                word.attribute = Some((word.places.len() - 1, name));
            }
            Tail::Attribute { min, exact, name } => {
                let place = word.push(min, exact);
                word.attribute = Some((place, name));
            }
        }
        word
    }

    fn push(&mut self, min: u32, exact: bool) -> usize {
        let last = self.places[self.places.len() - 1];
        self.depth = last.level + min;
        self.places.push(Place { level: self.depth, open: last.open + u32::from(!exact) });
        self.places.len() - 1
    }

    fn accept(&mut self, test: NameTest, place: usize) {
        match self.tests.iter_mut().find(|(known, _)| *known == test) {
            Some((_, row)) => row.insert(place),
            None => {
                let mut row = Row::default();
                row.insert(place);
                self.tests.push((test, row));
            }
        }
    }

    /// The names of all places after the first one of a row.
    pub(super) fn later(&self, row: &Row) -> u128 {
        row.first().map_or(0, |first| self.later[first])
    }

    /// The places that a name test accepts.
    pub(super) fn accepted(&self, test: NameTest) -> Option<&Row> {
        self.tests.iter().find(|(known, _)| *known == test).map(|(_, accepted)| accepted)
    }

    /// The document node alone.
    pub(super) fn start(&self) -> Row {
        let mut row = Row::default();
        row.insert(0);
        row
    }

    /// Where an element of a general path may stand, `accepted` being the places whose name it accepts.
    pub(super) fn step(&self, row: &Row, min: u32, exact: bool, accepted: &Row) -> Row {
        let mut next = Row::default();
        let Some(first) = row.first() else { return next };
        for place in accepted.iter() {
            let here = self.places[place];
            let Some(target) = here.level.checked_sub(min) else { continue };
            let fits = if exact {
                // Levels grow from place to place, so there is one at most.
                let above = self.places[..place].iter().rposition(|above| above.level <= target);
                above.is_some_and(|at| {
                    let above = self.places[at];
                    above.level == target && above.open == here.open && row.contains(at)
                })
            } else {
                place > first && self.places[first].level <= target
            };
            if fits {
                next.insert(place);
            }
        }
        next
    }

    /// Whether what a general path ends in is there, given where its last element may stand.
    pub(super) fn ends(&self, row: &Row, tail: Tail, names: &Names) -> bool {
        let Some(first) = row.first() else { return false };
        match tail {
            Tail::End => true,
            Tail::Wild(levels) => self.depth - self.places[first].level >= levels,
            Tail::Attribute { min, exact, name } => {
                let Some((place, known)) = self.attribute else { return false };
                if !accepts(name, known, names) {
                    return false;
                }
                let here = self.places[place];
                let distance = |above: usize| here.level.checked_sub(self.places[above].level);
                if exact {
                    row.iter()
                        .any(|above| self.places[above].open == here.open && distance(above) == Some(min))
                } else {
                    distance(first).is_some_and(|levels| levels >= min)
                }
            }
        }
    }

    /// Whether a general path covers the one that this is.
    pub(super) fn is_covered_by(&self, general: &LinearPath, names: &Names) -> bool {
        let mut row = self.start();
        for step in &general.steps {
            let Some(accepted) = self.accepted(step.name) else { return false };
            row = self.step(&row, step.min, step.exact, accepted);
            if row.is_empty() {
                return false;
            }
        }
        self.ends(&row, general.tail, names)
    }
}

/// Whether one name test accepts every name that another accepts.
pub(super) fn accepts(general: NameTest, specific: NameTest, names: &Names) -> bool {
    general == specific
        || match (general, specific) {
            (NameTest::Any, _) => true,
            (NameTest::Partial(all), NameTest::Name(one)) => names.is_one_of(one, all),
            _ => false,
        }
}
