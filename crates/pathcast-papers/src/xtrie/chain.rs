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

use super::lineage::Link;
use super::numbered;
use super::table::NONE;
use super::trie::{NodeId, Trie, hash};
use pathcast_core::names::NameId;

/// The lineages that end with one substring and hang on another. It fits a line of the processor's cache, and many have
/// but one lineage.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Chain {
    /// The nearest substring above, or `NONE`: then it is looked at in any case.
    above: NodeId,
    /// Its place in the list of its substring.
    place: u32,
    first: Link,
    more: Vec<Link>,
}

/// A chain in the list of its substring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    pub(super) above: NodeId,
    pub(super) chain: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    node: NodeId,
    above: NodeId,
    chain: u32,
}

/// All chains.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    chains: Vec<Chain>,
    index: HashTable<Entry>,
    free: Vec<u32>,
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

    fn add(&mut self, node: NodeId, chain: Chain) -> u32 {
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

impl Trie {
    /// Adds a lineage to the chain of its substring and the one above; the chain, and its place there.
    pub(super) fn enchain(&mut self, node: NodeId, above: NodeId, link: Link) -> (u32, u32) {
        if let Some(chain) = self.chains.find(node, above) {
            let more = &mut self.chains.chains[chain as usize].more;
            more.push(link);
            return (chain, more.len() as u32);
        }
        let hooks = &mut self.nodes[node as usize].chains;
        if hooks.is_empty() {
            hooks.reserve_exact(1); // most substrings have one, and room for four would cost more
        }
        let place = hooks.len() as u32;
        let chain = self.chains.add(node, Chain { above, place, first: link, more: Vec::new() });
        hooks.push(Hook { above, chain });
        if above != NONE {
            self.nodes[above as usize].hung += 1;
        }
        (chain, 0)
    }

    /// Takes a lineage off a chain of its substring; the one that takes its place, if any.
    pub(super) fn unchain(&mut self, node: NodeId, chain: u32, place: u32) -> Option<u32> {
        let Chain { above, place: hook, ref mut first, ref mut more } = self.chains.chains[chain as usize];
        if let Some(last) = more.pop() {
            let gap = if place == 0 { Some(first) } else { more.get_mut(place as usize - 1) };
            let moved = gap.map(|gap| std::mem::replace(gap, last)).map(|_| last.lineage);
            if more.capacity() > 4 * more.len() + 16 {
                more.shrink_to(2 * more.len());
            }
            return moved;
        }
        *more = Vec::new();
        let is = |entry: &Entry| entry.chain == chain;
        if let Ok(entry) = self.chains.index.find_entry(hash(node, NameId(above)), is) {
            entry.remove();
        }
        let hooks = &mut self.nodes[node as usize].chains;
        hooks.swap_remove(hook as usize);
        if hooks.capacity() > 4 * hooks.len() + 16 {
            hooks.shrink_to(2 * hooks.len());
        }
        if let Some(moved) = hooks.get(hook as usize) {
            self.chains.chains[moved.chain as usize].place = hook;
        }
        if above != NONE {
            self.nodes[above as usize].hung -= 1;
        }
        self.chains.free.push(chain);
        None
    }

    /// The lineages that end with a substring.
    #[cfg(test)]
    pub(super) fn lineages(&self, node: NodeId) -> impl Iterator<Item = u32> + '_ {
        let hooks = self.nodes[node as usize].chains.iter();
        let links = |hook: &Hook| {
            let (first, more) = self.chains.links(hook.chain);
            std::iter::once(first).chain(more)
        };
        hooks.flat_map(links).map(|link| link.lineage)
    }

    /// Whether every chain is where it says it is, and substrings know what hangs on them.
    #[cfg(test)]
    pub(super) fn chains_are_sound(&self) -> bool {
        let mut hung = vec![0; self.nodes.len()];
        let mut count = 0;
        for (node, each) in (0..).zip(&self.nodes) {
            for (place, hook) in (0..).zip(&each.chains) {
                let chain = &self.chains.chains[hook.chain as usize];
                let (above, found) = (chain.above, self.chains.find(node, chain.above));
                if (chain.place, above, found) != (place, hook.above, Some(hook.chain)) {
                    return false;
                }
                if above != NONE {
                    hung[above as usize] += 1;
                }
                count += 1;
            }
        }
        count == self.chains.index.len()
            && count + self.chains.free.len() == self.chains.chains.len()
            && self.nodes.iter().zip(hung).all(|(node, hung)| node.hung == hung)
    }
}
