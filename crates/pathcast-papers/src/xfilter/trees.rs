//! `xfilter-trees`: XFilter on tree patterns, an automaton for each branch.
//!
//! After the informal description that "Efficient filtering of XML documents with XPath expressions" compares with: the
//! branches of a pattern are automata of their own, which start where the branching element was met. A node that is met
//! is an *instance*, with the branches below it that were found so far; each branch becomes a candidate that knows
//! its instance. Every instance is kept: an element that is met in several ways makes as many copies of all that waits
//! below it, which is why their number can double with each level (section 6 of that paper). When all branches of an
//! instance were found, it is a branch found of the one above it.
//!
//! **Bound.** When candidates take more than `cache_bytes`, the rest of the document makes one instance for each node and
//! element, with a list of the instances above: what is found below it counts for all of them. From there on there are
//! at most nodes times depth. The answer is the same; `stats()` counts such documents.

use crate::branches::{self, Branch};
use crate::hops::{Hop, Symbol};
use pathcast_core::engine::{Cache, CacheStats, Capabilities, Engine, Found, PathId, Takes, Trees};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{Condition, LinearPath};
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;
/// A candidate, and the note of the list it is in.
const NODE_BYTES: usize = size_of::<Candidate>() + 4;
const INSTANCE_BYTES: usize = size_of::<Instance>();

type NodeId = u32;
type InstanceId = u32;

/// A node of a pattern.
#[derive(Clone, Copy, Debug)]
struct Node {
    hop: Hop,
    pattern: PathId,
    /// The node above it; none above the first.
    parent: NodeId,
    /// Its place among its siblings.
    rank: u32,
    /// The first of its branches, and the next branch of its parent.
    first: NodeId,
    next: NodeId,
    /// One bit for each of its branches.
    wanted: u64,
    /// Where it lies among the candidates from the start.
    place: u32,
}

/// Where the nodes of a pattern lie: the first, which stands for the document node, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    first: NodeId,
    length: u32,
}

/// The automata of all tree patterns.
#[derive(Clone, Debug, Default)]
pub struct XFilterTrees {
    nodes: Vec<Node>,
    free: FxHashMap<u32, Vec<NodeId>>,
    places: Vec<Place>,
    /// By symbol: the nodes below a document node, candidates from the start.
    starts: Vec<Vec<NodeId>>,
    attributes: usize,
    /// One more than the largest symbol.
    symbols: usize,
}

/// A node that was met in an open element.
#[derive(Clone, Copy, Debug)]
struct Instance {
    node: NodeId,
    level: u32,
    /// The instances above: one, and more in the list of links.
    above: InstanceId,
    more: u32,
    found: u64,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    node: NodeId,
    above: InstanceId,
}

/// Where the lists stood before an element.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    instances: u32,
    links: u32,
    pushed: u32,
}

/// What changes while a document runs.
#[derive(Debug)]
pub struct Run {
    budget: usize,
    levels: Vec<Level>,
    /// The element that is open last.
    element: Resolved,
    instances: Vec<Instance>,
    links: Vec<(InstanceId, u32)>,
    /// By symbol: candidates, in the order of the open elements.
    lists: Vec<Vec<Candidate>>,
    /// The lists that the open elements put candidates into.
    pushed: Vec<u32>,
    /// By pattern: the branches at the document node that were found.
    at_document: FxHashMap<PathId, u64>,
    /// Once there were too many: the instance of each node in the element that starts.
    merging: bool,
    merged: FxHashMap<NodeId, InstanceId>,
    pending: Vec<(InstanceId, u32)>,
    live: usize,
    stats: CacheStats,
}

impl XFilterTrees {
    fn add(&mut self, top: &[Branch], id: PathId) {
        let length = 1 + top.iter().map(count).sum::<u32>();
        let at = self.free.get_mut(&length).and_then(Vec::pop).unwrap_or_else(|| {
            let first = self.nodes.len() as u32;
            let hop = Hop { symbol: Symbol::ANY_ELEMENT, gap: crate::hops::Gap::new(0, true) };
            let node = Node {
                hop,
                pattern: id,
                parent: NONE,
                rank: 0,
                first: NONE,
                next: NONE,
                wanted: 0,
                place: NONE,
            };
            self.nodes.resize(self.nodes.len() + length as usize, node);
            first
        });
        let document = &mut self.nodes[at as usize];
        (document.pattern, document.parent) = (id, NONE);
        let mut next = at + 1;
        self.fill(top, at, &mut next, id);
        if self.places.len() <= id.0 as usize {
            self.places.resize(id.0 as usize + 1, Place::default());
        }
        self.places[id.0 as usize] = Place { first: at, length };
        self.each_start(at, |this, node| {
            let symbol = this.nodes[node as usize].hop.symbol.index();
            if this.starts.len() <= symbol {
                this.starts.resize_with(symbol + 1, Vec::new);
            }
            this.nodes[node as usize].place = this.starts[symbol].len() as u32;
            this.starts[symbol].push(node);
        });
    }

