//! Sets of accepted paths, each stored once: they would dominate the cache otherwise.

use hashbrown::HashTable;

use super::sets::hash;
use crate::engine::{Found, PathId};

/// The number of a set of paths; 0 is the empty set.
pub(super) type AcceptedId = u32;

/// All sets of paths that some transition accepts.
#[derive(Debug, Default)]
pub(super) struct Accepted {
    paths: Vec<u32>,
    /// By number: where the set lies in `paths`.
    bounds: Vec<(u32, u32)>,
    index: HashTable<AcceptedId>,
}

impl Accepted {
    /// The number of a set, given in any order.
    pub(super) fn intern(&mut self, paths: &mut Vec<u32>) -> AcceptedId {
        paths.sort_unstable();
        paths.dedup();
        if self.bounds.is_empty() {
            self.bounds.push((0, 0));
        }
        if paths.is_empty() {
            return 0;
        }
        let key = hash(paths);
        if let Some(&known) = self.index.find(key, |&id| self.get(id) == paths.as_slice()) {
            return known;
        }
        let id = self.bounds.len() as AcceptedId;
        let from = self.paths.len() as u32;
        self.paths.extend_from_slice(paths);
        self.bounds.push((from, self.paths.len() as u32));
        let (all, bounds) = (&self.paths, &self.bounds);
        self.index.insert_unique(key, id, |&id| {
            let (from, to) = bounds[id as usize];
            hash(&all[from as usize..to as usize])
        });
        id
    }

    pub(super) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// The numbers of the paths of a set.
    pub(super) fn get(&self, id: AcceptedId) -> &[u32] {
        let (from, to) = self.bounds[id as usize];
        &self.paths[from as usize..to as usize]
    }

    /// Adds the paths of a set to what was found.
    pub(super) fn report(&self, id: AcceptedId, found: &mut Found) {
        self.get(id).iter().for_each(|&path| found.add(PathId(path)));
    }

    pub(super) fn bytes(&self) -> usize {
        self.paths.capacity() * 4 + self.bounds.capacity() * 8 + self.index.allocation_size()
    }
}
