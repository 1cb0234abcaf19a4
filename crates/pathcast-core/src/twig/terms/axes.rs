//! Axes: the nodes that one leads to, in its own order from one node, or in document order from several.

use super::node::Ref;
use crate::pattern::NodeTest;
use crate::twig::tree::{NodeId, Tree};
use crate::xpath::ast::Axis;

/// Whether an axis leads against document order.
pub(super) fn is_backward(axis: Axis) -> bool {
    matches!(
        axis,
        Axis::Parent | Axis::Ancestor | Axis::AncestorOrSelf | Axis::Preceding | Axis::PrecedingSibling
    )
}

impl Tree {
    /// Whether a node that an axis leads to passes a test. Only on its own axis an attribute has a name for tests.
    pub(super) fn admits(&self, axis: Axis, node: Ref, test: &NodeTest) -> bool {
        match (node.as_attribute(), test) {
            (_, NodeTest::Node) => true,
            (Some(attribute), NodeTest::Element(name)) => {
                axis == Axis::Attribute && self.attribute_named(attribute, *name)
            }
            (Some(_), _) => false,
            (None, _) => self.passes(node.owner(), test),
        }
    }

    /// The nodes that an axis leads to from one node, in the order of the axis; `each` says whether to go on.
    pub(super) fn along(&self, axis: Axis, from: Ref, each: &mut impl FnMut(Ref) -> bool) {
        let own = from.owner();
        let is_attribute = from.as_attribute().is_some();
        let mut node = |node: NodeId| each(Ref::node(node));
        match axis {
            Axis::SelfNode => {
                each(from);
            }
            Axis::Child if !is_attribute => {
                let (mut child, last) = (own + 1, self.last(own));
                while child <= last && node(child) {
                    child = self.last(child) + 1;
                }
            }
            Axis::Descendant if !is_attribute => {
                (own + 1..=self.last(own)).all(node);
            }
            Axis::DescendantOrSelf if is_attribute => {
                each(from);
            }
            Axis::DescendantOrSelf => {
                (own..=self.last(own)).all(node);
            }
            Axis::Attribute if !is_attribute => {
                let (first, end) = self.attribute_range(own);
                (first..end).all(|attribute| each(Ref::attribute(own, attribute)));
            }
            Axis::Parent => {
                let parent = if is_attribute { Some(own) } else { self.parent(own) };
                parent.map(node);
            }
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let mut up = if is_attribute { Some(own) } else { self.parent(own) };
                if axis == Axis::AncestorOrSelf && !each(from) {
                    return;
                }
                while let Some(ancestor) = up
                    && each(Ref::node(ancestor))
                {
                    up = self.parent(ancestor);
                }
            }
            Axis::Following => {
                // After an attribute come the children of its element.
                let end = if is_attribute { own } else { self.last(own) };
                (end + 1..self.len() as NodeId).all(node);
            }
            Axis::Preceding => {
                (0..own).rev().all(|before| self.last(before) >= own || node(before));
            }
            Axis::FollowingSibling if !is_attribute => {
                let Some(parent) = self.parent(own) else { return };
                let (mut sibling, last) = (self.last(own) + 1, self.last(parent));
                while sibling <= last && node(sibling) {
                    sibling = self.last(sibling) + 1;
                }
            }
            Axis::PrecedingSibling if !is_attribute => {
                let Some(parent) = self.parent(own) else { return };
                let mut before = own - 1;
                while before > parent {
                    // The sibling that ends there.
                    let mut sibling = before;
                    while let Some(up) = self.parent(sibling).filter(|&up| up != parent) {
                        sibling = up;
                    }
                    if !node(sibling) {
                        return;
                    }
                    before = sibling - 1;
                }
            }
            _ => {}
        }
    }
}
