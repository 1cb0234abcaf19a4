//! Numbers by the hash of what they stand for, in a table that may be made when it is first asked.
//!
//! The hash is drawn anew in every process, so a table cannot be kept in a file. But most are only asked when subscriptions
//! change: an index that was opened from its image makes them then, and one that only matches never does.

use std::sync::OnceLock;

use hashbrown::HashTable;

/// A table of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Finder(OnceLock<HashTable<u32>>);

impl Default for Finder {
    /// An empty one.
    fn default() -> Self {
        Self::from(HashTable::new())
    }
}

impl From<HashTable<u32>> for Finder {
    fn from(table: HashTable<u32>) -> Self {
        Self(OnceLock::from(table))
    }
}

impl Finder {
    /// One that is made when it is asked.
    pub(crate) fn later() -> Self {
        Self(OnceLock::new())
    }

    /// The table of so many numbers.
    pub(crate) fn of(
        count: usize,
        ids: impl Iterator<Item = u32>,
        hash: impl Fn(u32) -> u64,
    ) -> HashTable<u32> {
        let mut table = HashTable::with_capacity(count);
        for id in ids {
            table.insert_unique(hash(id), id, |&id| hash(id));
        }
        table
    }

    /// The table, made now if it is not there.
    #[inline]
    pub(crate) fn table(&self, make: impl FnOnce() -> HashTable<u32>) -> &HashTable<u32> {
        self.0.get_or_init(make)
    }

    /// The table to be changed; without one there is nothing to change.
    #[inline]
    pub(crate) fn made(&mut self) -> Option<&mut HashTable<u32>> {
        self.0.get_mut()
    }

    /// Takes out a number with this hash.
    pub(crate) fn remove(&mut self, hash: impl FnOnce() -> u64, id: u32) {
        if let Some(table) = self.made()
            && let Ok(entry) = table.find_entry(hash(), |&other| other == id)
        {
            entry.remove();
        }
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.0.get().map_or(0, HashTable::allocation_size)
    }
}
