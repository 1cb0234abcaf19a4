//! Subtrees of substring-trees, each kept once for all patterns that have it.
//!
//! **Idea.** Thousands of patterns have branches in common. A *subtree* is a lineage, the tests of its last element, and the
//! subtrees below it; equal ones are one, up to the order and the repetition of branches. That it is complete below an open
//! element is noted once, in one bit, whoever has it. The paper notes it in each pattern's own row.
//!
//! An inner subtree is complete at an element when all its branches are. It *waits* for one of them alone, and looks at the
//! others when that one was found: the one that the fewest wait for, which balances the lists as XFilter's list
//! balancing does, and which tends to be the rarest.
//!
//! **Invariants.** A subtree is there as long as a row is that has it, and with it those below it. It is in exactly one
//! list: that of the branch it waits for, or that of its lineage if it is a leaf.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::lineage::{Lineages, Target, Tested};
use super::node::NONE;
use super::numbered;
use super::trie::Trie;

/// One subtree.
#[derive(Clone, Debug)]
pub(super) struct Subtree {
    pub(super) lineage: u32,
    /// Number of the tests at the start tag of a leaf, and of those at the end tag, or `NONE`.
    starts: u32,
    pub(super) ends: u32,
    /// The branches by number, each once.
    pub(super) children: Box<[u32]>,
    users: u32,
    /// The branch it waits for, and its place in that one's list; of a leaf with tests, its place in its lineage's.
    awaited: u32,
    place: u32,
    /// Those that wait for it.
    pub(super) waiting: Vec<Waiter>,
    /// Patterns that it is the whole of.
    pub(super) patterns: Vec<u32>,
}

/// A subtree that waits for a branch, and another branch of it, or `NONE`: most are passed over for lack of that one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) subtree: u32,
    pub(super) other: u32,
}

/// What makes a subtree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parts {
    pub(super) lineage: u32,
    pub(super) starts: u32,
    pub(super) ends: u32,
    pub(super) children: Vec<u32>,
}

/// All subtrees.
#[derive(Clone, Debug, Default)]
pub(super) struct Subtrees {
    subtrees: Vec<Subtree>,
    index: HashTable<u32>,
    free: Vec<u32>,
}

impl Subtrees {
    #[inline]
    pub(super) fn get(&self, at: u32) -> &Subtree {
        &self.subtrees[at as usize]
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.subtrees.len()
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.subtrees.len() - self.free.len()
    }

    /// A subtree with one more user.
    pub(super) fn insert(
        &mut self,
        mut parts: Parts,
        needs: u32,
        lineages: &mut Lineages,
        trie: &mut Trie,
    ) -> u32 {
        parts.children.sort_unstable();
        parts.children.dedup();
        let key = hash(parts.lineage, parts.starts, parts.ends, &parts.children);
        if let Some(&known) = self.index.find(key, |&at| self.get(at).is(&parts)) {
            self.subtrees[known as usize].users += 1;
            return known;
        }
        let at = numbered::next(&self.subtrees, &self.free);
        let Parts { lineage, starts, ends, children } = parts;
        let awaited = children.iter().copied().min_by_key(|&child| self.get(child).waiting.len());
        let place = match awaited {
            Some(awaited) => {
                let other = children.iter().copied().filter(|&child| child != awaited);
                let other = other.min_by_key(|&child| self.get(child).users).unwrap_or(NONE);
                let waiting = &mut self.subtrees[awaited as usize].waiting;
                waiting.push(Waiter { subtree: at, other });
                waiting.len() as u32 - 1
            }
            None if starts == NONE && ends == NONE => {
                lineages.set_leaf(lineage, at, trie);
                NONE
            }
            None => {
                let tested = Tested { target: Target::Subtree(at), starts, ends, needs };
                lineages.enlist_tested(lineage, tested, trie)
            }
        };
        let fresh = Subtree {
            lineage,
            starts,
            ends,
            children: children.into(),
            users: 1,
            awaited: awaited.unwrap_or(NONE),
            place,
            waiting: Vec::new(),
            patterns: Vec::new(),
        };
        numbered::put(&mut self.subtrees, &mut self.free, fresh);
        let subtrees = &self.subtrees;
        self.index.insert_unique(key, at, |&each| subtrees[each as usize].key());
        at
    }