    /// Writes the branches of a node, each followed by all below it.
    fn fill(&mut self, branches: &[Branch], parent: NodeId, next: &mut NodeId, pattern: PathId) {
        let mut before = NONE;
        self.nodes[parent as usize].first = NONE;
        self.nodes[parent as usize].wanted = u64::MAX.checked_shr(64 - branches.len() as u32).unwrap_or(0);
        for (rank, branch) in (0..).zip(branches) {
            let at = *next;
            *next += 1;
            self.attributes += usize::from(branch.hop.symbol.is_attribute());
            self.symbols = self.symbols.max(branch.hop.symbol.index() + 1);
            self.nodes[at as usize] = Node {
                hop: branch.hop,
                pattern,
                parent,
                rank,
                first: NONE,
                next: NONE,
                wanted: 0,
                place: NONE,
            };
            match before {
                NONE => self.nodes[parent as usize].first = at,
                before => self.nodes[before as usize].next = at,
            }
            before = at;
            self.fill(&branch.below, at, next, pattern);
        }
    }

    fn each_start(&mut self, document: NodeId, mut each: impl FnMut(&mut Self, NodeId)) {
        let mut at = self.nodes[document as usize].first;
        while at != NONE {
            let next = self.nodes[at as usize].next;
            each(self, at);
            at = next;
        }
    }

    fn take(&mut self, id: PathId) {
        let Place { first, length } = std::mem::take(&mut self.places[id.0 as usize]);
        self.each_start(first, |this, node| {
            let Node { hop, place, .. } = this.nodes[node as usize];
            let list = &mut this.starts[hop.symbol.index()];
            list.swap_remove(place as usize);
            if let Some(&moved) = list.get(place as usize) {
                this.nodes[moved as usize].place = place;
            }
        });
        let gone = &self.nodes[first as usize + 1..(first + length) as usize];
        self.attributes -= gone.iter().filter(|node| node.hop.symbol.is_attribute()).count();
        self.free.entry(length).or_default().push(first);
    }
}

fn count(branch: &Branch) -> u32 {
    1 + branch.below.iter().map(count).sum::<u32>()
}

impl Run {
    fn begin(&mut self, automata: &XFilterTrees) {
        while !self.levels.is_empty() {
            self.end(); // a document that broke off
        }
        self.at_document.clear();
        self.merging = false;
        if self.lists.len() < automata.symbols {
            self.lists.resize_with(automata.symbols, Vec::new);
        }
    }

    /// Looks at all that waits for a symbol, in the element that is open last.
    fn look(&mut self, automata: &XFilterTrees, symbol: Symbol, found: &mut Found) {
        let level = self.levels.len() as u32;
        for &node in automata.starts.get(symbol.index()).into_iter().flatten() {
            let Node { hop, pattern, .. } = automata.nodes[node as usize];
            if hop.gap.admits(level) && !found.contains(pattern) {
                self.meet(automata, node, NONE, found);
            }
        }
        let waiting = self.lists.get(symbol.index()).map_or(0, Vec::len);
        for at in 0..waiting {
            let Candidate { node, above } = self.lists[symbol.index()][at];
            let Node { hop, pattern, rank, .. } = automata.nodes[node as usize];
            let Instance { level: from, found: branches, .. } = self.instances[above as usize];
            let is_done = branches >> rank & 1 == 1 || found.contains(pattern);
            if !is_done && hop.gap.admits(level - from) {
                self.meet(automata, node, above, found);
            }
        }
    }

    /// A node is met in the element that is open last, below an instance.
    fn meet(&mut self, automata: &XFilterTrees, id: NodeId, above: InstanceId, found: &mut Found) {
        let node = &automata.nodes[id as usize];
        if node.wanted == 0 {
            return self.complete(automata, node, above, found);
        }
        let instance = self.instances.len() as InstanceId;
        if self.merging {
            if let Some(&known) = self.merged.get(&id) {
                let more = self.instances[known as usize].more;
                self.instances[known as usize].more = self.links.len() as u32;
                self.links.push((above, more));
                return;
            }
            self.merged.insert(id, instance);
        }
        let level = self.levels.len() as u32;
        self.instances.push(Instance { node: id, level, above, more: NONE, found: 0 });
        self.live += INSTANCE_BYTES;
        let mut branch = node.first;
        while branch != NONE {
            let Node { hop, next, .. } = automata.nodes[branch as usize];
            self.lists[hop.symbol.index()].push(Candidate { node: branch, above: instance });
            self.pushed.push(hop.symbol.index() as u32);
            self.live += NODE_BYTES;
            // Descendant-or-self: the element may be its own branch.
            let is_element = !hop.symbol.is_attribute() && hop.gap.admits(0);
            if is_element && (hop.symbol == Symbol::ANY_ELEMENT || hop.symbol.meets(self.element)) {
                self.meet(automata, branch, instance, found);
            }
            branch = next;
        }
        if !self.merging && self.live > self.budget {
            self.merging = true;
            self.stats.clears += 1;
        }
        self.stats.bytes = self.stats.bytes.max(self.live as u64);
    }

