//! A condition as a disjunction of conjunctions that tables can hold.
//!
//! A term of the disjunction is a set of branches of one node: edges to other nodes, and tests on the node's values.
//! What an absolute path inside a predicate says is about the document node, so it moves there from wherever it stands.
//! What tables cannot say is left out or replaced by something weaker, and the term is no longer exact. A term is
//! always implied by the condition, so no document is missed.
//!
//! Cost: at most `alternatives` terms for one condition; a conjunct that would give more is left out.

use crate::names::Names;
use crate::pattern::{Axis, Branch as Ordered, Condition, NameTest, NodePattern, NodeTest};
use crate::values::Comparison;
use crate::values::{Real, ValueTest};

/// What a node must have.
#[derive(Clone, Debug)]
pub(super) enum Branch {
    /// Another node so many levels down.
    Edge { min: u32, exact: bool, name: NameTest, branches: Vec<Branch> },
    /// A value.
    Test(Subject, Operation),
}

/// Which value of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Its string-value.
    Own,
    /// A text node that is its child.
    Text,
    /// An attribute.
    Attribute(NameTest),
}

/// What the value must be.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Exists,
    Equals(Box<str>),
    Differs(Box<str>),
    Number(Comparison, Real),
}

/// One term.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// What the node must have.
    pub(super) branches: Vec<Branch>,
    /// What the document node must have.
    pub(super) root: Vec<Branch>,
    /// What the node must be.
    name: Option<NameTest>,
    /// Whether the term says all that the condition says.
    pub(super) exact: bool,
}

impl Parts {
    fn nothing(exact: bool) -> Self {
        Self { branches: Vec::new(), root: Vec::new(), name: None, exact }
    }

    fn branch(branch: Branch) -> Self {
        Self { branches: vec![branch], ..Self::nothing(true) }
    }
}

/// Takes conditions apart.
pub(super) struct Weakener<'a> {
    pub(super) names: &'a Names,
    /// Whether only local names count; then an element may have two attributes of one name.
    pub(super) ignore_namespaces: bool,
    /// How many terms at most.
    pub(super) alternatives: usize,
}

