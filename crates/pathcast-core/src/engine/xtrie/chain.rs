//! The rows of a substring, chained in groups that can be passed over at once.
//!
//! All rows of one substring whose parent has the same substring, too, at the same relative level, stand or fall
//! with one question: was that other substring met at a level that fits? So they lie together, in a list that is read
//! from front to back; following pointers from row to row would cost a cache miss each. A row knows its place, so it is
//! unchained at once.
//!
//! Groups of leaves that are found by nothing but their substring need not be tried again below the same elements: what
//! they could add to their parents there, they have added. On the paper's workload two thirds of all rows that would be
//! tried are passed over so.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use super::levels::Gap;
use super::trie::NodeId;

/// What the rows of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Their substring.
    pub(super) node: NodeId,
    /// The substring of their parent, or [`AT_ROOT`]. A parent that has none is passed over for the one above it.
    pub(super) probe: NodeId,
    /// The level relative to that.
    pub(super) gap: Gap,
    /// Whether they are rows of single paths.
    pub(super) single: bool,
    /// Whether, and how, trying them again may be spared.
    pub(super) again: Again,
}

/// When the rows of a group must be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Again {
    /// Whenever their substring is met.
    Always,
    /// When the element so many levels above is another one than before.
    BelowAnother(u32),
    /// Once in a document.
    Never,
}

/// There is no parent: the level itself must fit.
pub(super) const AT_ROOT: NodeId = NodeId::MAX;

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) key: Key,
    pub(super) rows: Vec<u32>,
    /// Its place in the list of the substring.
    place: u32,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    groups: Vec<Group>,
    index: HashTable<u32>,
    free: Vec<u32>,
}

impl Chains {
    #[inline]
    pub(super) fn group(&self, group: u32) -> &Group {
        &self.groups[group as usize]
    }

    /// Chains a row; `list` has the groups of the substring. The group and the place in it.
    pub(super) fn insert(&mut self, key: Key, row: u32, list: &mut Vec<u32>) -> (u32, u32) {
        let known = self.index.find(hash(&key), |&group| self.groups[group as usize].key == key).copied();
        let group = known.unwrap_or_else(|| self.open(key, list));
        let rows = &mut self.groups[group as usize].rows;
        rows.push(row);
        (group, rows.len() as u32 - 1)
    }

    fn open(&mut self, key: Key, list: &mut Vec<u32>) -> u32 {
        let fresh = Group { key, rows: Vec::new(), place: list.len() as u32 };
        let group = match self.free.pop() {
            Some(group) => {
                self.groups[group as usize] = fresh;
                group
            }
            None => {
                self.groups.push(fresh);
                (self.groups.len() - 1) as u32
            }
        };
        let groups = &self.groups;
        self.index.insert_unique(hash(&key), group, |&each| hash(&groups[each as usize].key));
        list.push(group);
        group
    }

    /// Unchains a row; the row that takes its place, if any.
    pub(super) fn remove(&mut self, group: u32, place: u32, list: &mut Vec<u32>) -> Option<u32> {
        let rows = &mut self.groups[group as usize].rows;
        rows.swap_remove(place as usize);
        if rows.capacity() > 4 * rows.len() + 16 {
            rows.shrink_to(2 * rows.len());
        }
        if rows.is_empty() {
            self.close(group, list);
            return None;
        }
        rows.get(place as usize).copied()
    }

    fn close(&mut self, group: u32, list: &mut Vec<u32>) {
        let Group { key, place, .. } = self.groups[group as usize];
        if let Ok(entry) = self.index.find_entry(hash(&key), |&each| each == group) {
            entry.remove();
        }
        list.swap_remove(place as usize);
        if let Some(&moved) = list.get(place as usize) {
            self.groups[moved as usize].place = place;
        }
        self.groups[group as usize].rows = Vec::new();
        self.free.push(group);
    }

    /// One more than the largest number of a group.
    pub(super) fn bound(&self) -> usize {
        self.groups.len()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let rows: usize = self.groups.iter().map(|group| group.rows.capacity()).sum();
        rows * size_of::<u32>()
            + self.groups.capacity() * size_of::<Group>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// Keys are our own numbers, so a cheap hash will do.
fn hash(key: &Key) -> u64 {
    let mixed = FxBuildHasher.hash_one(key);
    mixed ^ (mixed >> 32)
}
