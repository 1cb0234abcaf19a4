//! What accepted sets of paths mean, worked out once for each, so that a document's answer is a union of lists.
//!
//! An engine tells by numbers which sets of paths it met. Which expressions hold where a set was met is looked up path by
//! path when that first happens, and then kept. It holds while the engine's numbers do not change and nothing else
//! follows from one of the set's paths, and all of it together stays within a budget.

use super::expression::{Expression, ExpressionId, Kind};
use super::expressions::Expressions;
use super::paths::Paths;
use crate::pattern::PathId;

/// Bits of a word that are written ahead of knowing whether they are set.
const AHEAD: usize = 4;

/// Where the list of a set lies.
#[derive(Clone, Copy, Debug, Default)]
struct Meaning {
    from: u32,
    to: u32,
    known: bool,
    /// How often what follows from paths had changed when it was last known to hold.
    touches: u64,
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
    /// What the meanings are of: the engine's numbers.
    valid: u64,
    /// A bit for each expression, for the union; empty in between.
    marks: Vec<u64>,
}

impl Prepared {
    /// Forgets everything when the engine's numbers have changed, or when it is too much.
    pub(super) fn revise(&mut self, generation: u64, budget: usize) {
        if self.valid != generation || self.bytes() > budget {
            self.valid = generation;
            self.meanings.clear();
            self.matched.clear();
        }
    }

    /// Whether the meaning of a set was worked out and no change has come since.
    pub(super) fn knows(&self, number: u32, known: &Paths) -> bool {
        let meaning = self.meanings.get(number as usize);
        meaning.is_some_and(|meaning| meaning.known && meaning.touches == known.touches())
    }

    /// Whether the meaning of a set, whose paths are sorted, was worked out and still holds.
    pub(super) fn still_knows(&mut self, number: u32, paths: &[PathId], known: &Paths) -> bool {
        let Some(meaning) = self.meanings.get_mut(number as usize).filter(|meaning| meaning.known) else {
            return false;
        };
        let Some(mut touched) = known.touched_since(meaning.touches) else { return false };
        let holds = touched.all(|path| paths.binary_search(&path).is_err());
        if holds {
            meaning.touches = known.touches();
        }
        holds
    }

    /// Works out what a set of paths means.
    pub(super) fn learn(&mut self, number: u32, paths: &[PathId], expressions: &Expressions) {
        let from = self.matched.len() as u32;
        let mut candidates = false;
        for &path in paths {
            self.matched.extend(expressions.paths.expression(path));
            for &waiting in expressions.paths.waiting(path) {
                if matches!(expressions.get(waiting), Kind::Other(Expression::AnyOf(_))) {
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
        let touches = expressions.paths.touches();
        self.meanings[number as usize] = Meaning { from, to, known: true, touches, candidates };
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
        let mut union = Vec::with_capacity(total + AHEAD);
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
        // Most words have few bits: the first four are written whether they are set or not, without a branch for each.
        union.resize(total + AHEAD, 0);
        let mut end = 0;
        for (first, word) in (0..).step_by(64).zip(&mut marks[..words]) {
            let mut rest = std::mem::take(word);
            for _ in 0..AHEAD {
                union[end] = first + rest.trailing_zeros();
                end += usize::from(rest != 0);
                rest &= rest.wrapping_sub(1);
            }
            while rest != 0 {
                union[end] = first + rest.trailing_zeros();
                end += 1;
                rest &= rest - 1;
            }
        }
        union.truncate(end);
        union
    }

    pub(super) fn bytes(&self) -> usize {
        4 * self.matched.capacity()
            + self.meanings.capacity() * size_of::<Meaning>()
            + self.marks.capacity() * 8
    }
}
