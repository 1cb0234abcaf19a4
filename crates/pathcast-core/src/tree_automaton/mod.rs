//! One bottom-up tree automaton for all twigs, that decides them as elements end.
//!
//! **Problem.** A subscription with branches and values waits for a path and is then decided by itself on a tree of the
//! document. Thousands that differ in a constant are thousands of decisions, and the whole document is kept.
//!
//! **Idea.** All subscriptions are rules over shared *atoms*: a test of a value, an element below that satisfies a rule.
//! A rule is about one element and is decided when that element ends, because then all atoms of it are known. A rule
//! waits for the atom that is so most seldom; the rest of it is looked at only then. What holds for an element is told
//! to the elements above that ask. Nothing of the document is kept but open elements and the texts being compared.
//!
//! **Data.** [`atoms`]: atoms and the tests of each subject, looked up by hash, trie and Aho-Corasick automaton.
//! [`summary`]: tests that most values pass, asked instead of told. [`subjects`], [`place`], [`computed`]: whose values
//! are asked for. [`rules`], [`ways`]: conjunctions, and who is told when they hold. [`keys`], [`lists`]: what they wait
//! for. [`compile`]: from a condition to rules. [`gate`]: what of a condition can be decided so. [`run`], [`decide`]: one
//! document.
//!
//! **Invariants.** Equal atoms and equal rules are one. An atom, a rule, a subject and a constant live while somebody uses
//! them, so any order of changes leaves what a rebuild would, but for the choice of keys, which no answer depends on.
//!
//! **Cost.** For each element: its values are looked up once for each subject that asks, and each rule whose key is so
//! is looked at. Polynomial in any case: elements times rules times their literals.

mod atoms;
mod compile;
mod computed;
mod constants;
mod decide;
mod gate;
mod image;
mod keys;
mod lists;
mod place;
mod prefixes;
mod rules;
mod run;
mod subjects;
mod summary;
mod ways;
mod words;

#[cfg(test)]
mod tests;

pub use gate::{Gate, gate};
pub use run::Run;

use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;

use atoms::{Atoms, Tests};
use constants::Constants;
use keys::{Counts, Keys};
use place::Places;
use rules::{RuleId, Rules};
use subjects::Subjects;
use ways::Ways;

const NONE: u32 = u32::MAX;

/// The rules of a set of subscriptions, each under the number of its expression.
#[derive(Debug, Default)]
pub struct TreeAutomaton {
    constants: Constants,
    subjects: Subjects,
    /// By subject.
    tests: Vec<Tests>,
    places: Places,
    ways: Ways,
    atoms: Atoms,
    rules: Rules,
    /// By expression: its only rule, if it has one.
    held: Vec<RuleId>,
    /// Those that have more.
    held_many: FxHashMap<u32, Box<[RuleId]>>,
    expressions: usize,
    /// How many rules there were when keys were chosen.
    chosen_for: usize,
    keys: RwLock<Arc<Keys>>,
    counts: Mutex<Counts>,
}

impl TreeAutomaton {
    /// Whether there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.expressions == 0
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.expressions
    }

    /// Distinct atoms and rules: what is decided once, whoever asks.
    pub fn shared(&self) -> usize {
        self.atoms.len() + self.rules.len()
    }

    /// Whether it must be told of text, comments and instructions.
    pub fn wants_text(&self) -> bool {
        self.subjects.look_at_text()
    }

    /// Gives back room that was kept for growth: many expressions have been added, and no more are expected soon.
    pub fn settle(&mut self) {
        self.choose_keys();
        self.constants.settle();
        self.atoms.settle();
        self.rules.settle();
        self.held.shrink_to_fit();
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        let many: usize = self.held_many.values().map(|rules| rules.len() * size_of::<RuleId>() + 21).sum();
        self.tests.iter().map(Tests::memory_bytes).sum::<usize>()
            + self.tests.capacity() * size_of::<Tests>()
            + self.constants.memory_bytes()
            + self.subjects.memory_bytes()
            + self.places.memory_bytes()
            + self.ways.memory_bytes()
            + self.key_bytes()
            + self.atoms.memory_bytes()
            + self.rules.memory_bytes()
            + self.held.capacity() * size_of::<RuleId>()
            + many
    }
}

/// Puts an item where there is room and tells its number.
fn put<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(id) => {
            items[id as usize] = item;
            id
        }
        None => {
            items.push(item);
            (items.len() - 1) as u32
        }
    }
}
