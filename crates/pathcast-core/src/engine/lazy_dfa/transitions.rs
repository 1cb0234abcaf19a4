//! Transitions that have been built: from a set, by a symbol.
//!
//! The first few of a set lie together in one line of the processor's cache, the others in a table of all sets. Sets are
//! numbered as documents first reach them, so the sets of one element's children are neighbours: a look-up seldom waits
//! for memory, which with one table of all transitions it did for each.

use hashbrown::HashTable;

use super::accepted::AcceptedId;
use super::sets::{EMPTY, SetId};
use super::symbol::Symbol;
use crate::hashing::spread_pair;

/// Transitions that fit into a line.
const FEW: usize = 4;

/// What a start tag leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The states that the next start tag leaves.
    pub(super) passing: SetId,
    /// The states that stay active below.
    pub(super) staying: SetId,
    /// The paths that were found.
    pub(super) accepted: AcceptedId,
}

impl Step {
    const NOWHERE: Self = Self { passing: EMPTY, staying: EMPTY, accepted: 0 };
}

/// The first transitions of a set.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    symbols: [Symbol; FEW],
    steps: [Step; FEW],
}

impl Line {
    const EMPTY: Self = Self { symbols: [Symbol::NONE; FEW], steps: [Step::NOWHERE; FEW] };
}

#[derive(Clone, Copy)]
struct Transition {
    from: SetId,
    symbol: Symbol,
    step: Step,
}

/// All transitions.
#[derive(Default)]
pub(super) struct Transitions {
    lines: Vec<Line>,
    others: HashTable<Transition>,
}

impl Transitions {
    #[inline]
    pub(super) fn get(&self, from: SetId, symbol: Symbol) -> Option<Step> {
        let line = self.lines.get(from as usize)?;
        if let Some(at) = line.symbols.iter().position(|&each| each == symbol) {
            return Some(line.steps[at]);
        }
        if line.symbols[FEW - 1] == Symbol::NONE {
            return None;
        }
        self.others
            .find(place(from, symbol), |each| each.from == from && each.symbol == symbol)
            .map(|each| each.step)
    }

    /// Adds one that is not there, if its symbol tells the name.
    pub(super) fn insert(&mut self, from: SetId, symbol: Symbol, step: Step) {
        if symbol == Symbol::SEVERAL {
            return;
        }
        if self.lines.len() <= from as usize {
            self.lines.resize(from as usize + 1, Line::EMPTY);
        }
        let line = &mut self.lines[from as usize];
        if let Some(at) = line.symbols.iter().position(|&each| each == Symbol::NONE) {
            (line.symbols[at], line.steps[at]) = (symbol, step);
            return;
        }
        let transition = Transition { from, symbol, step };
        self.others.insert_unique(place(from, symbol), transition, |each| place(each.from, each.symbol));
    }

    /// Forgets all that lead from some sets, which are sorted.
    pub(super) fn forget(&mut self, sets: &[SetId]) {
        let mut more = false;
        for &set in sets {
            if let Some(line) = self.lines.get_mut(set as usize) {
                more |= line.symbols[FEW - 1] != Symbol::NONE;
                *line = Line::EMPTY;
            }
        }
        if more {
            self.others.retain(|each| sets.binary_search(&each.from).is_err());
        }
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SetId, Symbol, Step)> + '_ {
        let first = (0..).zip(&self.lines).flat_map(|(from, line)| {
            let known = line.symbols.iter().zip(&line.steps).filter(|(symbol, _)| **symbol != Symbol::NONE);
            known.map(move |(&symbol, &step)| (from, symbol, step))
        });
        first.chain(self.others.iter().map(|each| (each.from, each.symbol, each.step)))
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>() + self.others.allocation_size()
    }
}

fn place(from: SetId, symbol: Symbol) -> u64 {
    spread_pair(from, symbol.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{NameId, Resolved};

    fn symbol(name: u32) -> Symbol {
        Symbol::element(Resolved { name: NameId(name), ..Resolved::OTHER })
    }

    fn step(from: SetId, name: u32) -> Step {
        Step { passing: from + name, staying: name, accepted: 100 * name }
    }

    #[test]
    fn few_and_many_transitions_of_a_set_are_found_until_they_are_forgotten() {
        let mut transitions = Transitions::default();
        let wanted = [(3, 2), (1, 40), (7, 0), (2, FEW as u32)];
        for (from, number) in wanted {
            for name in 0..number {
                assert_eq!(transitions.get(from, symbol(name)), None);
                transitions.insert(from, symbol(name), step(from, name));
            }
        }
        for (from, number) in wanted {
            for name in 0..number {
                assert_eq!(transitions.get(from, symbol(name)), Some(step(from, name)));
            }
            assert_eq!(transitions.get(from, symbol(number)), None);
        }
        assert_eq!(transitions.get(99, symbol(0)), None);
        assert_eq!(transitions.iter().count(), 42 + FEW);
        transitions.forget(&[1, 3]);
        assert!((0..40).all(|name| transitions.get(1, symbol(name)).is_none()));
        assert_eq!(transitions.get(2, symbol(1)), Some(step(2, 1)));
        assert_eq!(transitions.iter().count(), FEW);
    }

    #[test]
    fn a_line_is_one_of_the_processors() {
        assert_eq!(size_of::<Line>(), 64);
    }
}
