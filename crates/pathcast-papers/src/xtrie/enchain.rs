//! How lineages join and leave the chains of a trie.

use super::chain::{Chain, Entry, Hook};
use super::link::Link;
use super::node::{NONE, NodeId, hash};
use super::trie::Trie;
use pathcast_core::names::NameId;

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
