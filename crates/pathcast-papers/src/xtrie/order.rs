//! Order axes as ordered branches.
//!
//! `b[following-sibling::c]` below `a` says that some element has a child `b` and, later, a child `c`: two ordered
//! branches of a dummy that stands for their parent. `preceding-sibling` is the same with the branches swapped, and
//! siblings of siblings make the chain longer. `//b[following::c]` says that `b` and `c` lie under different children of
//! some element, in this order: their least common ancestor. All other uses of order axes have more meanings
//! than one chain and are not taken: two later siblings that may stand in any order, `following` below a given
//! element.

use super::levels::Gap;
use pathcast_core::pattern::{Axis, Condition, NodePattern, NodeTest};

/// How a node stands to its siblings.
pub(super) enum Chain<'a> {
    /// No order axis.
    Single,
    /// Branches in order, all `below` a dummy that is `above` levels down.
    Ordered { above: Gap, below: Gap, links: Vec<Link<'a>> },
}

/// A node test and what else holds, order axes left out.
type Link<'a> = (&'a NodeTest, Vec<&'a Condition>);

/// The order that a node's conditions demand; `None` if it is no chain.
pub(super) fn order_chain(gap: Gap, pattern: &NodePattern, at_document: bool) -> Option<Chain<'_>> {
    let (plain, axes) = split(&pattern.condition);
    let own = (&pattern.test, plain);
    match axes.as_slice() {
        [] => Some(Chain::Single),
        _ if !matches!(pattern.test, NodeTest::Element(_)) => None,
        [(axis @ (Axis::Following | Axis::Preceding), other)] => {
            // The common ancestor may be anything only if the way to the node may be.
            if !at_document || gap != Gap::new(1, false) {
                return None;
            }
            let (conditions, further) = split(&other.condition);
            if !further.is_empty() || !matches!(other.test, NodeTest::Element(_)) {
                return None;
            }
            let mut links = vec![own, (&other.test, conditions)];
            if *axis == Axis::Preceding {
                links.reverse();
            }
            Some(Chain::Ordered { above: Gap::new(0, false), below: Gap::new(1, false), links })
        }
        _ => {
            let mut links = Vec::new();
            extend(&axes, Axis::PrecedingSibling, &mut links)?;
            links.reverse();
            links.push(own);
            extend(&axes, Axis::FollowingSibling, &mut links)?;
            let known = axes.iter().all(|(axis, _)| is_sibling(*axis));
            let above = Gap::new(gap.min.checked_sub(1)?, gap.exact);
            known.then_some(Chain::Ordered { above, below: Gap::new(1, true), links })
        }
    }
}

fn is_sibling(axis: Axis) -> bool {
    matches!(axis, Axis::FollowingSibling | Axis::PrecedingSibling)
}

/// Follows one direction from sibling to sibling.
fn extend<'a>(axes: &[(Axis, &'a NodePattern)], direction: Axis, links: &mut Vec<Link<'a>>) -> Option<()> {
    let mut ahead = axes.iter().filter(|(axis, _)| *axis == direction);
    let Some((_, next)) = ahead.next() else { return Some(()) };
    if ahead.next().is_some() || !matches!(next.test, NodeTest::Element(_)) {
        return None;
    }
    let (conditions, further) = split(&next.condition);
    if further.iter().any(|(axis, _)| *axis != direction) {
        return None;
    }
    links.push((&next.test, conditions));
    extend(&further, direction, links)
}

/// What a condition says, and the order axes among it.
fn split(condition: &Condition) -> (Vec<&Condition>, Vec<(Axis, &NodePattern)>) {
    let parts = match condition {
        Condition::And(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let (mut plain, mut axes) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Condition::Exists(
                axis @ (Axis::Following | Axis::Preceding | Axis::FollowingSibling | Axis::PrecedingSibling),
                pattern,
            ) => axes.push((*axis, &**pattern)),
            other => plain.push(other),
        }
    }
    (plain, axes)
}
