//! Transitions that have been built: from a state, by a symbol.
//!
//! The first few of a state lie together in one line of the processor's cache, the others in a table of all states.
//! States are numbered as documents first reach them, so the states of one element's children are neighbours: a
//! look-up seldom waits for memory, which with one table of all transitions it did for each.

use hashbrown::HashTable;

use super::accepted::AcceptedId;
use super::cache::{StateId, Symbol};
use crate::hashing::spread_pair;

/// Transitions that fit into a line.
const FEW: usize = 5;

/// The first transitions of a state.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    symbols: [Symbol; FEW],
    to: [StateId; FEW],
    accepted: [AcceptedId; FEW],
}

impl Line {
    const EMPTY: Self = Self { symbols: [Symbol::NONE; FEW], to: [0; FEW], accepted: [0; FEW] };
}

#[derive(Clone, Copy)]
struct Transition {
    from: StateId,
    symbol: Symbol,
    to: StateId,
    accepted: AcceptedId,
}

/// All transitions, each to a state and an accepted set.
#[derive(Default)]
pub(super) struct Transitions {
    lines: Vec<Line>,
    others: HashTable<Transition>,
}

impl Transitions {
    #[inline]
    pub(super) fn get(&self, from: StateId, symbol: Symbol) -> Option<(StateId, AcceptedId)> {
        let line = self.lines.get(from as usize)?;
        if let Some(at) = line.symbols.iter().position(|&each| each == symbol) {
            return Some((line.to[at], line.accepted[at]));
        }
        if line.symbols[FEW - 1] == Symbol::NONE {
            return None;
        }
        self.others
            .find(place(from, symbol), |each| each.from == from && each.symbol == symbol)
            .map(|each| (each.to, each.accepted))
    }

    /// Adds one that is not there.
    pub(super) fn insert(&mut self, from: StateId, symbol: Symbol, to: StateId, accepted: AcceptedId) {
        if self.lines.len() <= from as usize {
            self.lines.resize(from as usize + 1, Line::EMPTY);
        }
        let line = &mut self.lines[from as usize];
        if let Some(at) = line.symbols.iter().position(|&each| each == Symbol::NONE) {
            (line.symbols[at], line.to[at], line.accepted[at]) = (symbol, to, accepted);
            return;
        }
        let transition = Transition { from, symbol, to, accepted };
        self.others.insert_unique(place(from, symbol), transition, |each| place(each.from, each.symbol));
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>() + self.others.allocation_size()
    }
}

fn place(from: StateId, symbol: Symbol) -> u64 {
    spread_pair(from, symbol.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{NameId, Resolved};

    fn symbol(name: u32) -> Symbol {
        Symbol::element(Resolved { name: NameId(name), namespace: NameId::OTHER })
    }

    #[test]
    fn few_and_many_transitions_of_a_state_are_found() {
        let mut transitions = Transitions::default();
        let wanted = [(3, 2), (1, 40), (7, 0), (2, FEW as u32)];
        for (from, number) in wanted {
            for name in 0..number {
                assert_eq!(transitions.get(from, symbol(name)), None);
                transitions.insert(from, symbol(name), from + name, 100 * name);
            }
        }
        for (from, number) in wanted {
            for name in 0..number {
                assert_eq!(transitions.get(from, symbol(name)), Some((from + name, 100 * name)));
            }
            assert_eq!(transitions.get(from, symbol(number)), None);
        }
        assert_eq!(transitions.get(99, symbol(0)), None);
    }

    #[test]
    fn a_line_is_one_of_the_processors() {
        assert_eq!(size_of::<Line>(), 64);
    }
}
