//! Who subscribed: every id once, with its place in the order of registration.
//!
//! **Invariants.** An id has one place and keeps it when its expression is replaced. The roster is shared with results,
//! which see it as it was; places of those who left are closed up once they are most of it.

use std::sync::Arc;

use hashbrown::HashTable;

use super::expression::ExpressionId;
use super::ids::Id;
use super::places::Slot;
use super::roster::Roster;
use super::sources::Sources;

/// The roster, and where each id is in it.
#[derive(Default)]
pub(super) struct Subscribers {
    roster: Arc<Roster>,
    ids: HashTable<Slot>,
    /// What they subscribe to, as written.
    pub(super) sources: Sources,
}

impl Subscribers {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn roster(&self) -> &Arc<Roster> {
        &self.roster
    }

    pub(super) fn contains(&self, id: &Id) -> bool {
        self.find(id).is_some()
    }

    /// The place of an id.
    pub(super) fn find(&self, id: &Id) -> Option<Slot> {
        self.ids.find(id.key(), |&slot| self.roster.ids().is(slot, id)).copied()
    }

    /// So many more may come.
    pub(super) fn reserve(&mut self, more: usize) {
        let roster = &self.roster;
        self.ids.reserve(more, |&slot| roster.ids().key(slot));
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        let roster = &self.roster;
        if 2 * self.ids.len() < self.ids.capacity() {
            self.ids.shrink_to_fit(|&slot| roster.ids().key(slot));
        }
        self.sources.settle();
    }

    /// An id subscribes to an expression, written so; the one that it gave up for it, if it had another.
    pub(super) fn join(
        &mut self,
        id: &Id,
        expression: ExpressionId,
        written: Option<&[u8]>,
    ) -> Option<ExpressionId> {
        let source = self.sources.intern(written);
        let roster = Arc::make_mut(&mut self.roster);
        roster.reserve(expression);
        let key = id.key();
        let known = self.ids.find(key, |&slot| roster.ids().is(slot, id)).copied();
        let Some(slot) = known else {
            let slot = roster.seat(id, expression, source);
            self.ids.insert_unique(key, slot, |&slot| roster.ids().key(slot));
            return None;
        };
        self.sources.release(roster.rewrite(slot, source));
        if roster.expression(slot) == expression {
            return None;
        }
        let before = roster.leave(slot);
        roster.join(slot, expression);
        Some(before)
    }

    /// Nobody, with places that are not taken for those of before.
    pub(super) fn emptied(&self) -> Self {
        Self { roster: Arc::new(self.roster.emptied()), ..Self::default() }
    }

    /// An id leaves; the expression that it gave up.
    pub(super) fn leave(&mut self, id: &Id) -> Option<ExpressionId> {
        let roster = Arc::make_mut(&mut self.roster);
        let entry = self.ids.find_entry(id.key(), |&slot| roster.ids().is(slot, id)).ok()?;
        let (slot, _) = entry.remove();
        self.sources.release(roster.source(slot));
        let expression = roster.leave(slot);
        self.compact();
        Some(expression)
    }

    /// Closes the gaps that those who left leave in the order of registration, once they are most of it.
    fn compact(&mut self) {
        if self.roster.places() < 2 * self.ids.len() + 1024 {
            return;
        }
        let fresh = self.roster.compacted();
        self.ids.clear();
        for slot in fresh.taken() {
            self.ids.insert_unique(fresh.ids().key(slot), slot, |&slot| fresh.ids().key(slot));
        }
        self.roster = Arc::new(fresh);
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ids.allocation_size() + self.roster.memory_bytes() + self.sources.memory_bytes()
    }
}
