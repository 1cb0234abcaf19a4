//! What kind of node a step asks for.

use crate::image::Flat;
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

impl Flat for NameTest {
    const SIZE: usize = 5;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Any => (0_u8, 0_u32).put(out),
            Self::Name(NameId(name)) => (1_u8, name).put(out),
            Self::Partial(NameId(name)) => (2_u8, name).put(out),
        }
    }

    #[inline]
    fn get(bytes: &[u8]) -> Self {
        match <(u8, u32)>::get(bytes) {
            (0, _) => Self::Any,
            (1, name) => Self::Name(NameId(name)),
            (_, name) => Self::Partial(NameId(name)),
        }
    }
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
