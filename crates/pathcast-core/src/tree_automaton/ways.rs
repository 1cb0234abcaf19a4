//! The way up from an element for which a rule holds to the one that is told.
//!
//! Elements in between that nothing else is asked of make no rules: in `/nitf/body/block[@lang = 'x'][p]` one rule
//! about `block` leads straight to the document node. Whether a way fits the open elements is worked out once for an
//! element, for all rules that lead along it.

use hashbrown::HashTable;

use super::place::At;
use crate::hashing::hash;

/// The number of a way.
pub(super) type WayId = u32;

/// Steps up, each so many levels to such an element; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) steps: Box<[(u32, At)]>,
    /// Whether the last step leads to all such elements, so far up or farther.
    pub(super) any: bool,
}

impl Way {
    /// The parent that it asks for, if it does.
    pub(super) fn parent(&self) -> Option<At> {
        match *self.steps {
            [(1, at)] if !self.any => Some(at),
            [(1, at), _, ..] => Some(at),
            _ => None,
        }
    }

    /// Where it ends.
    pub(super) fn end(&self) -> At {
        self.steps.last().map_or(At::DOCUMENT, |&(_, at)| at)
    }
}

/// All ways that some rule leads along.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    ways: Vec<(Way, u32)>,
    index: HashTable<WayId>,
    free: Vec<WayId>,
}

impl Ways {
    /// The number of a way, with one more user.
    pub(super) fn intern(&mut self, way: Way) -> WayId {
        let place = hash(&way);
        if let Some(&known) = self.index.find(place, |&id| self.ways[id as usize].0 == way) {
            self.ways[known as usize].1 += 1;
            return known;
        }
        let id = super::put(&mut self.ways, &mut self.free, (way, 1));
        let ways = &self.ways;
        self.index.insert_unique(place, id, |&id| hash(&ways[id as usize].0));
        id
    }

    /// One user less; the last takes it out.
    pub(super) fn release(&mut self, id: WayId) {
        let (way, users) = &mut self.ways[id as usize];
        *users -= 1;
        if *users == 0 {
            if let Ok(entry) = self.index.find_entry(hash(way), |&other| other == id) {
                entry.remove();
            }
            self.free.push(id);
        }
    }

    #[inline]
    pub(super) fn get(&self, id: WayId) -> &Way {
        &self.ways[id as usize].0
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.ways.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let steps: usize = self.ways.iter().map(|(way, _)| way.steps.len()).sum();
        steps * size_of::<(u32, At)>()
            + self.ways.capacity() * size_of::<(Way, u32)>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<WayId>()
    }
}
