//! What the shape of a graph says: recursion, depth, number of paths.
//!
//! Tarjan's components, with a stack of its own: a chain of elements as long as memory allows must not overflow the
//! thread's. An element of content `ANY` leads to one extra node, and that node to every element, so the cost stays
//! linear in what was declared.

use super::graph::{ElementId, Graph};
use super::set::ElementSet;

/// The strongly connected components, numbered so that a component only leads to lower numbers.
#[derive(Debug)]
pub(super) struct Components {
    /// By element.
    of: Vec<u32>,
    /// Elements that can be inside themselves at some depth.
    recursive: ElementSet,
    count: usize,
}

const UNSEEN: u32 = u32::MAX;

impl Components {
    fn new(graph: &Graph) -> Self {
        let every = graph.bound() as u32;
        let nodes = graph.bound() + 1;
        let mut search = Search {
            graph,
            order: vec![UNSEEN; nodes],
            low: vec![0; nodes],
            of: vec![UNSEEN; nodes],
            open: Vec::new(),
            seen: 0,
            count: 0,
            sizes: Vec::new(),
        };
        for node in 0..nodes as u32 {
            if search.order[node as usize] == UNSEEN {
                search.run(node);
            }
        }
        let mut recursive = ElementSet::new(graph.bound());
        for element in 0..graph.document() {
            let shared = search.sizes[search.of[element as usize] as usize] > 1;
            if shared || graph.is_child(element, element) {
                recursive.insert(element);
            }
        }
        let count = search.count as usize;
        let mut of = search.of;
        of.truncate(every as usize);
        Self { of, recursive, count }
    }
}

struct Search<'a> {
    graph: &'a Graph,
    order: Vec<u32>,
    low: Vec<u32>,
    of: Vec<u32>,
    open: Vec<u32>,
    seen: u32,
    count: u32,
    sizes: Vec<u32>,
}

impl Search<'_> {
    /// The next node after `at` others that a node leads to.
    fn next(&self, node: u32, at: usize) -> Option<u32> {
        let every = self.graph.bound() as u32;
        if node == every {
            return (at < self.graph.len()).then_some(at as u32);
        }
        if self.graph.open.contains(node) {
            return (at == 0).then_some(every);
        }
        self.graph.below.get(node).get(at).copied()
    }

    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.seen;
        self.low[node as usize] = self.seen;
        self.seen += 1;
        self.open.push(node);
    }

    fn run(&mut self, start: u32) {
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((node, at)) = path.last_mut() {
            let (node, next) = (*node, self.next(*node, *at));
            *at += 1;
            match next {
                Some(next) if self.order[next as usize] == UNSEEN => {
                    self.enter(next);
                    path.push((next, 0));
                }
                Some(next) => {
                    if self.of[next as usize] == UNSEEN {
                        self.low[node as usize] = self.low[node as usize].min(self.order[next as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        self.low[parent as usize] = self.low[parent as usize].min(self.low[node as usize]);
                    }
                    if self.low[node as usize] == self.order[node as usize] {
                        self.close(node);
                    }
                }
            }
        }
    }

    fn close(&mut self, node: u32) {
        let mut size = 0;
        while let Some(member) = self.open.pop() {
            self.of[member as usize] = self.count;
            // The extra node is no element: with it alone an element of content ANY is its own child all the same.
            size += u32::from(member != self.graph.bound() as u32);
            if member == node {
                break;
            }
        }
        self.sizes.push(size);
        self.count += 1;
    }
}

impl Graph {
    fn components(&self) -> &Components {
        self.components.get_or_init(|| Components::new(self))
    }

    /// The number of an element's strongly connected component; a component leads only to lower numbers.
    pub fn component(&self, element: ElementId) -> u32 {
        self.components().of[element as usize]
    }

    /// How many components there are, those without elements of a schema included.
    pub fn component_count(&self) -> usize {
        self.components().count
    }

    /// The elements that can be inside themselves at some depth.
    pub fn recursive(&self) -> &ElementSet {
        &self.components().recursive
    }

    /// Levels of the deepest document; none if there is no deepest.
    pub fn depth(&self) -> Option<u32> {
        let levels = self.fold(|below| below.iter().map(|&each: &u64| each + 1).max().unwrap_or(0))?;
        Some(levels as u32)
    }

    /// How many paths lead from the document node to an element that holds no others, counted up to `u64::MAX`; none
    /// if there is no end of them.
    pub fn path_count(&self) -> Option<u64> {
        if self.below.get(self.document()).is_empty() {
            return Some(0);
        }
        self.fold(|below| match below {
            [] => 1,
            _ => below.iter().fold(0, |sum: u64, &each| sum.saturating_add(each)),
        })
    }

    /// A value for the document node, each element's from those of its children; none if recursion can be reached.
    fn fold(&self, value: impl Fn(&[u64]) -> u64) -> Option<u64> {
        let mut reached = self.occurring().clone();
        if reached.meets(self.recursive()) {
            return None;
        }
        reached.insert(self.document());
        let mut order: Vec<ElementId> = reached.iter().collect();
        order.sort_unstable_by_key(|&element| self.component(element));
        let mut values = vec![0; self.bound()];
        let mut below = Vec::new();
        for element in order {
            below.clear();
            below.extend(self.below.get(element).iter().map(|&child| values[child as usize]));
            values[element as usize] = value(&below);
        }
        Some(values[self.document() as usize])
    }
}
