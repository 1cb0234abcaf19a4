//! Linear paths with a common beginning stored once, searched from both sides.
//!
//! [`Trie::covering`] asks which stored paths cover a given one: it follows only edges whose name the given path has,
//! with one row of places ([`super::word`]) for all paths that begin alike, and leaves a subtree all of whose paths
//! need a name that the given one does not have further down. [`Trie::covered`] asks which stored paths a given one covers: it walks down
//! the stored paths and keeps, for each node on the way, which elements of the given path may stand there. A subtree
//! is left out when a name that is still missing does not occur in it, or when no level below is near enough. Names
//! are sets of 128 bits at every edge, so both searches visit little more than what they find.
//!
//! The bits of an edge are those of all paths that ever went over it; they are forgotten when the edge is.

use super::Handle;
use super::word::{Row, Word, accepts};
use crate::names::Names;
use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

type NodeId = u32;

/// Edges that are looked through one by one.
const FEW: usize = 4;

/// A path that ends at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terminal {
    tail: Tail,
    handle: Handle,
}

/// What a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A path that an expression needs.
    Needed,
    /// A path that an expression has.
    Had,
    /// The expression is this path.
    Both,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Sorted by name, then gap.
    edges: Vec<Edge>,
    /// Paths that expressions need.
    needed: Vec<Terminal>,
    /// Paths that expressions have.
    had: Vec<Terminal>,
}

/// A step to a node, with what is known of all below it, so that most nodes need not be looked at.
#[derive(Clone, Copy, Debug)]
struct Edge {
    step: LinearStep,
    child: NodeId,
    /// The names of all edges below the child.
    below: u128,
    /// The names that every needed path has below the child; all names if there is none.
    required: u128,
    /// The names that come first there on needed paths; all names if one ends at the child.
    next: u128,
}

impl Node {
    fn is_empty(&self) -> bool {
        self.edges.is_empty() && self.needed.is_empty() && self.had.is_empty()
    }
}

fn take(terminals: &mut Vec<Terminal>, gone: Terminal) {
    if let Some(at) = terminals.iter().position(|terminal| *terminal == gone) {
        terminals.swap_remove(at);
    }
}

/// Linear paths.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
}

impl Default for Trie {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], free: Vec::new() }
    }
}

fn order(step: &LinearStep) -> (NameTest, u32, bool) {
    (step.name, step.min, step.exact)
}

/// A name as one of 128 bits, and what stands for many names as all of them.
pub(super) fn bits(name: NameTest) -> u128 {
    match bit(name) {
        0 => u128::MAX,
        one => one,
    }
}

/// A name as one of 128 bits.
pub(super) fn bit(name: NameTest) -> u128 {
    match name {
        NameTest::Name(id) => 1 << (id.0 % 128),
        NameTest::Any | NameTest::Partial(_) => 0,
    }
}

impl Trie {
    /// Stores a path.
    pub(super) fn insert(&mut self, path: &LinearPath, handle: Handle, role: Role) {
        let mut node = 0;
        for (at, step) in path.steps.iter().enumerate() {
            let rest = &path.steps[at + 1..];
            let later = rest.iter().fold(0, |bits, step| bits | bit(step.name));
            let next = rest.first().map_or(u128::MAX, |step| bits(step.name));
            let found = self.nodes[node].edges.binary_search_by_key(&order(step), |edge| order(&edge.step));
            let place = match found {
                Ok(place) => place,
                Err(place) => {
                    let child = self.free.pop().unwrap_or_else(|| {
                        self.nodes.push(Node::default());
                        (self.nodes.len() - 1) as NodeId
                    });
                    let edge = Edge { step: *step, child, below: 0, required: u128::MAX, next: 0 };
                    self.nodes[node].edges.insert(place, edge);
                    place
                }
            };
            let edge = &mut self.nodes[node].edges[place];
            edge.below |= later;
            if role != Role::Had {
                edge.required &= later;
                edge.next |= next;
            }
            node = edge.child as usize;
        }
        let terminal = Terminal { tail: path.tail, handle };
        let place = &mut self.nodes[node];
        if role != Role::Had {
            place.needed.push(terminal);
        }
        if role != Role::Needed {
            place.had.push(terminal);
        }
    }

    /// Takes out what was stored with the same arguments.
    pub(super) fn remove(&mut self, path: &LinearPath, handle: Handle, role: Role) {
        let mut way = Vec::with_capacity(path.steps.len());
        let mut node = 0;
        for step in &path.steps {
            let found = self.nodes[node].edges.binary_search_by_key(&order(step), |edge| order(&edge.step));
            let Ok(edge) = found else { return };
            way.push((node, edge));
            node = self.nodes[node].edges[edge].child as usize;
        }
        let gone = Terminal { tail: path.tail, handle };
        let place = &mut self.nodes[node];
        if role != Role::Had {
            take(&mut place.needed, gone);
        }
        if role != Role::Needed {
            take(&mut place.had, gone);
        }
        while let Some((above, edge)) = way.pop() {
            if !self.nodes[node].is_empty() {
                return;
            }
            self.nodes[node] = Node::default();
            self.free.push(node as NodeId);
            self.nodes[above].edges.remove(edge);
            node = above;
        }
    }

