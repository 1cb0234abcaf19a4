//! Which value tests a declared value can pass.
//!
//! Everything here errs towards yes: a subscription called impossible is never asked again.

use super::graph::Values;
use crate::pattern::Condition;
use crate::values::Comparison;
use crate::values::ValueTest;

/// Whether some string of nothing but white space passes: what element content has between its elements.
pub(super) fn blank_passes(test: &ValueTest) -> bool {
    match test {
        ValueTest::Equals(text) | ValueTest::Contains(text) | ValueTest::StartsWith(text) => is_blank(text),
        ValueTest::Number(comparison, _) => *comparison == Comparison::NotEqual,
        // The empty string, or any other white space where that one is excluded.
        ValueTest::Differs(_) | ValueTest::ContainedIn(_) | ValueTest::PrefixOf(_) => true,
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|each| matches!(each, ' ' | '\t' | '\n' | '\r'))
}

impl Values {
    /// Whether an attribute or an element with such values can satisfy a condition on its value.
    pub(super) fn may_satisfy(&self, condition: &Condition) -> bool {
        match self {
            Self::Free => *condition != Condition::False,
            Self::Tokens(tokens) => tokens.iter().any(|token| {
                outcomes(condition, &|test| {
                    let passes = padded_passes(test, token);
                    // Around the token there may be white space, which may make the difference.
                    (passes, !matches!(test, ValueTest::Number(..)) || !passes)
                })
                .0
            }),
            Self::Fixed(value) => outcomes(condition, &|test| (test.accepts(value), !test.accepts(value))).0,
        }
    }
}

/// Whether a condition on a value can be true, and whether it can be false.
fn outcomes(condition: &Condition, value: &impl Fn(&ValueTest) -> (bool, bool)) -> (bool, bool) {
    match condition {
        Condition::True => (true, false),
        Condition::And(parts) => parts.iter().fold((true, false), |(yes, no), part| {
            let (can, cannot) = outcomes(part, value);
            (yes && can, no || cannot)
        }),
        Condition::Or(parts) => parts.iter().fold((false, true), |(yes, no), part| {
            let (can, cannot) = outcomes(part, value);
            (yes || can, no && cannot)
        }),
        Condition::Not(inner) => {
            let (yes, no) = outcomes(inner, value);
            (no, yes)
        }
        Condition::Value(test) => value(test),
        Condition::Root(_) | Condition::Typed(_) => (true, true),
        // An attribute has nothing but its value.
        Condition::False
        | Condition::Exists(..)
        | Condition::Is(_)
        | Condition::Attribute(..)
        | Condition::First(..)
        | Condition::Ordered(_) => (false, true),
    }
}

/// Whether a token with some white space around it passes; all kinds of it are taken for spaces.
fn padded_passes(test: &ValueTest, token: &str) -> bool {
    let spaced = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    let spaces = |text: &str| " ".repeat(text.len());
    match test {
        ValueTest::Equals(text) => spaced(text).trim_matches(' ') == token,
        ValueTest::Differs(_) => true,
        ValueTest::Number(..) => test.accepts(token),
        ValueTest::Contains(text) => {
            let room = spaces(text);
            format!("{room}{token}{room}").contains(&spaced(text))
        }
        ValueTest::StartsWith(text) => {
            let text = spaced(text);
            let rest = text.trim_start_matches(' ');
            format!("{token}{}", spaces(rest)).starts_with(rest)
        }
        ValueTest::ContainedIn(text) => text.contains(token),
        ValueTest::PrefixOf(text) => spaced(text).trim_start_matches(' ').starts_with(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_a_token_is_no_reason_to_say_never() {
        let token = |test| padded_passes(&test, "left");
        assert!(token(ValueTest::Equals(" left ".into())));
        assert!(token(ValueTest::Equals("\n\tleft\n".into())));
        assert!(token(ValueTest::Contains("\nle".into())));
        assert!(!token(ValueTest::Equals("le ft".into())));
        assert!(token(ValueTest::Contains("t ".into())));
        assert!(token(ValueTest::StartsWith("  lef".into())));
        assert!(!token(ValueTest::StartsWith("  eft".into())));
        assert!(token(ValueTest::PrefixOf(" left or right".into())));
    }
}
