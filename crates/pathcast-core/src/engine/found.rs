//! The paths found so far in one document, each once.

use super::PathId;

/// A set of path numbers that is emptied in time proportional to what is in it.
#[derive(Debug, Default)]
pub struct Found {
    marked: Vec<u64>,
    paths: Vec<PathId>,
}

impl Found {
    /// Empties the set and makes room for numbers below `bound`.
    pub fn clear(&mut self, bound: usize) {
        for path in self.paths.drain(..) {
            self.marked[path.0 as usize / 64] = 0;
        }
        self.marked.resize(bound.div_ceil(64), 0);
    }

    /// Adds a path.
    #[inline]
    pub fn add(&mut self, path: PathId) {
        let word = &mut self.marked[path.0 as usize / 64];
        let bit = 1 << (path.0 % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.paths.push(path);
        }
    }

    /// Whether a path was found.
    #[inline]
    pub fn contains(&self, path: PathId) -> bool {
        self.marked[path.0 as usize / 64] >> (path.0 % 64) & 1 != 0
    }

    /// The paths in the order they were found.
    pub fn paths(&self) -> &[PathId] {
        &self.paths
    }
}
