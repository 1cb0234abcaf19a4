//! The distinct paths of a document.
//!
//! Two paths with the same variables are the same publication: whatever the second would satisfy, the first has. So
//! each element is given the number of its path, and only new ones are matched. The table forgets at each document and
//! takes no more than a million paths; those beyond count as new.

use hashbrown::HashTable;

use pathcast_core::hashing::{hash, spread};
use pathcast_core::names::Resolved;

/// The number of a path; 0 is the document node.
pub(super) type Label = u32;

/// A path that is not in the table.
const UNKNOWN: Label = Label::MAX;
const MOST: usize = 1 << 20;

/// Bytes of attributes that are remembered.
const MOST_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    parent: Label,
    element: Resolved,
    content: u32,
}

impl Key {
    #[inline]
    fn hash(self) -> u64 {
        let low = u64::from(self.parent) << 32 | u64::from(self.element.name.0);
        let part = u64::from(self.element.namespace.0) ^ u64::from(self.element.local.0).rotate_left(16);
        let high = u64::from(self.content) << 32 | part;
        spread(low ^ high.rotate_left(17))
    }
}

/// The paths seen so far.
#[derive(Debug, Default)]
pub(super) struct Labels {
    known: HashTable<(Key, Label)>,
    /// What elements say with their attributes, 0 for nothing.
    contents: HashTable<(Box<[u8]>, u32)>,
    content_bytes: usize,
}

impl Labels {
    pub(super) fn clear(&mut self) {
        // Emptying a table takes time in proportion to its room.
        if self.known.capacity() > 16 * self.known.len() + 4096 {
            self.known = HashTable::new();
        }
        self.known.clear();
        if self.contents.capacity() > 16 * self.contents.len() + 4096 {
            self.contents = HashTable::new();
        }
        self.contents.clear();
        self.content_bytes = 0;
    }

    /// The path of an element, and whether it is new.
    #[inline]
    pub(super) fn enter(&mut self, parent: Label, element: Resolved, content: Option<u32>) -> (Label, bool) {
        let Some(content) = content.filter(|_| parent != UNKNOWN) else { return (UNKNOWN, true) };
        let key = Key { parent, element, content };
        let place = key.hash();
        if let Some(&(_, label)) = self.known.find(place, |each| each.0 == key) {
            return (label, false);
        }
        if self.known.len() >= MOST {
            return (UNKNOWN, true);
        }
        let label = self.known.len() as Label + 1;
        self.known.insert_unique(place, (key, label), |each| each.0.hash());
        (label, true)
    }

    /// A number for what an element says with its attributes; `None` when too much has been said.
    pub(super) fn content(&mut self, bytes: &[u8]) -> Option<u32> {
        if bytes.is_empty() {
            return Some(0);
        }
        let place = hash(bytes);
        if let Some(&(_, number)) = self.contents.find(place, |each| *each.0 == *bytes) {
            return Some(number);
        }
        self.content_bytes += bytes.len();
        if self.contents.len() >= MOST || self.content_bytes > MOST_BYTES {
            return None;
        }
        let number = self.contents.len() as u32 + 1;
        self.contents.insert_unique(place, (bytes.into(), number), |each| hash(&*each.0));
        Some(number)
    }
}
