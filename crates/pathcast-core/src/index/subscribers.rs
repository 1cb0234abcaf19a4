//! Who subscribed: every id once, with its place in the order of registration.
//!
//! **Invariants.** An id has one place and keeps it when its expression is replaced. The roster is shared with results,
//! which see it as it was; places of those who left are closed up once they are most of it.

use std::io;
use std::sync::Arc;

use hashbrown::HashTable;

use super::expression::ExpressionId;
use super::ids::Id;
use super::places::Slot;
use super::roster::Roster;
use super::sources::Sources;
use crate::image::{ImageError, Reader, Writer};
use crate::packed::Finder;

/// The roster, and where each id is in it.
#[derive(Default)]
pub(super) struct Subscribers {
    roster: Arc<Roster>,
    /// How many there are.
    len: usize,
    ids: Finder,
    /// What they subscribe to, as written.
    pub(super) sources: Sources,
}

impl Subscribers {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn roster(&self) -> &Arc<Roster> {
        &self.roster
    }

    pub(super) fn contains(&self, id: &Id) -> bool {
        self.find(id).is_some()
    }

    /// The place of an id.
    pub(super) fn find(&self, id: &Id) -> Option<Slot> {
        let ids = self.ids.table(|| make(&self.roster, self.len));
        ids.find(id.key(), |&slot| self.roster.ids().is(slot, id)).copied()
    }

    /// So many more may come.
    pub(super) fn reserve(&mut self, more: usize) {
        let roster = &self.roster;
        if let Some(ids) = self.ids.made() {
            ids.reserve(more, |&slot| roster.ids().key(slot));
        }
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        let roster = &self.roster;
        if let Some(ids) = self.ids.made().filter(|ids| 2 * ids.len() < ids.capacity()) {
            ids.shrink_to_fit(|&slot| roster.ids().key(slot));
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
        let known = self.find(id);
        let roster = Arc::make_mut(&mut self.roster);
        roster.reserve(expression);
        let Some(slot) = known else {
            let slot = roster.seat(id, expression, source);
            self.len += 1;
            if let Some(ids) = self.ids.made() {
                ids.insert_unique(id.key(), slot, |&slot| roster.ids().key(slot));
            }
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
        let slot = self.find(id)?;
        self.ids.remove(|| id.key(), slot);
        self.len -= 1;
        let roster = Arc::make_mut(&mut self.roster);
        self.sources.release(roster.source(slot));
        let expression = roster.leave(slot);
        self.compact();
        Some(expression)
    }

    /// Closes the gaps that those who left leave in the order of registration, once they are most of it.
    fn compact(&mut self) {
        if self.roster.places() < 2 * self.len + 1024 {
            return;
        }
        let fresh = self.roster.compacted();
        self.ids = make(&fresh, self.len).into();
        self.roster = Arc::new(fresh);
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.number(self.len)?;
        self.roster.store(image)?;
        self.sources.store(image)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        Ok(Self {
            len: image.number()?,
            roster: Arc::new(Roster::opened(image)?),
            ids: Finder::later(),
            sources: Sources::opened(image)?,
        })
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ids.memory_bytes() + self.roster.memory_bytes() + self.sources.memory_bytes()
    }
}

/// Where each id is.
#[cold]
fn make(roster: &Roster, len: usize) -> HashTable<Slot> {
    Finder::of(len, roster.taken(), |slot| roster.ids().key(slot))
}
