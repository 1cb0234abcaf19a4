//! Tests on one element: its name, attributes, height and string-value.
//!
//! What a condition says of the element alone is no branch. Names and attributes are known at the start tag. The
//! string-value and the height below are known at the end tag only (the paper looks at text at the start tag, where it
//! is not there yet), so a test that looks at them is decided there and what follows from it is propagated then.

use super::open::{Element, Ending, Value};
use pathcast_core::pattern::{Axis, Condition, NameTest, NodeTest};
use pathcast_core::values::{ValueTest, compare};

/// When a test can be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    /// At the start tag.
    Start,
    /// At the end tag.
    End,
}

/// When a condition can be decided on the element alone; `None` if it looks elsewhere.
pub(super) fn when(condition: &Condition) -> Option<When> {
    match condition {
        Condition::True | Condition::False | Condition::Is(_) => Some(When::Start),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().try_fold(When::Start, |latest, part| Some(latest.max(when(part)?)))
        }
        Condition::Not(inner) => when(inner),
        Condition::Attribute(_, inner) => on_value(inner).then_some(When::Start),
        Condition::Value(_) => Some(When::End),
        Condition::Exists(..) => height(condition).map(|_| When::End),
        Condition::First(..) | Condition::Root(_) | Condition::Ordered(_) | Condition::Typed(_) => None,
    }
}

/// Whether the string-value decides, of an element or of a text node.
pub(super) fn reads_value(condition: &Condition) -> bool {
    match condition {
        Condition::Value(_) => true,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(reads_value),
        Condition::Not(inner) => reads_value(inner),
        _ => false,
    }
}

/// Whether a condition looks at nothing but a string.
pub(super) fn on_value(condition: &Condition) -> bool {
    match condition {
        Condition::True | Condition::False | Condition::Value(_) => true,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().all(on_value),
        Condition::Not(inner) => on_value(inner),
        _ => false,
    }
}

/// "Some element so many levels below" is a matter of height.
pub(super) fn height(condition: &Condition) -> Option<u32> {
    match condition {
        Condition::Exists(Axis::Down { min, exact: true }, pattern)
            if *min > 0
                && pattern.test == NodeTest::Element(NameTest::Any)
                && pattern.condition == Condition::True =>
        {
            Some(*min)
        }
        _ => None,
    }
}

/// Whether an element passes; without an ending only what is known at the start tag is asked.
pub(super) fn passes(condition: &Condition, element: &Element<'_>, ending: Option<Ending<'_>>) -> bool {
    match condition {
        Condition::True => true,
        Condition::And(parts) => parts.iter().all(|part| passes(part, element, ending)),
        Condition::Or(parts) => parts.iter().any(|part| passes(part, element, ending)),
        Condition::Not(inner) => !passes(inner, element, ending),
        Condition::Is(test) => matches!(test, NodeTest::Element(name) if name.admits(element.name)),
        Condition::Attribute(name, inner) => {
            element.attributes().any(|(each, value)| name.admits(each) && accepts(inner, value))
        }
        Condition::Value(_) => ending.is_some_and(|ending| accepts(condition, ending.value)),
        Condition::Exists(..) => {
            height(condition).is_some_and(|levels| ending.is_some_and(|ending| ending.height >= levels))
        }
        Condition::False
        | Condition::First(..)
        | Condition::Root(_)
        | Condition::Ordered(_)
        | Condition::Typed(_) => false,
    }
}

/// Whether a string passes.
pub(super) fn accepts(condition: &Condition, value: Value<'_>) -> bool {
    match condition {
        Condition::True => true,
        Condition::And(parts) => parts.iter().all(|part| accepts(part, value)),
        Condition::Or(parts) => parts.iter().any(|part| accepts(part, value)),
        Condition::Not(inner) => !accepts(inner, value),
        Condition::Value(ValueTest::Number(comparison, number)) => {
            compare(*comparison, value.number(), number.get())
        }
        Condition::Value(test) => test.accepts(value.text),
        _ => false,
    }
}
