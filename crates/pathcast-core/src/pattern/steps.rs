//! Steps as they are written: which of them conditions can say.

use super::condition::Axis;
use crate::values::Comparison;
use crate::xpath::ast::{self, Expr, Function, Origin, Path, Step};

/// Whether a step is the `//` before another.
pub(super) fn leads(step: &Step<'_>) -> bool {
    step.axis == ast::Axis::DescendantOrSelf && step.test == ast::NodeTest::Node && step.predicates.is_empty()
}

/// Whether conditions can say a step, given those behind it.
pub(super) fn sayable(step: &Step<'_>, rest: &[Step<'_>]) -> bool {
    let positions = step.predicates.iter().filter(|each| each.is_positional());
    match step.axis {
        ast::Axis::Attribute => {
            step.predicates.iter().all(suits_attribute) && rest.iter().all(stays_on_attribute)
        }
        ast::Axis::Child => {
            let (mut count, mut known) = (0, true);
            for predicate in positions {
                count += 1;
                known &= position(predicate).is_some();
            }
            known && count <= 2
        }
        ast::Axis::Parent | ast::Axis::Ancestor | ast::Axis::AncestorOrSelf => false,
        _ => positions.count() == 0,
    }
}

/// Whether a step behind an attribute stays on it and asks nothing but its value.
pub(super) fn stays_on_attribute(step: &Step<'_>) -> bool {
    step.axis == ast::Axis::SelfNode
        && step.test == ast::NodeTest::Node
        && step.predicates.iter().all(suits_attribute)
}

/// Whether a predicate of an attribute asks nothing but its value, and absolute paths.
pub(super) fn suits_attribute(expression: &Expr<'_>) -> bool {
    let path = |path: &Path<'_>| match path.origin {
        Origin::Root => true,
        Origin::Context => path.steps.iter().all(stays_on_attribute),
        Origin::Filter(..) => false,
    };
    let constant = |side: &Expr<'_>| matches!(side, Expr::Literal(_) | Expr::Number(_));
    let nodes = |side: &Expr<'_>| match side {
        Expr::Path(one) => path(one),
        Expr::Union(paths) => paths.iter().all(path),
        _ => false,
    };
    match expression {
        Expr::Or(terms) | Expr::And(terms) => terms.iter().all(suits_attribute),
        Expr::Not(inner, _) => suits_attribute(inner),
        Expr::Compare(_, left, right, _) => {
            nodes(left) && constant(right) || constant(left) && (nodes(right) || constant(right))
        }
        Expr::Call(Function::Contains | Function::StartsWith, arguments, _) => match arguments.as_slice() {
            [left, right] => {
                matches!(left, Expr::Path(one) if path(one)) && matches!(right, Expr::Literal(_))
                    || matches!(left, Expr::Literal(_)) && matches!(right, Expr::Path(one) if path(one))
            }
            _ => false,
        },
        Expr::Path(_) | Expr::Union(_) => nodes(expression),
        Expr::Literal(_) => true,
        _ => false,
    }
}

/// Whether two steps lead down to a node and back to its parent.
pub(super) fn returns(down: &Step<'_>, up: &Step<'_>) -> bool {
    let free = |step: &Step<'_>| !step.predicates.iter().any(Expr::is_positional);
    let suits = match down.axis {
        ast::Axis::Child | ast::Axis::Descendant => free(down),
        ast::Axis::Attribute => down.predicates.iter().all(suits_attribute),
        _ => false,
    };
    suits && up.axis == ast::Axis::Parent && free(up)
}

/// Positions that siblings tell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    First,
    Last,
    /// Not the first.
    Later,
    /// Not the last.
    Sooner,
    Never,
}

pub(super) fn position(predicate: &Expr<'_>) -> Option<Position> {
    let calls = |side: &Expr<'_>, wanted| matches!(side, Expr::Call(function, ..) if *function == wanted);
    match predicate {
        Expr::Number(1.0) => Some(Position::First),
        Expr::Number(number) if *number < 1.0 || number.fract() != 0.0 || number.is_nan() => {
            Some(Position::Never)
        }
        last if calls(last, Function::Last) => Some(Position::Last),
        Expr::Compare(comparison, left, right, column) if calls(right, Function::Position) => {
            let turned = Expr::Compare(comparison.mirrored(), right.clone(), left.clone(), *column);
            if calls(left, Function::Position) { None } else { position(&turned) }
        }
        Expr::Compare(comparison, left, right, _) if calls(left, Function::Position) => {
            match (comparison, &**right) {
                (Comparison::Equal | Comparison::LessEqual, Expr::Number(1.0)) => Some(Position::First),
                (Comparison::Less, Expr::Number(2.0)) => Some(Position::First),
                (Comparison::NotEqual | Comparison::Greater, Expr::Number(1.0)) => Some(Position::Later),
                (Comparison::GreaterEqual, Expr::Number(2.0)) => Some(Position::Later),
                (Comparison::Equal, last) if calls(last, Function::Last) => Some(Position::Last),
                (Comparison::NotEqual | Comparison::Less, last) if calls(last, Function::Last) => {
                    Some(Position::Sooner)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The gap that an axis is; none for the backward ones that conditions do not have.
pub(crate) fn direction(axis: ast::Axis) -> Option<Axis> {
    Some(match axis {
        ast::Axis::Child => Axis::CHILD,
        ast::Axis::Descendant => Axis::DESCENDANT,
        ast::Axis::DescendantOrSelf => Axis::DESCENDANT_OR_SELF,
        ast::Axis::SelfNode | ast::Axis::Attribute => Axis::SELF,
        ast::Axis::Following => Axis::Following,
        ast::Axis::FollowingSibling => Axis::FollowingSibling,
        ast::Axis::Preceding => Axis::Preceding,
        ast::Axis::PrecedingSibling => Axis::PrecedingSibling,
        ast::Axis::Parent | ast::Axis::Ancestor | ast::Axis::AncestorOrSelf => return None,
    })
}
