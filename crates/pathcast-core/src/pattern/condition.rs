//! The conditions that the normal form is made of.

pub use super::node::{NameTest, NodeTest};
use super::term::Typed;
use crate::values::ValueTest;

/// A question about one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Always so.
    True,
    /// Never so.
    False,
    /// All of two or more.
    And(Vec<Condition>),
    /// Any of two or more.
    Or(Vec<Condition>),
    /// Not so.
    Not(Box<Condition>),
    /// Some node along an axis fits the pattern.
    Exists(Axis, Box<NodePattern>),
    /// The node itself passes a test.
    Is(NodeTest),
    /// The node has an attribute so named whose value satisfies a condition.
    Attribute(NameTest, Box<Condition>),
    /// The node's string-value passes a test.
    Value(ValueTest),
    /// The first node that a path selects, in document order, passes a test.
    First(Vec<FirstStep>, ValueTest),
    /// The document node satisfies a condition.
    Root(Box<Condition>),
    /// A typed expression is true at the node.
    Typed(Typed),
    /// Two or more branches lie under different children of the node, in this order.
    Ordered(Vec<Branch>),
}

impl Condition {
    /// Whether text, comments or instructions decide it, and not elements and attributes alone.
    pub fn looks_at_text(&self) -> bool {
        self.looks(true)
    }

    /// `value` says whether the node's own value is text: that of an attribute is none.
    fn looks(&self, value: bool) -> bool {
        match self {
            Self::True | Self::False => false,
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.looks(value)),
            Self::Not(inner) => inner.looks(value),
            Self::Root(inner) => inner.looks(true),
            Self::Exists(_, pattern) => pattern.looks_at_text(),
            Self::Is(test) => !matches!(test, NodeTest::Element(_)),
            Self::Attribute(_, inner) => inner.looks(false),
            Self::Value(_) => value,
            Self::First(..) | Self::Typed(_) => true,
            Self::Ordered(branches) => branches.iter().any(|branch| match branch {
                Branch::Exists { pattern, .. } => pattern.looks_at_text(),
                Branch::First(..) => true,
            }),
        }
    }

    /// Whether a typed expression is in it.
    pub fn is_typed(&self) -> bool {
        self.any_typed(&|_| true)
    }

    /// Whether names of nodes are asked for as text.
    pub fn asks_names(&self) -> bool {
        self.any_typed(&Typed::asks_names)
    }

    /// Whether some typed expression in it is such.
    fn any_typed(&self, such: &impl Fn(&Typed) -> bool) -> bool {
        match self {
            Self::Typed(typed) => such(typed),
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.any_typed(such)),
            Self::Not(inner) | Self::Root(inner) | Self::Attribute(_, inner) => inner.any_typed(such),
            Self::Exists(_, pattern) => pattern.condition.any_typed(such),
            Self::First(path, _) => path.iter().any(|step| step.any_typed(such)),
            Self::Ordered(branches) => branches.iter().any(|branch| match branch {
                Branch::Exists { pattern, .. } => pattern.condition.any_typed(such),
                Branch::First(path, _) => path.iter().any(|step| step.any_typed(such)),
            }),
            Self::True | Self::False | Self::Is(_) | Self::Value(_) => false,
        }
    }
}

impl NodePattern {
    fn looks_at_text(&self) -> bool {
        !matches!(self.test, NodeTest::Element(_)) || self.condition.looks_at_text()
    }
}

/// A node to look for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePattern {
    /// What kind of node.
    pub test: NodeTest,
    /// What else holds for it.
    pub condition: Condition,
}

/// Where to look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// `min` levels down, or `min` and more when not `exact`; at least 0 is descendant-or-self.
    Down {
        /// Levels.
        min: u32,
        /// Whether more levels do not count.
        exact: bool,
    },
    /// After the node's end in document order.
    Following,
    /// A later child of the same parent.
    FollowingSibling,
    /// Before the node's start in document order, ancestors left out.
    Preceding,
    /// An earlier child of the same parent.
    PrecedingSibling,
}

impl Axis {
    /// The children.
    pub const CHILD: Self = Self::Down { min: 1, exact: true };
    /// The descendants.
    pub const DESCENDANT: Self = Self::Down { min: 1, exact: false };
    /// The node and its descendants.
    pub const DESCENDANT_OR_SELF: Self = Self::Down { min: 0, exact: false };
    /// The node.
    pub const SELF: Self = Self::Down { min: 0, exact: true };
}

/// One step of the path that [`Condition::First`] follows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FirstStep {
    /// To a node.
    Node(Axis, NodePattern),
    /// To an attribute; always the last step.
    Attribute(NameTest, Condition),
}

impl FirstStep {
    fn any_typed(&self, such: &impl Fn(&Typed) -> bool) -> bool {
        match self {
            Self::Node(_, pattern) => pattern.condition.any_typed(such),
            Self::Attribute(_, condition) => condition.any_typed(such),
        }
    }
}

/// One branch of [`Condition::Ordered`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Branch {
    /// Some node that fits, this many levels down.
    Exists {
        /// Levels; at least 1.
        min: u32,
        /// Whether more levels do not count.
        exact: bool,
        /// What to look for.
        pattern: NodePattern,
    },
    /// The first node that a downward path selects, with its test.
    First(Vec<FirstStep>, ValueTest),
}
