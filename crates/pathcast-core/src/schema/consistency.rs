//! Can any valid document satisfy an expression?
//!
//! For every condition the set of elements at which it may hold, from the leaves of the pattern up to the document
//! node: a step's targets are the elements of its name at which the rest may hold, and the step itself may hold
//! wherever such a target can be so many levels below. This is Algorithm 1 of "Schema-Conscious Filtering of XML
//! Documents", run on gaps and from the other end, which makes it work for branches as well.
//!
//! It is **exact for linear paths**: the path through the graph is a document. For everything else it is **sound**:
//! a conjunction is possible when each part is, a negation always, so what is called impossible never matches.
//! One pass over the edges for each step.

use rustc_hash::FxHashMap;

use super::graph::{Content, Graph};
use super::set::ElementSet;
use super::values::blank_passes;
use crate::names::Names;
use crate::pattern::{Axis, Branch, Condition, FirstStep, NodePattern, NodeTest, and};

/// Whether an expression can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some valid document may satisfy it.
    Possible,
    /// None can.
    Impossible {
        /// What stands in the way, for a person to read.
        reason: String,
    },
}

impl Verdict {
    /// Whether some valid document may satisfy it.
    pub fn is_possible(&self) -> bool {
        *self == Self::Possible
    }
}

/// Whether some valid document can satisfy a condition on the document node; `names` are those of the condition.
pub fn check(graph: &Graph, names: &Names, condition: &Condition) -> Verdict {
    let mut feasible = Feasible::new(graph, names);
    if feasible.holds(condition).contains(graph.document()) {
        return Verdict::Possible;
    }
    Verdict::Impossible { reason: feasible.reason(condition) }
}

/// Where conditions may hold; what is known of a pattern is kept while its expression is borrowed.
pub(super) struct Feasible<'a> {
    pub(super) graph: &'a Graph,
    pub(super) names: &'a Names,
    /// By the place of a pattern in memory: the elements that may fit it.
    known: FxHashMap<*const NodePattern, ElementSet>,
}

/// A node that is no element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Text,
    Blank,
    Comment,
    Instruction,
}

impl<'a> Feasible<'a> {
    pub(super) fn new(graph: &'a Graph, names: &'a Names) -> Self {
        Self { graph, names, known: FxHashMap::default() }
    }

    /// By the place of a pattern in memory: the elements that may fit it.
    pub(super) fn into_known(self) -> FxHashMap<*const NodePattern, ElementSet> {
        self.known
    }

    fn none(&self) -> ElementSet {
        ElementSet::new(self.graph.bound())
    }

    fn all(&self) -> ElementSet {
        ElementSet::full(self.graph.bound())
    }

    fn all_if(&self, possible: bool) -> ElementSet {
        if possible { self.all() } else { self.none() }
    }

    /// The elements, and perhaps the document node, at which a condition may hold. Chains of steps are walked, not
    /// recursed into.
    pub(super) fn holds(&mut self, condition: &Condition) -> ElementSet {
        let mut chain = Vec::new();
        let mut last = condition;
        while let Condition::Exists(axis, pattern) = last {
            chain.push((*axis, &**pattern));
            if self.known.contains_key(&std::ptr::from_ref(&**pattern)) {
                break;
            }
            last = &pattern.condition;
        }
        let mut set = if let Condition::Exists(..) = last { self.none() } else { self.node(last) };
        for (axis, pattern) in chain.into_iter().rev() {
            let targets = self.targets(pattern, set);
            set = self.along(axis, pattern, &targets);
        }
        set
    }

    /// The elements that may fit a pattern whose condition may hold at `inner`.
    fn targets(&mut self, pattern: &NodePattern, mut inner: ElementSet) -> ElementSet {
        let place = std::ptr::from_ref(pattern);
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        match &pattern.test {
            NodeTest::Element(name) => inner.intersect(&self.graph.named(*name, self.names)),
            NodeTest::Node => {}
            _ => inner = self.none(),
        }
        self.known.insert(place, inner.clone());
        inner
    }

    /// The elements that may fit a pattern.
    pub(super) fn fitting(&mut self, pattern: &NodePattern) -> ElementSet {
        let place = std::ptr::from_ref(pattern);
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let inner = self.holds(&pattern.condition);
        self.targets(pattern, inner)
    }

    /// From where an axis may reach a pattern that these elements may fit.
    fn along(&mut self, axis: Axis, pattern: &NodePattern, targets: &ElementSet) -> ElementSet {
        let leaves = match pattern.test {
            NodeTest::Element(_) => None,
            _ => Some(self.leaf_parents(pattern)).filter(|parents| !parents.is_empty()),
        };
        let graph = self.graph;
        match axis {
            Axis::Down { min, exact } => {
                let mut out = graph.ascend(targets, min, exact);
                if let Some(parents) = leaves
                    && (min > 0 || !exact)
                {
                    out.unite(&graph.ascend(&parents, min.max(1) - 1, exact));
                }
                out
            }
            Axis::FollowingSibling | Axis::PrecedingSibling => {
                if leaves.is_some() {
                    return graph.all_elements();
                }
                let mut parents = graph.parents_of(targets);
                parents.intersect(graph.occurring());
                graph.children_of(&parents)
            }
            Axis::Following | Axis::Preceding => {
                if leaves.is_some() || graph.occurring().meets(targets) {
                    graph.all_elements()
                } else {
                    self.none()
                }
            }
        }
    }