    /// A branch of an instance was found, and what follows from it.
    fn complete(&mut self, automata: &XFilterTrees, node: &Node, above: InstanceId, found: &mut Found) {
        if above == NONE {
            return self.at_document(automata, node, found);
        }
        self.pending.push((above, node.rank));
        while let Some((at, rank)) = self.pending.pop() {
            let instance = &mut self.instances[at as usize];
            let node = &automata.nodes[instance.node as usize];
            if instance.found == node.wanted {
                continue;
            }
            instance.found |= 1 << rank;
            if instance.found != node.wanted {
                continue;
            }
            let Instance { above, mut more, .. } = *instance;
            let mut above = above;
            loop {
                match above {
                    NONE => self.at_document(automata, node, found),
                    above => self.pending.push((above, node.rank)),
                }
                let Some(&(next, link)) = self.links.get(more as usize) else { break };
                (above, more) = (next, link);
            }
        }
    }

    fn at_document(&mut self, automata: &XFilterTrees, node: &Node, found: &mut Found) {
        let wanted = automata.nodes[node.parent as usize].wanted;
        let branches = if wanted == 1 { 1 } else { *self.at_document.entry(node.pattern).or_default() };
        let branches = branches | 1 << node.rank;
        if branches == wanted {
            found.add(node.pattern);
        } else {
            self.at_document.insert(node.pattern, branches);
        }
    }

    fn end(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        for symbol in self.pushed.drain(level.pushed as usize..) {
            self.lists[symbol as usize].pop();
            self.live -= NODE_BYTES;
        }
        self.live -= INSTANCE_BYTES * (self.instances.len() - level.instances as usize);
        self.instances.truncate(level.instances as usize);
        self.links.truncate(level.links as usize);
    }
}

impl Engine for XFilterTrees {
    type Run = Run;

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run {
            budget: cache_bytes,
            levels: Vec::new(),
            element: Resolved::OTHER,
            instances: Vec::new(),
            links: Vec::new(),
            lists: Vec::new(),
            pushed: Vec::new(),
            at_document: FxHashMap::default(),
            merging: false,
            merged: FxHashMap::default(),
            pending: Vec::new(),
            live: 0,
            stats: CacheStats::default(),
        }
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        if let Some(top) = branches::of_path(path) {
            self.add(&top, id);
        }
    }

    fn remove(&mut self, _path: &LinearPath, id: PathId) {
        self.take(id);
    }

    fn takes(&mut self) -> Takes<'_> {
        Takes::Trees(self)
    }

    fn begin(&self, run: &mut Run) {
        run.begin(self);
    }

    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        run.levels.push(Level {
            instances: run.instances.len() as u32,
            links: run.links.len() as u32,
            pushed: run.pushed.len() as u32,
        });
        run.merged.clear();
        run.element = element;
        for symbol in Symbol::elements(element).chain([Symbol::ANY_ELEMENT]) {
            run.look(self, symbol, found);
        }
        if self.attributes > 0 && !attributes.is_empty() {
            for &attribute in attributes {
                for symbol in Symbol::attributes(attribute) {
                    run.look(self, symbol, found);
                }
            }
            run.look(self, Symbol::ANY_ATTRIBUTE, found);
        }
    }

    fn end(&self, run: &mut Run) {
        run.end();
    }

    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { cache: Some(self), ..Capabilities::default() }
    }

    fn wants_attributes(&self) -> bool {
        self.attributes > 0
    }

    fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.places.capacity() * size_of::<Place>()
            + self.free.values().map(|list| 32 + 4 * list.capacity()).sum::<usize>()
            + self.starts.iter().map(|list| 24 + 4 * list.capacity()).sum::<usize>()
    }
}

impl Trees for XFilterTrees {
    fn insert_tree(&mut self, condition: &Condition, id: PathId) -> bool {
        let Some(top) = branches::of_condition(condition) else { return false };
        self.add(&top, id);
        true
    }

    fn remove_tree(&mut self, id: PathId) {
        self.take(id);
    }
}

impl Cache<Run> for XFilterTrees {
    fn stats(&self, run: &Run) -> CacheStats {
        run.stats
    }
}
