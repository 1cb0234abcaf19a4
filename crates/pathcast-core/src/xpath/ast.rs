//! The expression tree as written, borrowed from the source text.
//!
//! Abbreviations are spelled out (`//` is a `descendant-or-self::node()` step, `.` is `self::node()`, `@x` is
//! `attribute::x`); printing writes them short again. Columns take no part in equality.

pub use crate::values::Comparison;

/// A column in characters from 1 that compares equal to every other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column(pub u32);

impl PartialEq for Column {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

use std::rc::Rc;

pub use super::function::{Function, Type};

/// Any expression of XPath 1.0.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr<'a> {
    /// Two or more terms joined by `or`, flattened.
    Or(Vec<Expr<'a>>),
    /// Two or more terms joined by `and`, flattened.
    And(Vec<Expr<'a>>),
    /// `not(…)`.
    Not(Box<Expr<'a>>, Column),
    /// `left op right`.
    Compare(Comparison, Box<Expr<'a>>, Box<Expr<'a>>, Column),
    /// Two or more operands of one precedence, from left to right: `a + b - c`.
    Arithmetic(Box<Expr<'a>>, Vec<(Arithmetic, Expr<'a>)>, Column),
    /// `-…`; two signs in a row are `number(…)`.
    Negate(Box<Expr<'a>>, Column),
    /// A call of any function but `not()`.
    Call(Function, Vec<Expr<'a>>, Column),
    /// Two or more paths joined by `|`, flattened.
    Union(Vec<Path<'a>>),
    /// A path: steps from the document node, the context node, or any expression that gives nodes.
    Path(Path<'a>),
    /// `$name`, bound to an expression that is read from the document node.
    Variable(&'a str, Rc<Expr<'a>>, Column),
    /// A quoted string.
    Literal(&'a str),
    /// A number, its minus sign included. A variable may bind any number.
    Number(f64),
}

/// The five operators of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are XPath's own")]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// A location path; `/` alone is absolute without steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Path<'a> {
    /// Where its steps start.
    pub origin: Origin<'a>,
    /// Its steps.
    pub steps: Vec<Step<'a>>,
    /// Where it starts.
    pub column: Column,
}

/// Where the steps of a path start.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin<'a> {
    /// At the document node.
    Root,
    /// At the context node.
    Context,
    /// At the nodes of an expression that pass some predicates, as in `(//a)[2]/b`.
    Filter(Box<Expr<'a>>, Vec<Expr<'a>>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'a> {
    /// The direction.
    pub axis: Axis,
    /// What kind of node.
    pub test: NodeTest<'a>,
    /// The predicates in the order written.
    pub predicates: Vec<Expr<'a>>,
    /// Where it starts.
    pub column: Column,
}

/// The axes of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are XPath's own")]
pub enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    SelfNode,
    Attribute,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Following,
    FollowingSibling,
    Preceding,
    PrecedingSibling,
}

/// What a step selects along its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeTest<'a> {
    /// `*`
    Any,
    /// `prefix:*`
    Namespace(&'a str),
    /// `local` or `prefix:local`
    Name(Option<&'a str>, &'a str),
    /// `*[local-name() = 'local']`: a local name in any namespace
    Local(&'a str),
    /// `*[namespace-uri() = 'uri']`
    Uri(&'a str),
    /// Both: a namespace and a local name
    Expanded(&'a str, &'a str),
    /// `node()`
    Node,
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, perhaps with a target
    Instruction(Option<&'a str>),
}

impl NodeTest<'_> {
    /// Whether it asks for the principal kind of the axis: elements, or attributes.
    pub fn is_name(&self) -> bool {
        !matches!(self, Self::Node | Self::Text | Self::Comment | Self::Instruction(_))
    }
}

impl Path<'_> {
    /// Whether it starts at the document node.
    pub fn absolute(&self) -> bool {
        self.origin == Origin::Root
    }
}

impl<'a> Expr<'a> {
    /// What is left of a conjunction: all of the terms, if any.
    pub(crate) fn all(mut terms: Vec<Self>) -> Option<Self> {
        match (terms.len(), terms.pop()) {
            // As a predicate a number would be a position.
            (1, Some(number)) if number.kind() == Type::Number => {
                let column = number.column();
                Some(Self::Call(Function::Boolean, vec![number], column))
            }
            (1, only) => only,
            (_, Some(last)) => {
                terms.push(last);
                Some(Self::And(terms))
            }
            (_, None) => None,
        }
    }
}

impl Expr<'_> {
    /// Its type; XPath 1.0 knows it without a document.
    pub fn kind(&self) -> Type {
        match self {
            Self::Or(_) | Self::And(_) | Self::Not(..) | Self::Compare(..) => Type::Boolean,
            Self::Arithmetic(..) | Self::Negate(..) | Self::Number(_) => Type::Number,
            Self::Union(_) | Self::Path(_) => Type::Nodes,
            Self::Literal(_) => Type::String,
            Self::Call(function, ..) => function.result(),
            Self::Variable(_, bound, _) => bound.kind(),
        }
    }

    /// Whether it asks for the context position or size, outside the predicates in it.
    pub fn asks_position(&self) -> bool {
        match self {
            Self::Or(terms) | Self::And(terms) => terms.iter().any(Self::asks_position),
            Self::Not(inner, _) | Self::Negate(inner, _) => inner.asks_position(),
            Self::Compare(_, left, right, _) => left.asks_position() || right.asks_position(),
            Self::Arithmetic(first, rest, _) => {
                first.asks_position() || rest.iter().any(|(_, operand)| operand.asks_position())
            }
            Self::Call(function, arguments, _) => {
                matches!(function, Function::Position | Function::Last)
                    || arguments.iter().any(Self::asks_position)
            }
            Self::Union(paths) => paths.iter().any(Path::asks_position),
            Self::Path(path) => path.asks_position(),
            Self::Variable(..) | Self::Literal(_) | Self::Number(_) => false,
        }
    }

    /// Whether a predicate with this expression depends on positions.
    pub fn is_positional(&self) -> bool {
        self.kind() == Type::Number || self.asks_position()
    }

    /// Where it starts, as far as the tree knows.
    pub fn column(&self) -> Column {
        match self {
            Self::Or(terms) | Self::And(terms) => terms.first().map_or(Column(1), Self::column),
            Self::Not(_, column)
            | Self::Compare(_, _, _, column)
            | Self::Arithmetic(_, _, column)
            | Self::Negate(_, column)
            | Self::Call(_, _, column)
            | Self::Variable(_, _, column) => *column,
            Self::Union(paths) => paths.first().map_or(Column(1), |path| path.column),
            Self::Path(path) => path.column,
            Self::Literal(_) | Self::Number(_) => Column(1),
        }
    }
}

impl Path<'_> {
    /// Only what a path starts from is read with the context of the path itself.
    fn asks_position(&self) -> bool {
        matches!(&self.origin, Origin::Filter(start, _) if start.asks_position())
    }
}
