//! Numbers for equal values, given back when the last user leaves.

use std::hash::Hash;

use hashbrown::HashTable;

use crate::hashing::hash;

/// Numbers for equal values, with a count of users.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    items: Vec<(T, u32)>,
    index: HashTable<u32>,
    free: Vec<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: HashTable::new(), free: Vec::new() }
    }
}

impl<T: Hash + Eq + Clone> Interner<T> {
    /// The number of a value, and whether it was known.
    pub(crate) fn intern(&mut self, value: T) -> (u32, bool) {
        let key = hash(&value);
        if let Some(&id) = self.index.find(key, |&id| self.items[id as usize].0 == value) {
            self.items[id as usize].1 += 1;
            return (id, true);
        }
        let id = match self.free.pop() {
            Some(id) => {
                self.items[id as usize] = (value, 1);
                id
            }
            None => {
                self.items.push((value, 1));
                (self.items.len() - 1) as u32
            }
        };
        let items = &self.items;
        self.index.insert_unique(key, id, |&id| hash(&items[id as usize].0));
        (id, false)
    }

    /// One user less; the value when it was the last.
    pub(crate) fn release(&mut self, id: u32) -> Option<T> {
        let (value, users) = &mut self.items[id as usize];
        *users -= 1;
        if *users > 0 {
            return None;
        }
        let value = value.clone();
        if let Ok(entry) = self.index.find_entry(hash(&value), |&other| other == id) {
            entry.remove();
        }
        self.free.push(id);
        Some(value)
    }

    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize].0
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.items.capacity() * size_of::<(T, u32)>()
            + self.index.allocation_size()
            + self.free.capacity() * 4
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// One more than the largest number.
    pub(crate) fn bound(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(value, _)| value)
    }
}
