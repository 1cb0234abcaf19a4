//! Tests, equal ones kept once and counted.

use std::hash::{BuildHasher, Hash, RandomState};

use hashbrown::HashTable;

use super::numbered;

/// Numbered values. Literals come from strangers, so the hash is a keyed one.
#[derive(Clone, Debug)]
pub(super) struct Interned<T> {
    items: Vec<(T, u32)>,
    index: HashTable<u32>,
    free: Vec<u32>,
    hasher: RandomState,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: HashTable::new(), free: Vec::new(), hasher: RandomState::default() }
    }
}

impl<T: Default + Eq + Hash> Interned<T> {
    #[inline]
    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.items.get(at as usize).map(|(item, _)| item)
    }

    /// The number of a value, with one more user.
    pub(super) fn put(&mut self, item: T) -> u32 {
        let Self { items, index, free, hasher } = self;
        let key = hasher.hash_one(&item);
        if let Some(&known) = index.find(key, |&at| items[at as usize].0 == item) {
            items[known as usize].1 += 1;
            return known;
        }
        let at = numbered::put(items, free, (item, 1));
        index.insert_unique(key, at, |&each| hasher.hash_one(&items[each as usize].0));
        at
    }

    /// One user less.
    pub(super) fn release(&mut self, at: u32) {
        let (item, users) = &mut self.items[at as usize];
        *users -= 1;
        if *users > 0 {
            return;
        }
        let key = self.hasher.hash_one(&*item);
        *item = T::default();
        if let Ok(entry) = self.index.find_entry(key, |&each| each == at) {
            entry.remove();
        }
        self.free.push(at);
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.items.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(item, _)| item)
    }

    /// Heap bytes held, but for those of the values.
    pub(super) fn memory_bytes(&self) -> usize {
        self.items.capacity() * size_of::<(T, u32)>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<u32>()
    }
}
