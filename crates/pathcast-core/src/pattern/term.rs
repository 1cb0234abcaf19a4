//! Typed expressions: what the other conditions cannot say, as XPath 1.0 computes it.
//!
//! A [`Term`] is one operation whose parts are of any type `T`: a tree has trees as parts ([`Typed`]), an arena has
//! numbers. Everything that depends on where an expression stands is spelled out when it is made: functions have their
//! context node as an argument, variables are replaced, paths at the top start at the document node. What is left to the
//! context of a predicate are [`Origin::Context`], `position()` and `last()`.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::node::NodeTest;
use crate::values::Comparison;
use crate::xpath::ast::Function;
use crate::xpath::ast::{Arithmetic, Axis, Type};

/// A number that can be a key: equal when the bits are.
#[derive(Clone, Copy, Debug)]
pub struct Double(pub f64);

impl PartialEq for Double {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Double {}

impl Hash for Double {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Double {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Double {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// One operation on parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term<T> {
    /// A number.
    Number(Double),
    /// A string.
    Text(Box<str>),
    /// An operator or function on its operands.
    Apply(Operator, Vec<T>),
    /// The nodes that steps select.
    Path(Origin<T>, Vec<TermStep<T>>),
}

/// What is done with operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are XPath's own")]
pub enum Operator {
    Or,
    And,
    Not,
    Compare(Comparison),
    /// One operator less than operands, from left to right.
    Arithmetic(Box<[Arithmetic]>),
    Negate,
    Union,
    Call(Function),
}

/// Where the steps of a path start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin<T> {
    /// At the context node.
    Context,
    /// At the document node.
    Root,
    /// At the nodes of a term that pass predicates, whose positions are in document order.
    Filter(T, Vec<T>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermStep<T> {
    /// The direction.
    pub axis: Axis,
    /// What kind of node; on the attribute axis a name is that of an attribute.
    pub test: NodeTest,
    /// The predicates in the order written; a number is a position.
    pub predicates: Vec<T>,
}

impl<T> Term<T> {
    /// The same operation on other parts.
    pub fn map<U>(&self, part: &mut impl FnMut(&T) -> U) -> Term<U> {
        match self {
            Self::Number(number) => Term::Number(*number),
            Self::Text(text) => Term::Text(text.clone()),
            Self::Apply(operator, parts) => {
                Term::Apply(operator.clone(), parts.iter().map(&mut *part).collect())
            }
            Self::Path(origin, steps) => {
                let origin = match origin {
                    Origin::Context => Origin::Context,
                    Origin::Root => Origin::Root,
                    Origin::Filter(start, predicates) => {
                        Origin::Filter(part(start), predicates.iter().map(&mut *part).collect())
                    }
                };
                let step = |step: &TermStep<T>| TermStep {
                    axis: step.axis,
                    test: step.test.clone(),
                    predicates: step.predicates.iter().map(&mut *part).collect(),
                };
                Term::Path(origin, steps.iter().map(step).collect())
            }
        }
    }

    /// Its parts that have the same context as itself, and those that are predicates.
    pub fn parts<'t>(&'t self, mut each: impl FnMut(&'t T, bool)) {
        match self {
            Self::Number(_) | Self::Text(_) => {}
            Self::Apply(_, parts) => parts.iter().for_each(|part| each(part, false)),
            Self::Path(origin, steps) => {
                if let Origin::Filter(start, predicates) = origin {
                    each(start, false);
                    predicates.iter().for_each(|predicate| each(predicate, true));
                }
                steps.iter().flat_map(|step| &step.predicates).for_each(|predicate| each(predicate, true));
            }
        }
    }

    /// The type of its value.
    pub fn kind(&self) -> Type {
        match self {
            Self::Number(_) => Type::Number,
            Self::Text(_) => Type::String,
            Self::Path(..) => Type::Nodes,
            Self::Apply(operator, _) => match operator {
                Operator::Or | Operator::And | Operator::Not | Operator::Compare(_) => Type::Boolean,
                Operator::Arithmetic(_) | Operator::Negate => Type::Number,
                Operator::Union => Type::Nodes,
                Operator::Call(function) => function.result(),
            },
        }
    }
}

/// A typed expression as a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Typed(pub Box<Term<Typed>>);

impl Typed {
    /// A tree from its topmost operation.
    pub fn new(term: Term<Self>) -> Self {
        Self(Box::new(term))
    }

    /// Whether the context node decides it, and not the document alone.
    pub fn asks_context(&self) -> bool {
        if matches!(*self.0, Term::Path(Origin::Context, _)) {
            return true;
        }
        if let Term::Apply(Operator::Call(Function::Position | Function::Last), _) = *self.0 {
            return true;
        }
        let mut found = false;
        self.0.parts(|part, predicate| found |= !predicate && part.asks_context());
        found
    }

    /// Whether names of nodes are asked for as text.
    pub fn asks_names(&self) -> bool {
        let asks = |function| {
            matches!(function, Function::Name | Function::LocalName | Function::NamespaceUri | Function::Lang)
        };
        let mut found = matches!(*self.0, Term::Apply(Operator::Call(function), _) if asks(function));
        self.0.parts(|part, _| found |= part.asks_names());
        found
    }
}
