//! The way up from an element for which a rule holds to the one that is told.
//!
//! Elements in between that nothing else is asked of make no rules: in `/nitf/body/block[@lang = 'x'][p]` one rule
//! about `block` leads straight to the document node. Whether a way fits the open elements is worked out once for an
//! element, for all rules that lead along it.

use std::io;

use hashbrown::HashTable;

use super::place::At;
use crate::hashing::hash;
use crate::image::{ImageError, Reader, Writer};
use crate::packed::Finder;

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
    finder: Finder,
    free: Vec<WayId>,
}

impl Ways {
    /// The number of a way, with one more user.
    pub(super) fn intern(&mut self, way: Way) -> WayId {
        let place = hash(&way);
        let table = self.finder.table(|| self.make());
        if let Some(&known) = table.find(place, |&id| self.ways[id as usize].0 == way) {
            self.ways[known as usize].1 += 1;
            return known;
        }
        let id = super::put(&mut self.ways, &mut self.free, (way, 1));
        let ways = &self.ways;
        if let Some(table) = self.finder.made() {
            table.insert_unique(place, id, |&id| hash(&ways[id as usize].0));
        }
        id
    }

    /// One user less; the last takes it out.
    pub(super) fn release(&mut self, id: WayId) {
        let (way, users) = &mut self.ways[id as usize];
        *users -= 1;
        if *users == 0 {
            self.finder.remove(|| hash(way), id);
            self.free.push(id);
        }
    }

    #[cold]
    fn make(&self) -> HashTable<WayId> {
        let used = (0..).zip(&self.ways).filter(|(_, (_, users))| *users > 0).map(|(id, _)| id);
        Finder::of(self.ways.len() - self.free.len(), used, |id| hash(&self.ways[id as usize].0))
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.number(self.ways.len())?;
        image.each(self.ways.iter().map(|(way, users)| (way.any, *users)))?;
        image.lists(self.ways.iter().map(|(way, _)| &*way.steps))?;
        image.items(&self.free)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let rows: Vec<(bool, u32)> = image.items()?;
        let steps: Vec<Box<[(u32, At)]>> = image.lists()?;
        let ways = rows.into_iter().zip(steps).map(|((any, users), steps)| (Way { steps, any }, users));
        Ok(Self { ways: ways.collect(), finder: Finder::later(), free: image.items()? })
    }

    #[inline]
    pub(super) fn get(&self, id: WayId) -> &Way {
        &self.ways[id as usize].0
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.ways.len() == self.free.len()
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.ways.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let steps: usize = self.ways.iter().map(|(way, _)| way.steps.len()).sum();
        steps * size_of::<(u32, At)>()
            + self.ways.capacity() * size_of::<(Way, u32)>()
            + self.finder.memory_bytes()
            + self.free.capacity() * size_of::<WayId>()
    }
}
