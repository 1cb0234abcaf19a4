//! The trie and the substring-table as they are, to be looked at and compared.

use super::levels::Gap;
use super::node::{NONE, NodeId, ROOT, Special};
use super::pattern::Mode;
use super::shared::{Variant, XTrie};
use pathcast_core::engine::PathId;
use pathcast_core::names::NameId;

/// A node of the trie; nodes are numbered from 1 on, breadth first, the root is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// The parent; 0 for the root and for nodes off the trie.
    pub parent: usize,
    /// The name on the edge to it.
    pub name: Option<NameId>,
    /// What it stands for when it is off the trie.
    pub special: Option<Special>,
    /// The first row of its substring; 0 for none.
    pub substring: usize,
    /// The max-suffix pointer.
    pub max_suffix: usize,
}

/// A row of the substring-table; rows are numbered from 1 on, pattern by pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowView {
    /// The pattern.
    pub pattern: PathId,
    /// The node of its substring; 0 for a dummy.
    pub node: usize,
    /// The parent row; 0 for none.
    pub parent: usize,
    /// Its level relative to the parent row.
    pub gap: Gap,
    /// Its place among the children of the parent row.
    pub rank: u32,
    /// How many rows it is the parent of.
    pub children: u32,
    /// How these go together.
    pub mode: Mode,
    /// The next row of the same substring; 0 for none.
    pub next: usize,
}

/// Both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The trie.
    pub nodes: Vec<NodeView>,
    /// The substring-table.
    pub rows: Vec<RowView>,
    /// Places in the reversed trie, its top included.
    pub reversed: usize,
    /// Ways from the document node that rows share.
    pub lineages: usize,
}

impl XTrie {
    /// The trie and the table. Numbers are given anew, by content: equal sets of patterns have equal views, in whatever
    /// order the patterns came and went. Chains are listed by row number.
    pub fn view(&self) -> View {
        let order = self.in_order();
        let mut numbers = vec![0; self.trie.nodes.len()];
        for (number, &node) in (1..).zip(&order) {
            numbers[node as usize] = number;
        }
        let number = |node: NodeId| if node == NONE { 0 } else { numbers[node as usize] };
        let mut rows = Vec::new();
        for pattern in (0..self.table.pattern_bound() as u32).map(PathId) {
            let before = rows.len() + 1;
            let range = self.table.rows_of(pattern);
            for at in range.clone() {
                let row = self.table.row(at);
                let lineage = self.table.lineages.get(row.lineage);
                rows.push(RowView {
                    pattern,
                    node: number(lineage.node),
                    parent: if row.parent == NONE { 0 } else { (row.parent - range.start) as usize + before },
                    gap: lineage.gap,
                    rank: row.rank,
                    children: row.children,
                    mode: row.mode,
                    next: 0,
                });
            }
            if let Some(path) = self.table.path(pattern) {
                let parent =
                    |&at: &u32| Some(self.table.lineages.get(at).parent).filter(|&each| each != NONE);
                let mut way: Vec<u32> = std::iter::successors(Some(path.lineage), parent).collect();
                way.reverse();
                for (at, &lineage) in way.iter().enumerate() {
                    let lineage = self.table.lineages.get(lineage);
                    rows.push(RowView {
                        pattern,
                        node: number(lineage.node),
                        parent: if at == 0 { 0 } else { before + at - 1 },
                        gap: lineage.gap,
                        rank: 1,
                        children: u32::from(at + 1 < way.len()),
                        mode: Mode::All,
                        next: 0,
                    });
                }
            }
        }
        let mut first = vec![0; order.len() + 1];
        let leaves_only = self.options.variant == Variant::Lazy;
        for at in (0..rows.len()).rev() {
            if rows[at].node > 0 && (!leaves_only || rows[at].children == 0 || rows[at].mode == Mode::Not) {
                rows[at].next = std::mem::replace(&mut first[rows[at].node], at + 1);
            }
        }
        let nodes = order
            .iter()
            .map(|&node| {
                let each = &self.trie.nodes[node as usize];
                let has_parent = node != ROOT && each.special.is_none();
                NodeView {
                    parent: if has_parent { numbers[each.parent as usize] } else { 0 },
                    name: each.name,
                    special: each.special,
                    substring: first[numbers[node as usize]],
                    max_suffix: numbers[each.max_suffix as usize],
                }
            })
            .collect();
        View { nodes, rows, reversed: self.trie.reversed.len(), lineages: self.table.lineages.len() }
    }

    /// The nodes breadth first, by name at each level; those off the trie come last.
    fn in_order(&self) -> Vec<NodeId> {
        let mut children: Vec<Vec<NodeId>> = vec![Vec::new(); self.trie.nodes.len()];
        for (node, each) in (0..).zip(&self.trie.nodes) {
            if each.name.is_some() {
                children[each.parent as usize].push(node);
            }
        }
        let mut order = vec![ROOT];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            let mut next = std::mem::take(&mut children[node as usize]);
            next.sort_by_key(|&child| self.trie.nodes[child as usize].name);
            order.extend(next);
            at += 1;
        }
        let mut specials: Vec<(Special, NodeId)> = self.trie.specials().collect();
        specials.sort_by_key(|(special, _)| match special {
            Special::Any => (0, 0),
            Special::Partial(name) => (1, name.0),
            Special::Attribute(name) => (2, name.0),
            Special::Text => (3, 0),
        });
        order.extend(specials.into_iter().map(|(_, node)| node));
        order
    }

    /// Whether every substring lists exactly the lineages that end with it, each at its place.
    #[cfg(test)]
    pub(super) fn chains_are_sound(&self) -> bool {
        let nodes = || 0..self.trie.nodes.len() as NodeId;
        let listed: usize = nodes().map(|node| self.trie.lineages(node).count()).sum();
        let dummies = (0..self.table.lineages.bound() as u32)
            .filter(|&at| self.table.lineages.get(at).node == NONE)
            .count();
        nodes().all(|node| self.trie.lineages(node).all(|at| self.table.lineages.is_at(at, node)))
            && self.trie.chains_are_sound()
            && listed + dummies >= self.table.lineages.len()
            && self.table.subtrees.is_sound()
    }
}