    /// One user less; what nobody has any more goes. Those below it have users of their own, who leave later.
    ///
    /// A single path of its lineage that takes its place there.
    pub(super) fn release(&mut self, at: u32, lineages: &mut Lineages, trie: &mut Trie) -> Option<Target> {
        let subtree = &mut self.subtrees[at as usize];
        subtree.users -= 1;
        if subtree.users > 0 {
            return None;
        }
        let key = subtree.key();
        if let Ok(entry) = self.index.find_entry(key, |&each| each == at) {
            entry.remove();
        }
        let Subtree { lineage, starts, ends, awaited, place, .. } = self.subtrees[at as usize];
        self.subtrees[at as usize].children = Box::default();
        self.subtrees[at as usize].waiting = Vec::new();
        self.subtrees[at as usize].patterns = Vec::new();
        self.free.push(at);
        if awaited != NONE {
            let waiting = &mut self.subtrees[awaited as usize].waiting;
            waiting.swap_remove(place as usize);
            if waiting.capacity() > 4 * waiting.len() + 16 {
                waiting.shrink_to(2 * waiting.len());
            }
            if let Some(moved) = waiting.get(place as usize).map(|waiter| waiter.subtree) {
                self.subtrees[moved as usize].place = place;
            }
            None
        } else if starts == NONE && ends == NONE {
            lineages.set_leaf(lineage, NONE, trie);
            None
        } else {
            lineages.strike_tested(lineage, place, trie)
        }
    }

    /// A leaf has a new place in the list of its lineage.
    pub(super) fn move_leaf(&mut self, at: u32, place: u32) {
        self.subtrees[at as usize].place = place;
    }

    /// The place of a leaf with tests in the list of its lineage.
    pub(super) fn place(&self, at: u32) -> u32 {
        self.get(at).place
    }

    /// A pattern is the whole of a subtree; its place.
    pub(super) fn name(&mut self, at: u32, pattern: u32) -> u32 {
        let patterns = &mut self.subtrees[at as usize].patterns;
        if patterns.is_empty() {
            patterns.reserve_exact(1);
        }
        patterns.push(pattern);
        patterns.len() as u32 - 1
    }

    /// A pattern is no more; the one that takes its place, if any.
    pub(super) fn unname(&mut self, at: u32, place: u32) -> Option<u32> {
        let patterns = &mut self.subtrees[at as usize].patterns;
        patterns.swap_remove(place as usize);
        patterns.get(place as usize).copied()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists = |each: &Subtree| {
            4 * (each.children.len() + each.patterns.capacity()) + 8 * each.waiting.capacity()
        };
        self.subtrees.iter().map(lists).sum::<usize>()
            + self.subtrees.capacity() * size_of::<Subtree>()
            + self.index.allocation_size()
            + self.free.capacity() * 4
    }

    /// Whether every subtree is in exactly the list where it says it is.
    #[cfg(test)]
    pub(super) fn is_sound(&self) -> bool {
        let waiting: usize = self.subtrees.iter().map(|each| each.waiting.len()).sum();
        let inner = self.subtrees.iter().filter(|each| !each.children.is_empty()).count();
        let at_place = |(at, each): (u32, &Subtree)| {
            each.children.is_empty()
                || self.get(each.awaited).waiting[each.place as usize].subtree == at && each.users > 0
        };
        waiting == inner && (0..).zip(&self.subtrees).all(at_place)
    }
}

impl Subtree {
    fn is(&self, parts: &Parts) -> bool {
        self.lineage == parts.lineage
            && self.starts == parts.starts
            && self.ends == parts.ends
            && *self.children == *parts.children
    }

    fn key(&self) -> u64 {
        hash(self.lineage, self.starts, self.ends, &self.children)
    }
}

/// The parts are our own numbers, so a cheap hash will do.
fn hash(lineage: u32, starts: u32, ends: u32, children: &[u32]) -> u64 {
    let mixed = FxBuildHasher.hash_one((lineage, starts, ends, children));
    mixed ^ (mixed >> 32)
}
