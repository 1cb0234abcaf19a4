//! What kind of node a step asks for.

use crate::names::NameId;

/// What kind of node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeTest {
    /// An element.
    Element(NameTest),
    /// Any node.
    Node,
    /// A text node.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction, perhaps with a target.
    Instruction(Option<Box<str>>),
}

/// Which names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameTest {
    /// All.
    Any,
    /// One.
    Name(NameId),
    /// All of a namespace, by the number of its `n:*`.
    Namespace(NameId),
}
