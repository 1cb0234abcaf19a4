//! Comparisons that fold: with a constant on one side, or about whether there is a node at all.

use super::build;
use super::condition::Condition;
use super::place::Leaf;
use crate::values::{Comparison, Real, ValueTest, compare, number};
use crate::xpath::ast::{Expr, Function};

/// A comparison with one side folded away.
pub(crate) enum Comparand<'e, 'a> {
    /// Both sides were constants.
    Constant(bool),
    /// A node-set, and what one of its nodes must satisfy.
    Nodes(&'e Expr<'a>, Leaf<'e, 'a>),
    /// It holds if this does.
    Exists(&'e Expr<'a>),
    /// It holds if this does not.
    Absent(&'e Expr<'a>),
}

pub(crate) fn comparand<'e, 'a>(
    comparison: Comparison,
    left: &'e Expr<'a>,
    right: &'e Expr<'a>,
) -> Option<Comparand<'e, 'a>> {
    let is_nodes = |side: &Expr<'_>| matches!(side, Expr::Path(_) | Expr::Union(_));
    Some(match (left, right) {
        (Expr::Literal(a), Expr::Literal(b)) if comparison == Comparison::Equal => {
            Comparand::Constant(a == b)
        }
        (Expr::Literal(a), Expr::Literal(b)) if comparison == Comparison::NotEqual => {
            Comparand::Constant(a != b)
        }
        (Expr::Literal(_) | Expr::Number(_), Expr::Literal(_) | Expr::Number(_)) => {
            Comparand::Constant(compare(comparison, as_number(left), as_number(right)))
        }
        (Expr::Literal(_) | Expr::Number(_), nodes) if is_nodes(nodes) => {
            Comparand::Nodes(nodes, leaf(comparison.mirrored(), left))
        }
        (nodes, Expr::Literal(_) | Expr::Number(_)) if is_nodes(nodes) => {
            Comparand::Nodes(nodes, leaf(comparison, right))
        }
        _ => return None,
    })
}

/// `x = true()` is `boolean(x)`, whatever the type of x.
pub(super) fn truth<'e, 'a>(
    comparison: Comparison,
    left: &'e Expr<'a>,
    right: &'e Expr<'a>,
) -> Option<Comparand<'e, 'a>> {
    let (wanted, other) = match (left, right) {
        (Expr::Call(wanted @ (Function::True | Function::False), ..), other)
        | (other, Expr::Call(wanted @ (Function::True | Function::False), ..)) => (wanted, other),
        _ => return None,
    };
    match (comparison, wanted) {
        (Comparison::Equal, Function::True) | (Comparison::NotEqual, Function::False) => {
            Some(Comparand::Exists(other))
        }
        (Comparison::Equal, _) | (Comparison::NotEqual, _) => Some(Comparand::Absent(other)),
        _ => None,
    }
}

/// `count(x) > 0` and its like ask whether there is an x.
pub(super) fn counted<'e, 'a>(
    comparison: Comparison,
    left: &'e Expr<'a>,
    right: &'e Expr<'a>,
) -> Option<Comparand<'e, 'a>> {
    let (comparison, call, constant) = match (left, right) {
        (Expr::Call(..), Expr::Number(_) | Expr::Literal(_)) => (comparison, left, right),
        (Expr::Number(_) | Expr::Literal(_), Expr::Call(..)) => (comparison.mirrored(), right, left),
        _ => return None,
    };
    let Expr::Call(function, arguments, _) = call else { return None };
    match (function, arguments.as_slice(), constant) {
        (Function::Count, [nodes], Expr::Number(number)) => {
            // Whether no node and any number of nodes pass; only then their number does not matter.
            let none = compare(comparison, 0.0, *number);
            let some = compare(comparison, 1.0, *number);
            let settled = match comparison {
                Comparison::Equal | Comparison::NotEqual => *number <= 0.0 || number.fract() != 0.0,
                Comparison::Less | Comparison::LessEqual => !some,
                Comparison::Greater | Comparison::GreaterEqual => some,
            };
            match (none, some) {
                _ if number.is_nan() || !settled => None,
                (false, true) => Some(Comparand::Exists(nodes)),
                (true, false) => Some(Comparand::Absent(nodes)),
                (same, _) => Some(Comparand::Constant(same)),
            }
        }
        _ => None,
    }
}

/// What a node must satisfy whose value stands left of a constant.
pub(super) fn leaf<'e, 'a>(comparison: Comparison, constant: &'e Expr<'a>) -> Leaf<'e, 'a> {
    Leaf { condition: value_test(comparison, constant), comparison: Some((comparison, constant)) }
}

/// A node's value on the left, a constant on the right.
fn value_test(comparison: Comparison, constant: &Expr<'_>) -> Condition {
    match (comparison, constant) {
        (Comparison::Equal, Expr::Literal(text)) => Condition::Value(ValueTest::Equals((*text).into())),
        (Comparison::NotEqual, Expr::Literal(text)) => Condition::Value(ValueTest::Differs((*text).into())),
        _ => match Real::new(as_number(constant)) {
            Some(number) => Condition::Value(ValueTest::Number(comparison, number)),
            // With NaN on one side only `!=` holds, and that for every node.
            None => build::constant(comparison == Comparison::NotEqual),
        },
    }
}

fn as_number(constant: &Expr<'_>) -> f64 {
    match constant {
        Expr::Number(value) => *value,
        Expr::Literal(text) => number::from_xpath_number(text),
        _ => f64::NAN,
    }
}
