//! What accepted sets of paths mean, worked out once for each, so that a document's answer is a union of lists.
//!
//! An engine tells by numbers which sets of paths it met. Which expressions hold where a set was met is looked up path by
//! path when that first happens, and then kept. It holds while neither the engine's numbers nor the subscriptions
//! change, and all of it together stays within a budget.

use super::expression::{Expression, ExpressionId};
use super::expressions::Expressions;
use crate::pattern::PathId;

/// Where the list of a set lies.
#[derive(Clone, Copy, Debug, Default)]
struct Meaning {
    from: u32,
    to: u32,
    known: bool,
    /// Whether expressions wait for one of its paths that are not decided by it alone.
    candidates: bool,
}

/// The meaning of the sets that were met.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// By number of a set.
    meanings: Vec<Meaning>,
    /// The expressions that hold, those of one set after those of another.
    matched: Vec<ExpressionId>,
    /// What the meanings are of: the engine's numbers and the subscriptions.
    valid: (u64, u64),
    /// A bit for each expression, for the union; empty in between.
    marks: Vec<u64>,
}

impl Prepared {
    /// Forgets everything when the engine's numbers or the subscriptions have changed, or when it is too much.
    pub(super) fn revise(&mut self, generation: u64, changes: u64, budget: usize) {
        if self.valid != (generation, changes) || self.bytes() > budget {
            self.valid = (generation, changes);
            self.meanings.clear();
            self.matched.clear();
        }
    }

    pub(super) fn knows(&self, number: u32) -> bool {
        self.meanings.get(number as usize).is_some_and(|meaning| meaning.known)
    }

    /// Works out what a set of paths means.
    pub(super) fn learn(&mut self, number: u32, paths: &[PathId], expressions: &Expressions) {
        let from = self.matched.len() as u32;
        let mut candidates = false;
        for &path in paths {
            self.matched.extend(expressions.paths.expression(path));
            for &waiting in expressions.paths.waiting(path) {
                if matches!(expressions.get(waiting), Expression::AnyOf(_)) {
                    self.matched.push(waiting);
                } else {
                    candidates = true;
                }
            }
        }
        if self.meanings.len() <= number as usize {
            self.meanings.resize(number as usize + 1, Meaning::default());
        }
        let to = self.matched.len() as u32;
        self.meanings[number as usize] = Meaning { from, to, known: true, candidates };
    }

    /// Whether there are expressions to be decided for a document that met these sets.
    pub(super) fn any_candidates(&self, numbers: &[u32]) -> bool {
        numbers.iter().any(|&number| self.meanings[number as usize].candidates)
    }

    /// The expressions that hold for a document that met these sets, in order, each once.
    pub(super) fn matched(&mut self, numbers: &[u32], bound: usize) -> Vec<ExpressionId> {
        let Self { meanings, matched, marks, .. } = self;
        let list = |number: &u32| {
            let Meaning { from, to, .. } = meanings[*number as usize];
            &matched[from as usize..to as usize]
        };
        let total: usize = numbers.iter().map(|number| list(number).len()).sum();
        let mut union = Vec::with_capacity(total);
        let words = bound.div_ceil(64);
        // Of many, a bit for each is set and read back, in place of sorting.
        if total < 64 || 8 * total < words {
            numbers.iter().for_each(|number| union.extend_from_slice(list(number)));
            union.sort_unstable();
            union.dedup();
            return union;
        }
        marks.resize(words.max(marks.len()), 0);
        for number in numbers {
            for &id in list(number) {
                marks[id as usize / 64] |= 1 << (id % 64);
            }
        }
        for (first, word) in (0..).step_by(64).zip(&mut marks[..words]) {
            let mut rest = std::mem::take(word);
            while rest != 0 {
                union.push(first + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        union
    }

    pub(super) fn bytes(&self) -> usize {
        4 * self.matched.capacity()
            + self.meanings.capacity() * size_of::<Meaning>()
            + self.marks.capacity() * 8
    }
}
