//! What kind of node a step asks for.

use crate::names::{NameId, Resolved};

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
    /// All that agree in one part, by the number of `n:*` or `*:a`.
    Partial(NameId),
}

impl NameTest {
    /// Whether a name of a document passes.
    #[inline]
    pub fn admits(self, name: Resolved) -> bool {
        match self {
            Self::Any => true,
            Self::Name(id) => name.name == id,
            Self::Partial(id) => name.namespace == id || name.local == id,
        }
    }
}
