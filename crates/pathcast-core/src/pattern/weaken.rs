//! A condition without its typed parts, for those who look for what it implies.

use super::build::{and, exists, not, or, root};
use super::condition::{Condition, NodePattern};

/// The same condition without typed parts: it may hold more often, never less.
pub(super) fn weaken(condition: &Condition) -> Condition {
    match condition {
        Condition::Typed(_) => Condition::True,
        Condition::And(parts) => and(parts.iter().map(weaken)),
        Condition::Or(parts) => or(parts.iter().map(weaken)),
        Condition::Not(inner) if has_typed(inner) => Condition::True,
        Condition::Not(inner) => not((**inner).clone()),
        Condition::Exists(axis, pattern) => {
            let NodePattern { test, condition } = &**pattern;
            exists(*axis, test.clone(), weaken(condition))
        }
        Condition::Root(inner) => root(weaken(inner)),
        other => other.clone(),
    }
}

/// Whether a typed expression decides it anywhere but in the first node of a path.
fn has_typed(condition: &Condition) -> bool {
    match condition {
        Condition::Typed(_) => true,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(has_typed),
        Condition::Not(inner) | Condition::Root(inner) | Condition::Attribute(_, inner) => has_typed(inner),
        Condition::Exists(_, pattern) => has_typed(&pattern.condition),
        _ => false,
    }
}