    /// A condition that is no step.
    fn node(&mut self, condition: &Condition) -> ElementSet {
        let graph = self.graph;
        match condition {
            Condition::True => self.all(),
            Condition::False => self.none(),
            Condition::Not(inner) => {
                // What may hold inside says nothing here, but whoever rewrites it will ask.
                self.holds(inner);
                self.all()
            }
            Condition::And(parts) => {
                let mut set = self.all();
                for part in parts {
                    set.intersect(&self.holds(part));
                }
                set
            }
            Condition::Or(parts) => {
                let mut set = self.none();
                for part in parts {
                    set.unite(&self.holds(part));
                }
                set
            }
            Condition::Exists(..) => self.holds(condition),
            Condition::Is(NodeTest::Node) => self.all(),
            Condition::Is(NodeTest::Element(name)) => graph.named(*name, self.names),
            Condition::Is(_) => self.none(),
            Condition::Attribute(name, value) => {
                let mut set = self.none();
                for id in graph.attribute_ids(*name, self.names) {
                    for &element in graph.holders.get(id.0) {
                        let attributes = &graph.elements[element as usize].attributes;
                        let declared = attributes.binary_search_by_key(&id, |attribute| attribute.name);
                        if declared.is_ok_and(|at| attributes[at].values.may_satisfy(value)) {
                            set.insert(element);
                        }
                    }
                }
                set
            }
            Condition::Value(test) => {
                let mut set = graph.with_text().clone();
                let (blank, empty) = (blank_passes(test), test.accepts(""));
                for element in 0..graph.bound() as u32 {
                    let possible = match (graph.texts(element), graph.elements.get(element as usize)) {
                        (Some(values), _) => values.may_satisfy(condition),
                        (None, Some(declared)) if declared.content == Content::Empty => empty,
                        _ => blank || set.contains(element),
                    };
                    if possible {
                        set.insert(element);
                    } else {
                        set.remove(element);
                    }
                }
                set
            }
            // What only the tree decides may be so anywhere.
            Condition::Typed(_) => self.all(),
            // The first node that passes is a node that passes.
            Condition::First(path, test) => {
                let some = path.iter().rev().fold(Condition::Value(test.clone()), |found, step| match step {
                    FirstStep::Node(axis, pattern) => {
                        let condition = and([pattern.condition.clone(), found]);
                        let pattern = NodePattern { test: pattern.test.clone(), condition };
                        Condition::Exists(*axis, Box::new(pattern))
                    }
                    FirstStep::Attribute(name, condition) => {
                        Condition::Attribute(*name, Box::new(and([condition.clone(), found])))
                    }
                });
                Feasible::new(graph, self.names).holds(&some)
            }
            Condition::Root(inner) => {
                let possible = self.holds(inner).contains(graph.document());
                self.all_if(possible)
            }
            Condition::Ordered(branches) => {
                let mut set = self.all();
                for branch in branches {
                    set.intersect(&self.branch(branch));
                }
                set
            }
        }
    }

    pub(super) fn branch(&mut self, branch: &Branch) -> ElementSet {
        match branch {
            Branch::Exists { min, exact, pattern } => {
                let targets = self.fitting(pattern);
                self.along(Axis::Down { min: *min, exact: *exact }, pattern, &targets)
            }
            Branch::First(path, test) => self.node(&Condition::First(path.clone(), test.clone())),
        }
    }

    /// Where a node that is no element and fits a pattern may be a child.
    fn leaf_parents(&mut self, pattern: &NodePattern) -> ElementSet {
        let kinds: &[Leaf] = match pattern.test {
            NodeTest::Element(_) => &[],
            NodeTest::Node => &[Leaf::Text, Leaf::Blank, Leaf::Comment, Leaf::Instruction],
            NodeTest::Text => &[Leaf::Text, Leaf::Blank],
            NodeTest::Comment => &[Leaf::Comment],
            NodeTest::Instruction(_) => &[Leaf::Instruction],
        };
        let mut parents = self.none();
        for &leaf in kinds {
            if !self.leaf_may(&pattern.condition, leaf) {
                continue;
            }
            if matches!(leaf, Leaf::Comment | Leaf::Instruction) {
                return self.all();
            }
            for element in 0..self.graph.document() {
                let content = self.graph.content(element);
                if content >= Content::Mixed || content == Content::Elements && leaf == Leaf::Blank {
                    parents.insert(element);
                }
            }
        }
        parents
    }

    /// Whether a node that is no element may satisfy a condition.
    fn leaf_may(&mut self, condition: &Condition, leaf: Leaf) -> bool {
        match condition {
            Condition::True | Condition::Not(_) | Condition::First(..) | Condition::Typed(_) => true,
            Condition::False | Condition::Attribute(..) | Condition::Ordered(_) => false,
            Condition::And(parts) => parts.iter().all(|part| self.leaf_may(part, leaf)),
            Condition::Or(parts) => parts.iter().any(|part| self.leaf_may(part, leaf)),
            Condition::Exists(Axis::Down { min, .. }, _) => *min == 0,
            Condition::Exists(..) => true,
            Condition::Is(test) => match test {
                NodeTest::Node => true,
                NodeTest::Element(_) => false,
                NodeTest::Text => matches!(leaf, Leaf::Text | Leaf::Blank),
                NodeTest::Comment => leaf == Leaf::Comment,
                NodeTest::Instruction(_) => leaf == Leaf::Instruction,
            },
            Condition::Value(test) => leaf != Leaf::Blank || blank_passes(test),
            Condition::Root(inner) => self.holds(inner).contains(self.graph.document()),
        }
    }
}
