//! `predicate-nested`: nested paths as the paper decides them, beside the core's way.
//!
//! A tree is decomposed into a main sub-expression and extended ones, which share a beginning with it: the predicate
//! `(pos, =, v)` says after how many of its steps an extended one branches off, and it may have extended ones itself.
//! All of them are expressions like any other, and those of all trees that are equal are one. When the main one was found
//! in a document and all others too, their matches are compared, from the innermost up: on each path from the root to a
//! leaf, which elements an extended sub-expression can branch off at (a *match vector* cut at `v`), and whether the
//! main one goes through such elements at all its branching positions.
//!
//! The paper wants branches to differ below the branching position; XPath does not, so here they may be one (erratum 12).
//! The paper compares pairs of vectors; here the vectors of a path are sets of positions, one for each step.
//!
//! **Cost.** The document's elements are kept while it is open, with parents, and each tree that gets so far is compared
//! on each leaf: steps times depth.

use hashbrown::HashMap;
use rustc_hash::FxHashSet;

use super::run::Run as Matching;
use super::shared::{Organisation, Predicates};
use crate::branches::{self, Branch};
use crate::hops::{Hop, Symbol};
use pathcast_core::engine::{Capabilities, Content, Engine, Found, PathId, Takes, Trees};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{Condition, LinearPath, LinearStep, NameTest, Tail};
use pathcast_core::reader::StartTag;

/// A sub-expression of a tree.
#[derive(Clone, Debug)]
struct Part {
    /// The number of its path among the expressions.
    path: PathId,
    hops: Box<[Hop]>,
    /// `(pos, =, v)`: how many hops it shares with what it extends.
    shared: usize,
    /// What extends it: after which hop, and which part.
    extended: Vec<(usize, usize)>,
}

/// A tree: extended sub-expressions before what they extend.
#[derive(Clone, Debug)]
struct Tree {
    parts: Vec<Part>,
    /// The main ones: one for each branch at the document node.
    main: Vec<usize>,
}

/// A path among the expressions.
#[derive(Clone, Debug, Default)]
struct Shared {
    path: LinearPath,
    users: u32,
    /// The number under which it was added as a path of its own.
    linear: Option<PathId>,
    /// The trees whose first main sub-expression it is.
    trees: Vec<PathId>,
}

/// Predicates, and the trees over them.
#[derive(Clone, Debug)]
pub struct Nested {
    inner: Predicates,
    numbers: HashMap<LinearPath, PathId>,
    shared: Vec<Shared>,
    free: Vec<PathId>,
    trees: Vec<Option<Tree>>,
    count: usize,
}

impl Default for Nested {
    fn default() -> Self {
        Self {
            inner: Predicates::new(Organisation::FirstPredicates),
            numbers: HashMap::default(),
            shared: Vec::new(),
            free: Vec::new(),
            trees: Vec::new(),
            count: 0,
        }
    }
}

/// What changes while a document runs.
#[derive(Debug, Default)]
pub struct Run {
    matching: Matching,
    /// The elements in document order, each with its parent.
    elements: Vec<(Resolved, u32)>,
    leaves: Vec<u32>,
    open: Vec<u32>,
    at_leaf: bool,
    /// The current leaf's path, and the positions of each hop on it.
    vector: Vec<u32>,
    positions: Vec<Vec<bool>>,
}

impl Nested {
    /// The number of a path, which gets one more user.
    fn share(&mut self, path: LinearPath) -> PathId {
        if let Some(&id) = self.numbers.get(&path) {
            self.shared[id.0 as usize].users += 1;
            return id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.shared.push(Shared::default());
            PathId(self.shared.len() as u32 - 1)
        });
        self.inner.insert(&path, id);
        self.numbers.insert(path.clone(), id);
        self.shared[id.0 as usize] = Shared { path, users: 1, ..Shared::default() };
        id
    }

    fn release(&mut self, id: PathId) {
        let shared = &mut self.shared[id.0 as usize];
        shared.users -= 1;
        if shared.users == 0 {
            let path = std::mem::take(&mut shared.path);
            self.inner.remove(&path, id);
            self.numbers.remove(&path);
            self.free.push(id);
        }
    }

    /// Decomposes what begins at a branch, below hops that are known.
    fn decompose(&mut self, above: &[(Hop, NameTest)], branch: &Branch, parts: &mut Vec<Part>) -> usize {
        let mut steps = above.to_vec();
        let mut extended = Vec::new();
        let mut at = Some(branch);
        while let Some(branch) = at {
            steps.push((branch.hop, branch.name));
            at = branch.below.last();
            for other in branch.below.iter().rev().skip(1) {
                extended.push((steps.len(), self.decompose(&steps, other, parts)));
            }
        }
        let path = self.share(linear(&steps));
        let hops = steps.iter().map(|&(hop, _)| hop).collect();
        parts.push(Part { path, hops, shared: above.len(), extended });
        parts.len() - 1
    }
}

