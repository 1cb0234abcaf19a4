//! Chains: the lineages that end with one substring and hang on another.
//!
//! **Idea.** A name like `em` ends thousands of lineages, most of which hang on a substring that was not met above. So
//! the lineages of a substring are kept in one chain for each substring they hang on, and only the chains of those are
//! looked at that are met on open elements. These are found in the list of all chains of the substring, or in an
//! index by both substrings, whichever is less work: open elements are few, and so are the substrings met there.
//!
//! **Invariants.** A chain is there as long as it has a lineage. It is in the list of its substring, at the place it
//! says, and in the index. A substring knows how many chains hang on it.

use hashbrown::HashTable;

use super::link::Link;
use super::node::{NodeId, hash};
use super::numbered;
use pathcast_core::names::NameId;

/// The lineages that end with one substring and hang on another. It fits a line of the processor's cache, and many have
/// but one lineage.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Chain {
    /// The nearest substring above, or `NONE`: then it is looked at in any case.
    pub(super) above: NodeId,
    /// Its place in the list of its substring.
    pub(super) place: u32,
    pub(super) first: Link,
    pub(super) more: Vec<Link>,
}

/// A chain in the list of its substring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    pub(super) above: NodeId,
    pub(super) chain: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) node: NodeId,
    pub(super) above: NodeId,
    pub(super) chain: u32,
}

/// All chains.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    pub(super) chains: Vec<Chain>,
    pub(super) index: HashTable<Entry>,
    pub(super) free: Vec<u32>,
}

impl Chains {
    /// The first lineage of a chain, and the others.
    #[inline]
    pub(super) fn links(&self, chain: u32) -> (&Link, &[Link]) {
        let chain = &self.chains[chain as usize];
        (&chain.first, &chain.more)
    }

    pub(super) fn link(&mut self, chain: u32, place: u32) -> &mut Link {
        let chain = &mut self.chains[chain as usize];
        if place == 0 { &mut chain.first } else { &mut chain.more[place as usize - 1] }
    }

    /// The chain of a substring that hangs on another, if there is one.
    #[inline]
    pub(super) fn find(&self, node: NodeId, above: NodeId) -> Option<u32> {
        let is = |entry: &Entry| entry.node == node && entry.above == above;
        self.index.find(hash(node, NameId(above)), is).map(|entry| entry.chain)
    }

    pub(super) fn add(&mut self, node: NodeId, chain: Chain) -> u32 {
        let above = chain.above;
        let at = numbered::put(&mut self.chains, &mut self.free, chain);
        let entry = Entry { node, above, chain: at };
        let key = |entry: &Entry| hash(entry.node, NameId(entry.above));
        self.index.insert_unique(key(&entry), entry, key);
        at
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let links: usize = self.chains.iter().map(|chain| chain.more.capacity()).sum();
        links * size_of::<Link>()
            + self.chains.capacity() * size_of::<Chain>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<u32>()
    }
}
