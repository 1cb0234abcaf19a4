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

/// Any expression of the subscription language.
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
    /// `contains(…)` or `starts-with(…)`.
    Call(Function, Box<Expr<'a>>, Box<Expr<'a>>, Column),
    /// Two or more paths joined by `|`, flattened.
    Union(Vec<Path<'a>>),
    /// A location path.
    Path(Path<'a>),
    /// A quoted string.
    Literal(&'a str),
    /// A number, its minus sign included.
    Number(f64),
}

/// The two string functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// `contains(haystack, needle)`
    Contains,
    /// `starts-with(text, prefix)`
    StartsWith,
}

/// A location path; `/` alone is absolute without steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Path<'a> {
    /// Whether it starts at the document node.
    pub absolute: bool,
    /// Its steps.
    pub steps: Vec<Step<'a>>,
    /// Where it starts.
    pub column: Column,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are XPath's own")]
pub enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    SelfNode,
    Attribute,
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
    /// `node()`
    Node,
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, perhaps with a target
    Instruction(Option<&'a str>),
}
