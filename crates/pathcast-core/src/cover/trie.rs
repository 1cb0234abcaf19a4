//! Linear paths with a common beginning stored once, searched from both sides.
//!
//! [`Trie::covering`] asks which stored paths cover a given one: it follows only edges whose name the given path has,
//! with one row of places ([`super::word`]) for all paths that begin alike. [`Trie::covered`] asks which stored paths a
//! given one covers: it walks down the stored paths and keeps, for each node on the way, which elements of the
//! given path may stand there. A subtree is left out when a name that is still missing does not occur in it, which a
//! set of 128 bits at every node says; so both searches visit little more than what they find.
//!
//! The bits of a node are those of all paths that were ever below it; they are forgotten when the node is.

use super::Handle;
use super::word::{Row, Word, accepts};
use crate::names::Names;
use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

type NodeId = u32;

/// A path that ends at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terminal {
    tail: Tail,
    handle: Handle,
    role: Role,
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
    edges: Vec<(LinearStep, NodeId)>,
    terminals: Vec<Terminal>,
    /// The names of all edges below.
    below: u128,
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

fn bit(name: NameTest) -> u128 {
    match name {
        NameTest::Name(id) => 1 << (id.0 % 128),
        NameTest::Any | NameTest::Namespace(_) => 0,
    }
}

impl Trie {
    pub(super) fn insert(&mut self, path: &LinearPath, handle: Handle, role: Role) {
        let mut node = 0;
        let mut later: u128 = path.steps.iter().fold(0, |bits, step| bits | bit(step.name));
        for (at, step) in path.steps.iter().enumerate() {
            self.nodes[node].below |= later;
            later = path.steps[at + 1..].iter().fold(0, |bits, step| bits | bit(step.name));
            let found = self.nodes[node].edges.binary_search_by_key(&order(step), |(edge, _)| order(edge));
            node = match found {
                Ok(edge) => self.nodes[node].edges[edge].1 as usize,
                Err(edge) => {
                    let child = self.free.pop().unwrap_or_else(|| {
                        self.nodes.push(Node::default());
                        (self.nodes.len() - 1) as NodeId
                    });
                    self.nodes[node].edges.insert(edge, (*step, child));
                    child as usize
                }
            };
        }
        self.nodes[node].terminals.push(Terminal { tail: path.tail, handle, role });
    }

    pub(super) fn remove(&mut self, path: &LinearPath, handle: Handle, role: Role) {
        let mut way = Vec::with_capacity(path.steps.len());
        let mut node = 0;
        for step in &path.steps {
            let found = self.nodes[node].edges.binary_search_by_key(&order(step), |(edge, _)| order(edge));
            let Ok(edge) = found else { return };
            way.push((node, edge));
            node = self.nodes[node].edges[edge].1 as usize;
        }
        let gone = Terminal { tail: path.tail, handle, role };
        if let Some(at) = self.nodes[node].terminals.iter().position(|terminal| *terminal == gone) {
            self.nodes[node].terminals.swap_remove(at);
        }
        while let Some((above, edge)) = way.pop() {
            if !self.nodes[node].terminals.is_empty() || !self.nodes[node].edges.is_empty() {
                return;
            }
            self.nodes[node] = Node::default();
            self.free.push(node as NodeId);
            self.nodes[above].edges.remove(edge);
            node = above;
        }
        if self.nodes[0].edges.is_empty() {
            self.nodes[0].below = 0;
        }
    }

    /// Gives the expressions whose needed path covers the word, until `visit` says that it is enough.
    pub(super) fn covering(&self, word: &Word, names: &Names, visit: &mut impl FnMut(Handle) -> bool) {
        self.cover_from(0, &word.start(), word, names, visit);
    }

    fn cover_from(
        &self,
        node: NodeId,
        row: &Row,
        word: &Word,
        names: &Names,
        visit: &mut impl FnMut(Handle) -> bool,
    ) -> bool {
        let node = &self.nodes[node as usize];
        for terminal in &node.terminals {
            if terminal.role != Role::Had && word.ends(row, terminal.tail, names) && visit(terminal.handle) {
                return true;
            }
        }
        word.tests.iter().any(|(test, accepted)| {
            let from = node.edges.partition_point(|(edge, _)| edge.name < *test);
            node.edges[from..].iter().take_while(|(edge, _)| edge.name == *test).any(|(edge, child)| {
                let next = word.step(row, edge.min, edge.exact, accepted);
                !next.is_empty() && self.cover_from(*child, &next, word, names, visit)
            })
        })
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
        let root = Frame { level: 0, open: 0, row: start, first: vec![(0, 0)], reached: 0 };
        Descent { trie: self, general, names, missing, frames: vec![root] }.walk(0, visit);
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.nodes[0].edges.is_empty() && self.nodes[0].terminals.is_empty()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self
                .nodes
                .iter()
                .map(|node| node.edges.capacity() * 16 + node.terminals.capacity() * 24)
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
    /// By element that may stand on the way: the first level at which it may, ascending by element.
    first: Vec<(usize, u32)>,
    /// The last element that may stand on the way.
    reached: usize,
}

impl Frame {
    fn first_level(&self, element: usize) -> Option<u32> {
        let at = self.first.binary_search_by_key(&element, |(element, _)| *element).ok()?;
        Some(self.first[at].1)
    }
}

struct Descent<'a> {
    trie: &'a Trie,
    general: &'a LinearPath,
    names: &'a Names,
    /// By element: the names of the elements after it.
    missing: Vec<u128>,
    frames: Vec<Frame>,
}

impl Descent<'_> {
    fn walk(&mut self, node: NodeId, visit: &mut impl FnMut(Handle) -> bool) -> bool {
        let trie = self.trie;
        let node = &trie.nodes[node as usize];
        let last = &self.frames[self.frames.len() - 1];
        let found = last.first_level(self.general.steps.len());
        if let Some(first) = found {
            for terminal in &node.terminals {
                if terminal.role != Role::Needed && self.ends(first, terminal.tail) && visit(terminal.handle)
                {
                    return true;
                }
            }
        }
        // An at-least gap may be met by any later element again, so only what nobody has met is missing.
        if node.below & self.missing[last.reached] != self.missing[last.reached] {
            return false;
        }
        for (edge, child) in &node.edges {
            let frame = self.frame(edge);
            self.frames.push(frame);
            if self.walk(*child, visit) {
                return true;
            }
            self.frames.pop();
        }
        false
    }

    fn frame(&self, edge: &LinearStep) -> Frame {
        let last = &self.frames[self.frames.len() - 1];
        let level = last.level + edge.min;
        let open = last.open + u32::from(!edge.exact);
        let mut frame =
            Frame { level, open, row: Row::default(), first: last.first.clone(), reached: last.reached };
        for (at, step) in self.general.steps.iter().enumerate().take(last.reached + 1) {
            if !accepts(step.name, edge.name, self.names) || level < step.min {
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
                last.first_level(at).is_some_and(|first| first <= target)
            };
            if fits {
                frame.row.insert(at + 1);
                if frame.first_level(at + 1).is_none() {
                    let place = frame.first.partition_point(|(element, _)| *element < at + 1);
                    frame.first.insert(place, (at + 1, level));
                }
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
