//! Which sequences of keywords were found on the way from the root to here, and how that is undone at an end tag.
//!
//! A sequence is *reached* when its last keyword ends below the place where the sequence before was reached. The
//! earliest end of a keyword leaves the most room for those that follow, so one depth for each sequence is enough.
//! The paper counts the symbols since a frontier was moved, so that two keywords do not share symbols. Here the count
//! is the difference of two depths, and nothing is counted up.

use super::sequences::{NodeId, ROOT, Sequences};
use super::trie::{NONE, StateId};

/// How the output tuples of a state are looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// All tuples of the state, also those that are not waited for.
    #[default]
    Scanned,
    /// Only tuples that are waited for: the lists change whenever a sequence is reached, and at its end tag.
    Updated,
}

/// What was found of all paths of several keywords in one document.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    /// By sequence: the depth at which it was reached; `NONE` when it is not.
    reached: Vec<u32>,
    /// By sequence: the document that last found the path that it is.
    found_in: Vec<u32>,
    document: u32,
    /// Sequences in the order in which they were reached.
    moves: Vec<NodeId>,
    /// Sequences whose path was found, each once.
    found: Vec<NodeId>,
    lists: Option<Lists>,
}

impl Frontier {
    /// Only the empty sequence is reached.
    pub(super) fn new(sequences: &Sequences, states: usize, output: Output) -> Self {
        let nodes = sequences.nodes.len();
        let mut frontier = Self {
            reached: vec![NONE; nodes],
            found_in: vec![0; nodes],
            lists: (output == Output::Updated).then(|| Lists::new(states, nodes)),
            ..Self::default()
        };
        frontier.reached[ROOT as usize] = 0;
        if let Some(lists) = &mut frontier.lists {
            sequences.children(ROOT).for_each(|node| lists.link(node, sequences));
        }
        frontier
    }

    /// Undoes the document before, also one that broke off.
    pub(super) fn begin(&mut self, sequences: &Sequences) {
        self.undo(sequences, 0);
        for node in self.found.drain(..) {
            // Those that are at an end were not waited for any more; below others they are linked when needed.
            if let Some(lists) = &mut self.lists
                && is_end(sequences, node)
                && sequences.nodes[node as usize].parent == ROOT
            {
                lists.link(node, sequences);
            }
        }
        self.document = self.document.wrapping_add(1);
        if self.document == 0 {
            self.found_in.fill(0);
            self.document = 1;
        }
    }

    /// How many sequences have been reached on the way to here.
    pub(super) fn mark(&self) -> usize {
        self.moves.len()
    }

    /// The sequences found so far.
    pub(super) fn found(&self) -> &[NodeId] {
        &self.found
    }

    /// Goes on with every sequence that waits for a keyword which ends here, `depth` symbols from the start. `first` is
    /// the first of the state's tuples.
    pub(super) fn meet(
        &mut self,
        sequences: &Sequences,
        state: StateId,
        length: u32,
        first: NodeId,
        depth: u32,
    ) {
        let mut at = match &self.lists {
            Some(lists) => lists.heads[state as usize],
            None => first,
        };
        while at != NONE {
            let node = &sequences.nodes[at as usize];
            let next = match &self.lists {
                Some(lists) => lists.arcs[at as usize].0,
                None => node.next,
            };
            let before = self.reached[node.parent as usize];
            if before != NONE && depth - before >= length && self.waits(sequences, at) {
                self.reach(sequences, at, depth);
            }
            at = next;
        }
    }

    /// Whether reaching a sequence would be news.
    fn waits(&self, sequences: &Sequences, node: NodeId) -> bool {
        let done = self.found_in[node as usize] == self.document && is_end(sequences, node);
        self.reached[node as usize] == NONE && !done
    }

    fn reach(&mut self, sequences: &Sequences, node: NodeId, depth: u32) {
        if sequences.nodes[node as usize].path != NONE && self.found_in[node as usize] != self.document {
            self.found_in[node as usize] = self.document;
            self.found.push(node);
        }
        if let Some(lists) = &mut self.lists {
            lists.unlink(node, sequences);
        }
        if is_end(sequences, node) {
            return;
        }
        self.reached[node as usize] = depth;
        self.moves.push(node);
        for child in sequences.children(node) {
            let done = self.found_in[child as usize] == self.document && is_end(sequences, child);
            if let Some(lists) = &mut self.lists
                && !done
            {
                lists.link(child, sequences);
            }
        }
    }

    /// Undoes what was reached after a mark; what was found stays found.
    pub(super) fn undo(&mut self, sequences: &Sequences, mark: usize) {
        while self.moves.len() > mark
            && let Some(node) = self.moves.pop()
        {
            self.reached[node as usize] = NONE;
            let Some(lists) = &mut self.lists else { continue };
            // Those below were reached later and are undone, so they wait, unless they are done with.
            for child in sequences.children(node) {
                if self.found_in[child as usize] != self.document || !is_end(sequences, child) {
                    lists.unlink(child, sequences);
                }
            }
            lists.link(node, sequences);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.lists.as_ref().map_or(0, |lists| lists.heads.len() * 4 + lists.arcs.len() * 8);
        lists + self.reached.capacity() * 8 + (self.moves.capacity() + self.found.capacity()) * 4
    }
}

/// Whether no path goes on from a sequence.
fn is_end(sequences: &Sequences, node: NodeId) -> bool {
    sequences.nodes[node as usize].first_child == NONE
}

/// The sequences that are waited for, one list for each state.
#[derive(Debug)]
struct Lists {
    heads: Vec<NodeId>,
    /// By sequence: the one after and the one before.
    arcs: Vec<(NodeId, NodeId)>,
}

impl Lists {
    fn new(states: usize, nodes: usize) -> Self {
        Self { heads: vec![NONE; states], arcs: vec![(NONE, NONE); nodes] }
    }

    fn link(&mut self, node: NodeId, sequences: &Sequences) {
        let state = sequences.nodes[node as usize].state as usize;
        let next = std::mem::replace(&mut self.heads[state], node);
        self.arcs[node as usize] = (next, NONE);
        if next != NONE {
            self.arcs[next as usize].1 = node;
        }
    }

    fn unlink(&mut self, node: NodeId, sequences: &Sequences) {
        let (next, before) = self.arcs[node as usize];
        if before == NONE {
            self.heads[sequences.nodes[node as usize].state as usize] = next;
        } else {
            self.arcs[before as usize].0 = next;
        }
        if next != NONE {
            self.arcs[next as usize].1 = before;
        }
    }
}
