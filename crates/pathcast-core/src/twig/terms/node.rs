//! Nodes of a tree, attributes among them, as numbers in document order.

use crate::twig::tree::NodeId;

/// A node: an element and the like by its own number, an attribute by that of its element and its own.
///
/// Numbers compare as document order does: an element comes before its attributes, and these before its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(u64);

impl Ref {
    /// The document node.
    pub const ROOT: Self = Self(0);

    /// A node that is no attribute.
    pub fn node(node: NodeId) -> Self {
        Self(u64::from(node) << 32)
    }

    /// The attribute with a number, of an element.
    pub fn attribute(element: NodeId, attribute: u32) -> Self {
        Self((u64::from(element) << 32) | (u64::from(attribute) + 1))
    }

    /// The node itself, or the element of an attribute.
    pub fn owner(self) -> NodeId {
        (self.0 >> 32) as NodeId
    }

    /// The number of the attribute that it is.
    pub fn as_attribute(self) -> Option<u32> {
        (self.0 as u32).checked_sub(1)
    }

    /// The number of the node that it is, unless it is an attribute.
    pub fn as_node(self) -> Option<NodeId> {
        self.as_attribute().is_none().then(|| self.owner())
    }
}