    /// Gives the expressions whose needed path covers the word, until `visit` says that it is enough.
    pub(super) fn covering(&self, word: &Word, names: &Names, visit: &mut impl FnMut(Handle) -> bool) {
        self.cover_from(0, u128::MAX, &word.start(), word, names, visit);
    }

    #[allow(clippy::too_many_arguments, reason = "one step of a recursion")]
    fn cover_from(
        &self,
        id: NodeId,
        next: u128,
        row: &Row,
        word: &Word,
        names: &Names,
        visit: &mut impl FnMut(Handle) -> bool,
    ) -> bool {
        let node = &self.nodes[id as usize];
        for terminal in &node.needed {
            if word.ends(row, terminal.tail, names) && visit(terminal.handle) {
                return true;
            }
        }
        // Only places below the first one can be next.
        let later = word.later(row) & next;
        if node.edges.len() <= FEW {
            return node.edges.iter().any(|edge| {
                bits(edge.step.name) & later != 0
                    && word
                        .accepted(edge.step.name)
                        .is_some_and(|accepted| self.follow(edge, accepted, row, word, names, visit))
            });
        }
        let mut tests = word.tests.iter().filter(|(test, _)| bits(*test) & later != 0);
        tests.any(|(test, accepted)| {
            let from = node.edges.partition_point(|edge| edge.step.name < *test);
            let mut named = node.edges[from..].iter().take_while(|edge| edge.step.name == *test);
            named.any(|edge| self.follow(edge, accepted, row, word, names, visit))
        })
    }

    #[allow(clippy::too_many_arguments, reason = "one step of a recursion")]
    fn follow(
        &self,
        edge: &Edge,
        accepted: &Row,
        row: &Row,
        word: &Word,
        names: &Names,
        visit: &mut impl FnMut(Handle) -> bool,
    ) -> bool {
        if edge.required & !word.later(row) != 0 {
            return false;
        }
        let next = word.step(row, edge.step.min, edge.step.exact, accepted);
        let later = word.later(&next);
        !next.is_empty()
            && edge.required & !later == 0
            && (edge.next == u128::MAX || edge.next & later != 0)
            && self.cover_from(edge.child, edge.next, &next, word, names, visit)
    }

    /// Gives the expressions that have a path which `general` covers, until `visit` says that it is enough.
    pub(super) fn covered(
        &self,
        general: &LinearPath,
        names: &Names,
        visit: &mut impl FnMut(Handle) -> bool,
    ) {
        let mut missing = vec![0; general.steps.len() + 1];
        for (at, step) in general.steps.iter().enumerate().rev() {
            missing[at] = missing[at + 1] | bit(step.name);
        }
        let mut start = Row::default();
        start.insert(0);
        let mut first = vec![u32::MAX; general.steps.len() + 1];
        first[0] = 0;
        let root = Frame { level: 0, open: 0, row: start, reached: 0 };
        Descent { trie: self, general, names, missing, first, frames: vec![root] }.walk(0, visit);
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.nodes[0].is_empty()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self
                .nodes
                .iter()
                .map(|node| {
                    node.edges.capacity() * size_of::<Edge>()
                        + (node.needed.capacity() + node.had.capacity()) * 24
                })
                .sum::<usize>()
    }
}

/// A node on the way down.
struct Frame {
    level: u32,
    /// Open gaps above.
    open: u32,
    /// Which elements of the general path may stand here; 0 is the document node.
    row: Row,
    /// The last element that may stand on the way.
    reached: usize,
}

struct Descent<'a> {
    trie: &'a Trie,
    general: &'a LinearPath,
    names: &'a Names,
    /// By element: the names of the elements after it.
    missing: Vec<u128>,
    /// By element: the first level on the way at which it may stand; the largest number is none.
    first: Vec<u32>,
    frames: Vec<Frame>,
}

