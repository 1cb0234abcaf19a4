//! What a run hands to the expressions at a leaf: the current path, and what the paths before it have shown.

use pathcast_core::engine::Found;

use super::attributes::Attributes;
use super::constraint::PredicateId;
use super::places::Places;

/// The current path and the predicates it satisfies.
#[derive(Debug, Default)]
pub(super) struct Publication {
    pub(super) places: Places,
    pub(super) attributes: Attributes,
    /// By predicate: whether it is true.
    pub(super) matched: Vec<bool>,
    /// The true ones among the access predicates.
    pub(super) access: Vec<PredicateId>,
    /// Those that became true, or true once more, since the last leaf.
    pub(super) fresh: Vec<PredicateId>,
    /// The number of the leaf, over all documents of the run.
    pub(super) leaf: u64,
    pub(super) positions: [Vec<u32>; 2],
}

/// What the document's paths have shown.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) found: Found,
    /// By node of the trie: whether its expression is true.
    pub(super) covered: Marks,
    pub(super) known: Vec<Known>,
    pub(super) climb: Vec<u32>,
    /// By length: what is to be tried on a path, where the longest go first.
    pub(super) by_length: Vec<Vec<Tried>>,
}

/// An expression to be tried: its node, the node above, its path, its last predicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) node: u32,
    pub(super) parent: u32,
    pub(super) path: u32,
    pub(super) last: PredicateId,
}

/// A set of numbers, a bit each, that is emptied in time proportional to what is in it.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    marked: Vec<u32>,
}

impl Marks {
    /// Empties it and makes room for numbers below `bound`.
    pub(super) fn clear(&mut self, bound: usize) {
        for number in self.marked.drain(..) {
            self.words[number as usize / 64] = 0;
        }
        self.words.resize(bound.div_ceil(64), 0);
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a number; whether it was not there.
    #[inline]
    pub(super) fn insert(&mut self, number: u32) -> bool {
        let word = &mut self.words[number as usize / 64];
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.marked.push(number);
        true
    }
}

/// Where the chain of a node can end on the path of a leaf.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) leaf: u64,
    pub(super) ends: u64,
}
