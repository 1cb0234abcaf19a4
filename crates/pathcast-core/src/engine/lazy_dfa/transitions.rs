//! Transitions that have been built: from a set, by a symbol.
//!
//! The first few of a set lie together in one line of the processor's cache, the others in a table of all sets, whose
//! collisions are neighbours: a look-up waits for memory once. Sets are numbered as documents first reach them, so the
//! sets of one element's children are neighbours too.

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

impl Transition {
    const NONE: Self = Self { from: 0, symbol: Symbol::NONE, step: Step::NOWHERE };
}

/// Transitions that found no room in the line of their set. Where one should be, it is, or in the first free place
/// behind; at most two thirds are taken.
#[derive(Default)]
struct Others {
    places: Vec<Transition>,
    taken: usize,
}

impl Others {
    /// Where a transition is, or would be.
    #[inline]
    fn place(&self, from: SetId, symbol: Symbol) -> usize {
        let mask = self.places.len() - 1;
        let mut at = spread_pair(from, symbol.0) as usize & mask;
        loop {
            let each = &self.places[at];
            if each.symbol == Symbol::NONE || each.from == from && each.symbol == symbol {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn get(&self, from: SetId, symbol: Symbol) -> Option<Step> {
        if self.places.is_empty() {
            return None;
        }
        let found = self.places[self.place(from, symbol)];
        (found.symbol != Symbol::NONE).then_some(found.step)
    }

    fn insert(&mut self, transition: Transition) {
        if 3 * (self.taken + 1) > 2 * self.places.len() {
            let room = (2 * self.places.len()).max(64);
            let before = std::mem::replace(&mut self.places, vec![Transition::NONE; room]);
            self.fill(before);
        }
        let at = self.place(transition.from, transition.symbol);
        self.places[at] = transition;
        self.taken += 1;
    }

    fn fill(&mut self, before: Vec<Transition>) {
        for each in before.into_iter().filter(|each| each.symbol != Symbol::NONE) {
            let at = self.place(each.from, each.symbol);
            self.places[at] = each;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Transition> {
        self.places.iter().filter(|each| each.symbol != Symbol::NONE)
    }

    fn retain(&mut self, wanted: impl Fn(&Transition) -> bool) {
        let empty = vec![Transition::NONE; self.places.len()];
        let mut before = std::mem::replace(&mut self.places, empty);
        before.retain(|each| each.symbol != Symbol::NONE && wanted(each));
        self.taken = before.len();
        self.fill(before);
    }
}

/// All transitions.
#[derive(Default)]
pub(super) struct Transitions {
    lines: Vec<Line>,
    others: Others,
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
        self.others.get(from, symbol)
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
        self.others.insert(Transition { from, symbol, step });
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
        self.lines.capacity() * size_of::<Line>() + self.others.places.capacity() * size_of::<Transition>()
    }
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