impl Weakener<'_> {
    /// The terms of a condition on the document node, with at most so many levels of branches.
    pub(super) fn at_document(&self, condition: &Condition, levels: usize) -> Vec<Parts> {
        let mut terms = self.parts(condition, levels);
        // The document node is no element.
        terms.retain(|term| term.name.is_none());
        for term in &mut terms {
            let root = std::mem::take(&mut term.root);
            term.branches.extend(root);
        }
        terms
    }

    fn parts(&self, condition: &Condition, levels: usize) -> Vec<Parts> {
        let weak = || vec![Parts::nothing(false)];
        match condition {
            Condition::True => vec![Parts::nothing(true)],
            Condition::False => Vec::new(),
            _ if levels == 0 => weak(),
            Condition::And(all) => self.all(all, levels),
            Condition::Or(any) => {
                let mut terms = Vec::new();
                for each in any {
                    terms.extend(self.parts(each, levels));
                    if terms.len() > self.alternatives {
                        return weak();
                    }
                }
                terms
            }
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                self.below(*min, *exact, pattern, levels)
            }
            // Somewhere in the document there is such a node.
            Condition::Exists(_, pattern) => {
                let mut terms = self.below(1, false, pattern, levels);
                terms.iter_mut().for_each(at_root);
                terms.iter_mut().for_each(|term| term.exact = false);
                terms
            }
            Condition::Is(NodeTest::Element(name)) => {
                let (name, exact) = self.tabled(*name);
                vec![Parts { name: Some(name), ..Parts::nothing(exact) }]
            }
            Condition::Attribute(name, value) => self.attribute(*name, value),
            Condition::Value(test) => value(Subject::Own, test),
            Condition::Root(inner) => {
                let mut terms = self.parts(inner, levels);
                terms.retain(|term| term.name.is_none());
                terms.iter_mut().for_each(at_root);
                terms
            }
            Condition::Ordered(branches) => {
                let exists = branches.iter().filter_map(|branch| match branch {
                    Ordered::Exists { min, exact, pattern } => Some(Condition::Exists(
                        Axis::Down { min: *min, exact: *exact },
                        Box::new(pattern.clone()),
                    )),
                    Ordered::First(..) => None,
                });
                let mut terms = self.all(&exists.collect::<Vec<_>>(), levels);
                terms.iter_mut().for_each(|term| term.exact = false);
                terms
            }
            Condition::Not(_) | Condition::Is(_) | Condition::First(..) | Condition::Typed(_) => weak(),
        }
    }

    /// Every way to satisfy all conditions: one term of each.
    fn all(&self, conditions: &[Condition], levels: usize) -> Vec<Parts> {
        let mut terms = vec![Parts::nothing(true)];
        for condition in conditions {
            let choices = self.parts(condition, levels);
            if terms.len() * choices.len() > self.alternatives {
                terms.iter_mut().for_each(|term| term.exact = false);
                continue;
            }
            terms = terms
                .iter()
                .flat_map(|term| choices.iter().filter_map(|choice| self.both(term, choice)))
                .collect();
        }
        terms
    }

    fn both(&self, left: &Parts, right: &Parts) -> Option<Parts> {
        let name = match (left.name, right.name) {
            (Some(left), Some(right)) => Some(self.narrowed(left, right)?),
            (left, right) => left.or(right),
        };
        let join = |left: &[Branch], right: &[Branch]| [left, right].concat();
        Some(Parts {
            branches: join(&left.branches, &right.branches),
            root: join(&left.root, &right.root),
            name,
            exact: left.exact && right.exact,
        })
    }

    /// The names that pass both tests, if any can.
    fn narrowed(&self, left: NameTest, right: NameTest) -> Option<NameTest> {
        match (left, right) {
            (NameTest::Any, other) | (other, NameTest::Any) => Some(other),
            (NameTest::Name(name), NameTest::Partial(space))
            | (NameTest::Partial(space), NameTest::Name(name)) => {
                self.names.is_one_of(name, space).then_some(NameTest::Name(name))
            }
            (left, right) => (left == right).then_some(left),
        }
    }

    /// What tables can say of a name, and whether that is all: they do not know local names apart from namespaces.
    fn tabled(&self, name: NameTest) -> (NameTest, bool) {
        match name {
            NameTest::Partial(id) if self.names.is_local(id) => (NameTest::Any, false),
            other => (other, true),
        }
    }

    /// A node so many levels down.
    fn below(&self, min: u32, exact: bool, pattern: &NodePattern, levels: usize) -> Vec<Parts> {
        let (name, exactly) = match &pattern.test {
            NodeTest::Element(name) => self.tabled(*name),
            NodeTest::Text => return self.text(min, exact, &pattern.condition, levels),
            NodeTest::Node | NodeTest::Comment | NodeTest::Instruction(_) => {
                return vec![Parts::nothing(false)];
            }
        };
        let inner = self.parts(&pattern.condition, levels - 1);
        let edge = |term: Parts| {
            let name = term.name.map_or(Some(name), |narrower| self.narrowed(name, narrower))?;
            let edge = Branch::Edge { min, exact, name, branches: term.branches };
            Some(Parts { branches: vec![edge], root: term.root, name: None, exact: term.exact && exactly })
        };
        inner.into_iter().filter_map(edge).collect()
    }

    /// A text node so many levels down: a value of the element that it is a child of.
    fn text(&self, min: u32, exact: bool, condition: &Condition, levels: usize) -> Vec<Parts> {
        let exists = || Parts::branch(Branch::Test(Subject::Text, Operation::Exists));
        let tests = match condition {
            Condition::Value(
                test @ (ValueTest::Equals(_) | ValueTest::Differs(_) | ValueTest::Number(..)),
            ) => value(Subject::Text, test),
            Condition::True => vec![exists()],
            Condition::False => Vec::new(),
            _ => vec![Parts { exact: false, ..exists() }],
        };
        let above = min.saturating_sub(1);
        if exact && above == 0 {
            return tests;
        }
        if levels < 2 {
            return vec![Parts::nothing(false)];
        }
        let edge = |term: Parts| Parts {
            branches: vec![Branch::Edge { min: above, exact, name: NameTest::Any, branches: term.branches }],
            ..term
        };
        tests.into_iter().map(edge).collect()
    }

    fn attribute(&self, name: NameTest, condition: &Condition) -> Vec<Parts> {
        let unique = matches!(name, NameTest::Name(_)) && !self.ignore_namespaces;
        let (name, exactly) = self.tabled(name);
        let subject = Subject::Attribute(name);
        let term = |term: Parts| {
            if term.name.is_some() {
                return None; // an attribute is no element
            }
            let all = term.branches.len();
            let mut branches: Vec<_> = term
                .branches
                .into_iter()
                .filter_map(|branch| match branch {
                    Branch::Test(Subject::Own, operation) => Some(Branch::Test(subject, operation)),
                    _ => None,
                })
                .collect();
            // Two tests may be passed by two attributes, unless there can be but one.
            let exact = term.exact && exactly && branches.len() == all && (unique || all <= 1);
            if branches.is_empty() {
                branches.push(Branch::Test(subject, Operation::Exists));
            }
            Some(Parts { branches, exact, ..term })
        };
        self.parts(condition, 1).into_iter().filter_map(term).collect()
    }
}

/// Everything a term says is said of the document node.
fn at_root(term: &mut Parts) {
    let branches = std::mem::take(&mut term.branches);
    term.root.extend(branches);
}

/// A test on one value.
fn value(subject: Subject, test: &ValueTest) -> Vec<Parts> {
    let operation = match test {
        ValueTest::Equals(text) => Operation::Equals(text.clone()),
        ValueTest::Differs(text) => Operation::Differs(text.clone()),
        ValueTest::Number(comparison, number) => Operation::Number(*comparison, *number),
        ValueTest::Contains(_)
        | ValueTest::StartsWith(_)
        | ValueTest::ContainedIn(_)
        | ValueTest::PrefixOf(_) => return vec![Parts::nothing(false)],
    };
    vec![Parts::branch(Branch::Test(subject, operation))]
}