/// Hops as a path in normal form: elements without a name only widen gaps.
fn linear(steps: &[(Hop, NameTest)]) -> LinearPath {
    let mut path = LinearPath::default();
    let (mut min, mut exact) = (0, true);
    for &(hop, name) in steps {
        min += hop.gap.min();
        exact &= hop.gap.exact();
        if name != NameTest::Any {
            path.steps.push(LinearStep { min, exact, name });
            (min, exact) = (0, true);
        }
    }
    if min > 0 {
        path.tail = Tail::Wild(min);
    }
    path
}

/// Whether all is elements that lie below each other.
fn is_plain(branches: &[Branch]) -> bool {
    branches.iter().all(|branch| {
        !branch.hop.symbol.is_attribute() && branch.hop.gap.min() > 0 && is_plain(&branch.below)
    })
}

impl Run {
    fn start(&mut self, element: Resolved) {
        self.open.push(self.elements.len() as u32);
        let parent = self.open.len().checked_sub(2).map_or(u32::MAX, |above| self.open[above]);
        self.elements.push((element, parent));
        self.at_leaf = true;
    }

    fn end(&mut self) {
        if let Some(element) = self.open.pop()
            && std::mem::replace(&mut self.at_leaf, false)
        {
            self.leaves.push(element);
        }
    }

    /// Whether the matches of a tree's sub-expressions meet in the right elements.
    fn compare(&mut self, tree: &Tree) -> bool {
        let mut meeting: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); tree.parts.len()];
        for (at, part) in tree.parts.iter().enumerate() {
            let is_main = tree.main.contains(&at);
            let mut holds = false;
            for leaf in 0..self.leaves.len() {
                if self.place(part, &meeting, leaf) {
                    holds = true;
                    if is_main {
                        break;
                    }
                    self.cut(part, &mut meeting[at]);
                }
            }
            if !holds {
                return false;
            }
        }
        true
    }

    /// Places the hops of a sub-expression on a leaf's path, through elements that its extensions meet in.
    fn place(&mut self, part: &Part, meeting: &[FxHashSet<u32>], leaf: usize) -> bool {
        self.vector.clear();
        let mut at = self.leaves[leaf];
        while at != u32::MAX {
            self.vector.push(at);
            at = self.elements[at as usize].1;
        }
        self.vector.reverse();
        let depth = self.vector.len();
        self.positions.resize_with(self.positions.len().max(part.hops.len() + 1), Vec::new);
        for positions in &mut self.positions[..=part.hops.len()] {
            positions.clear();
            positions.resize(depth + 1, false);
        }
        self.positions[0][0] = true; // the document node
        for (step, hop) in (1..).zip(&part.hops) {
            let (before, after) = self.positions.split_at_mut(step);
            let before = &before[step - 1];
            let Some(first) = before.iter().position(|&is| is) else { return false };
            let min = hop.gap.min() as usize;
            for place in first + min..=depth {
                let reached = if hop.gap.exact() { before[place - min] } else { true };
                let element = self.vector[place - 1];
                after[0][place] = reached
                    && (hop.symbol == Symbol::ANY_ELEMENT
                        || hop.symbol.meets(self.elements[element as usize].0))
                    && part
                        .extended
                        .iter()
                        .filter(|&&(after, _)| after == step)
                        .all(|&(_, extended)| meeting[extended].contains(&element));
            }
        }
        self.positions[part.hops.len()].contains(&true)
    }

    /// The elements in which a sub-expression that was placed branches off.
    fn cut(&mut self, part: &Part, found: &mut FxHashSet<u32>) {
        for step in (part.shared..part.hops.len()).rev() {
            let (before, after) = self.positions.split_at_mut(step + 1);
            let (before, after) = (&mut before[step], &after[0]);
            let Some(last) = after.iter().rposition(|&is| is) else { return };
            let gap = part.hops[step].gap;
            let min = gap.min() as usize;
            for (place, is) in before.iter_mut().enumerate() {
                *is &= if gap.exact() { after.get(place + min) == Some(&true) } else { place + min <= last };
            }
        }
        let cut = self.positions[part.shared].iter().enumerate().skip(1).filter(|&(_, &is)| is);
        found.extend(cut.map(|(place, _)| self.vector[place - 1]));
    }
}

