//! The result for one document.

use std::sync::Arc;

use super::expression::ExpressionId;
use super::ids::Id;
use super::roster::Roster;

/// The subscriptions that a document satisfies.
///
/// It keeps the distinct expressions and the roster of the moment; ids are built when asked for.
#[derive(Clone, Debug)]
pub struct Matches {
    pub(super) roster: Arc<Roster>,
    pub(super) expressions: Arc<[ExpressionId]>,
    /// Expressions that cost more than one may.
    pub(super) undecided: Arc<[ExpressionId]>,
}

impl Matches {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.roster.total(&self.expressions)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// How many distinct expressions they are.
    pub fn distinct(&self) -> usize {
        self.expressions.len()
    }

    /// Whether every subscription of the index, matched or not, has a number as id.
    pub fn all_numbers(&self) -> bool {
        !self.roster.has_texts()
    }

    /// Their places, in order of registration; `id` names them.
    pub fn slots(&self) -> Vec<u32> {
        self.roster.slots(&self.expressions).into_vec()
    }

    /// Appends their places, in order of registration.
    pub fn list_slots(&self, slots: &mut Vec<u32>) {
        self.roster.slots(&self.expressions).list(slots);
    }

    /// How many places there are, of those who left too.
    pub fn places(&self) -> usize {
        self.roster.places()
    }

    /// The id at a place.
    pub fn id(&self, slot: u32) -> Id {
        self.roster.ids().get(slot)
    }

    /// How often the places were numbered anew: within one edition of an index a place has one id.
    pub fn edition(&self) -> u64 {
        self.roster.edition()
    }

    /// The places of subscriptions that are neither: to decide them cost more than `evaluation_steps` allow.
    pub fn undecided(&self) -> Vec<u32> {
        self.roster.slots(&self.undecided).into_vec()
    }

    /// Their ids, in order of registration.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        self.slots().into_iter().map(|slot| self.id(slot))
    }

    /// Appends their ids, in order of registration; for an index where all ids are numbers.
    pub fn numbers(&self, out: &mut Vec<i64>) {
        self.roster.numbers(&self.roster.slots(&self.expressions), out);
    }

    /// Appends their ids in no order, which takes less time; for an index where all ids are numbers.
    pub fn loose_numbers(&self, out: &mut Vec<i64>) {
        self.roster.loose_numbers(&self.expressions, out);
    }

    /// Appends the text of each id, in order of registration, and where it ends.
    pub fn texts(&self, bytes: &mut Vec<u8>, mut end: impl FnMut(usize)) {
        for slot in self.slots() {
            self.roster.ids().write(slot, bytes);
            end(bytes.len());
        }
    }
}
