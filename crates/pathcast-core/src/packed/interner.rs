//! Numbers for equal strings of bytes, given back when the last user leaves.

use std::io;

use hashbrown::HashTable;

use super::{Finder, Packed};
use crate::hashing::hash;
use crate::image::{ImageError, Reader, Writer};

/// Strings of bytes by number, each once, with a count of users.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedInterner {
    packed: Packed,
    users: Vec<u32>,
    finder: Finder,
}

impl PackedInterner {
    /// The number of a string, with one more user.
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> u32 {
        if let Some(known) = self.find(bytes) {
            self.users[known as usize] += 1;
            return known;
        }
        let id = self.packed.insert(bytes);
        self.users.resize(self.users.len().max(id as usize + 1), 0);
        self.users[id as usize] = 1;
        let packed = &self.packed;
        if let Some(table) = self.finder.made() {
            table.insert_unique(hash(bytes), id, |&id| hash(packed.get(id)));
        }
        id
    }

    /// The number of a string that somebody uses.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<u32> {
        let table = self.finder.table(|| self.make());
        table.find(hash(bytes), |&id| self.packed.get(id) == bytes).copied()
    }

    #[cold]
    fn make(&self) -> HashTable<u32> {
        Finder::of(self.packed.len(), self.packed.ids(), |id| hash(self.packed.get(id)))
    }

    /// Whether some string has this number.
    pub(crate) fn has(&self, id: u32) -> bool {
        self.packed.has(id)
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        self.packed.get(id)
    }

    /// One user less; the last takes the string out.
    pub(crate) fn release(&mut self, id: u32) {
        let users = &mut self.users[id as usize];
        *users -= 1;
        if *users == 0 {
            self.finder.remove(|| hash(self.packed.get(id)), id);
            self.packed.remove(id);
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    /// Gives back room that was kept for growth.
    pub(crate) fn settle(&mut self) {
        self.packed.settle();
        self.users.shrink_to_fit();
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.packed.memory_bytes() + self.users.capacity() * 4 + self.finder.memory_bytes()
    }

    pub(crate) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.packed.store(image)?;
        image.items(&self.users)
    }

    /// `now` says whether strings will be looked up at once, or only when subscriptions change.
    pub(crate) fn opened(image: &mut Reader<'_>, now: bool) -> Result<Self, ImageError> {
        let (packed, users) = (Packed::opened(image)?, image.items()?);
        let mut opened = Self { packed, users, finder: Finder::later() };
        if now {
            opened.finder = opened.make().into();
        }
        Ok(opened)
    }
}