impl Engine for Nested {
    type Run = Run;

    fn new_run(&self, _cache_bytes: usize) -> Run {
        Run::default()
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        let shared = self.share(path.clone());
        self.shared[shared.0 as usize].linear = Some(id);
    }

    fn remove(&mut self, path: &LinearPath, _id: PathId) {
        if let Some(&shared) = self.numbers.get(path) {
            self.shared[shared.0 as usize].linear = None;
            self.release(shared);
        }
    }

    fn takes(&mut self) -> Takes<'_> {
        Takes::Trees(self)
    }

    fn begin(&self, run: &mut Run) {
        self.inner.begin(&mut run.matching);
        run.elements.clear();
        run.leaves.clear();
        run.open.clear();
        run.at_leaf = false;
    }

    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        self.inner.start(&mut run.matching, element, attributes, found);
        if self.count > 0 {
            run.start(element);
        }
    }

    fn end(&self, run: &mut Run) {
        self.inner.end(&mut run.matching);
        run.end();
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        for at in 0..run.matching.found().paths().len() {
            let shared = &self.shared[run.matching.found().paths()[at].0 as usize];
            if let Some(path) = shared.linear {
                found.add(path);
            }
            for &id in &shared.trees {
                let Some(tree) = &self.trees[id.0 as usize] else { continue };
                let is_found = |part: &Part| run.matching.found().contains(part.path);
                if tree.parts.iter().all(is_found) && run.compare(tree) {
                    found.add(id);
                }
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { content: Some(self), ..Capabilities::default() }
    }

    fn wants_attributes(&self) -> bool {
        self.inner.wants_attributes()
    }

    fn memory_bytes(&self) -> usize {
        let parts = self.trees.iter().flatten().flat_map(|tree| &tree.parts);
        let part = |part: &Part| size_of::<Part>() + 8 * part.hops.len() + 16 * part.extended.capacity();
        let path = |shared: &Shared| 2 * shared.path.steps.capacity() * size_of::<LinearStep>();
        self.inner.memory_bytes()
            + self.numbers.allocation_size()
            + self.shared.capacity() * size_of::<Shared>()
            + self.shared.iter().map(path).sum::<usize>()
            + self.trees.capacity() * size_of::<Option<Tree>>()
            + parts.map(part).sum::<usize>()
    }
}

impl Trees for Nested {
    fn insert_tree(&mut self, condition: &Condition, id: PathId) -> bool {
        let Some(top) = branches::of_condition(condition).filter(|top| is_plain(top)) else { return false };
        let mut parts = Vec::new();
        let main: Vec<usize> = top.iter().map(|branch| self.decompose(&[], branch, &mut parts)).collect();
        self.shared[parts[main[0]].path.0 as usize].trees.push(id);
        if self.trees.len() <= id.0 as usize {
            self.trees.resize_with(id.0 as usize + 1, || None);
        }
        self.trees[id.0 as usize] = Some(Tree { parts, main });
        self.count += 1;
        true
    }

    fn remove_tree(&mut self, id: PathId) {
        let Some(tree) = self.trees[id.0 as usize].take() else { return };
        self.shared[tree.parts[tree.main[0]].path.0 as usize].trees.retain(|&each| each != id);
        for part in &tree.parts {
            self.release(part.path);
        }
        self.count -= 1;
    }
}

impl Content<Run> for Nested {
    fn start_tag(
        &self,
        run: &mut Run,
        element: Resolved,
        attributes: &[Resolved],
        tag: &StartTag<'_>,
        found: &mut Found,
    ) {
        Content::start_tag(&self.inner, &mut run.matching, element, attributes, tag, found);
        if self.count > 0 {
            run.start(element);
        }
    }
}