impl Descent<'_> {
    fn walk(&mut self, id: NodeId, visit: &mut impl FnMut(Handle) -> bool) -> bool {
        let trie = self.trie;
        let node = &trie.nodes[id as usize];
        let found = self.first[self.general.steps.len()];
        if found != u32::MAX {
            for terminal in &node.had {
                if self.ends(found, terminal.tail) && visit(terminal.handle) {
                    return true;
                }
            }
        }
        let Some(missing) = self.missing() else { return false };
        for edge in &node.edges {
            // A name that nobody on the way has met must be met at the child or below it.
            if (edge.below | bit(edge.step.name)) & missing != missing {
                continue;
            }
            let frame = self.frame(&edge.step);
            for element in frame.row.iter() {
                self.first[element] = self.first[element].min(frame.level);
            }
            let level = frame.level;
            self.frames.push(frame);
            let goes_on = self.missing().is_some_and(|missing| edge.below & missing == missing);
            if goes_on && self.walk(edge.child, visit) {
                return true;
            }
            if let Some(frame) = self.frames.pop() {
                for element in frame.row.iter() {
                    if self.first[element] == level {
                        self.first[element] = u32::MAX;
                    }
                }
            }
        }
        false
    }

    /// The names that must occur below, nothing if no other element can be placed there: one behind an at-least gap
    /// always can, one behind an exact gap only as long as its level has not been passed.
    fn missing(&self) -> Option<u128> {
        let steps = &self.general.steps;
        if self.first[steps.len()] != u32::MAX {
            return Some(0);
        }
        let last = &self.frames[self.frames.len() - 1];
        // The further the element, the less is missing behind it.
        let next = (0..=last.reached).rev().find(|&at| {
            let step = &steps[at];
            if !step.exact {
                return self.first[at] != u32::MAX;
            }
            self.frames
                .iter()
                .rev()
                .take_while(|above| above.open == last.open && above.level + step.min > last.level)
                .any(|above| above.row.contains(at))
        })?;
        Some(self.missing[next])
    }

    fn frame(&self, edge: &LinearStep) -> Frame {
        let last = &self.frames[self.frames.len() - 1];
        let level = last.level + edge.min;
        let open = last.open + u32::from(!edge.exact);
        let mut frame = Frame { level, open, row: Row::default(), reached: last.reached };
        for (at, step) in self.general.steps.iter().enumerate().take(last.reached + 1) {
            if level < step.min || !accepts(step.name, edge.name, self.names) {
                continue;
            }
            let target = level - step.min;
            let fits = if step.exact {
                self.frames
                    .iter()
                    .rev()
                    .take_while(|above| above.open == open && above.level >= target)
                    .any(|above| above.level == target && above.row.contains(at))
            } else {
                self.first[at] <= target
            };
            if fits {
                frame.row.insert(at + 1);
                frame.reached = frame.reached.max(at + 1);
            }
        }
        frame
    }

    /// Whether a stored path that ends here has what the general path ends in; `first` is the first level at which
    /// the last element of the general path may stand.
    fn ends(&self, first: u32, tail: Tail) -> bool {
        let last = &self.frames[self.frames.len() - 1];
        match self.general.tail {
            Tail::End => true,
            Tail::Wild(levels) => {
                let depth = last.level
                    + match tail {
                        Tail::End => 0,
                        Tail::Wild(more) | Tail::Attribute { min: more, .. } => more,
                    };
                depth - first >= levels
            }
            Tail::Attribute { min, exact, name } => {
                let Tail::Attribute { min: more, exact: exactly, name: known } = tail else { return false };
                if !accepts(name, known, self.names) {
                    return false;
                }
                let level = last.level + more;
                if !exact {
                    return level - first >= min;
                }
                exactly
                    && self.frames.iter().any(|above| {
                        above.open == last.open
                            && above.level + min == level
                            && above.row.contains(self.general.steps.len())
                    })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameId;

    fn path(names: &[u32], tail: Tail) -> LinearPath {
        let steps =
            names.iter().map(|&id| LinearStep { min: 1, exact: true, name: NameTest::Name(NameId(id)) });
        LinearPath { steps: steps.collect(), tail }
    }

    #[test]
    fn what_was_stored_is_taken_out_again() {
        let mut trie = Trie::default();
        let stored = [
            (path(&[1, 2], Tail::End), Role::Both),
            (path(&[1, 2, 3], Tail::Wild(2)), Role::Needed),
            (path(&[1, 2, 3], Tail::End), Role::Had),
            (path(&[4], Tail::End), Role::Needed),
        ];
        for (handle, (path, role)) in stored.iter().enumerate() {
            trie.insert(path, handle as Handle, *role);
        }
        let mut found = Vec::new();
        let general = path(&[1, 2], Tail::End);
        trie.covered(&general, &Names::default(), &mut |handle| {
            found.push(handle);
            false
        });
        assert_eq!(found, [0, 2]);
        for (handle, (path, role)) in stored.iter().enumerate() {
            assert!(!trie.is_empty());
            trie.remove(path, handle as Handle, *role);
        }
        assert!(trie.is_empty());
    }
}
