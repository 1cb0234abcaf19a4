//! What several tests on one value say together about another test on it: intervals for numbers, sets for texts.
//!
//! Sound and not complete: "no" may be said of a test that does follow, "yes" never of one that does not.

use crate::values::Comparison;
use crate::values::ValueTest;

/// Whether every value that passes all the known tests passes the goal.
pub(super) fn follows(known: &[&ValueTest], goal: &ValueTest) -> bool {
    if known.contains(&goal) {
        return true;
    }
    // One text is left: ask it.
    if let Some(text) = known.iter().find_map(|test| match test {
        ValueTest::Equals(text) => Some(text),
        _ => None,
    }) {
        return goal.accepts(text);
    }
    match goal {
        ValueTest::Equals(_) => false,
        // A text that fails one of the known tests is not the value.
        ValueTest::Differs(text) => known.iter().any(|test| !test.accepts(text)),
        ValueTest::Number(comparison, number) => {
            Interval::of(known).is_some_and(|interval| interval.passes(*comparison, number.get()))
        }
        ValueTest::Contains(part) => known.iter().any(|test| match test {
            ValueTest::Contains(text) | ValueTest::StartsWith(text) => text.contains(&**part),
            _ => false,
        }),
        ValueTest::StartsWith(part) => known.iter().any(|test| match test {
            ValueTest::StartsWith(text) => text.starts_with(&**part),
            _ => false,
        }),
        ValueTest::ContainedIn(whole) => known.iter().any(|test| match test {
            ValueTest::ContainedIn(text) | ValueTest::PrefixOf(text) => whole.contains(&**text),
            _ => false,
        }),
        ValueTest::PrefixOf(whole) => known.iter().any(|test| match test {
            ValueTest::PrefixOf(text) => whole.starts_with(&**text),
            _ => false,
        }),
    }
}

/// Whether no value passes all the known tests and the other one.
pub(super) fn excludes(known: &[&ValueTest], other: &ValueTest) -> bool {
    match other {
        ValueTest::Equals(text) => known.iter().any(|test| !test.accepts(text)),
        ValueTest::Differs(text) => follows(known, &ValueTest::Equals(text.clone())),
        ValueTest::Number(comparison, number) => {
            follows(known, &ValueTest::Number(comparison.opposite(), *number))
        }
        _ => false,
    }
}

/// What is known of a value as a number; it is one, because some comparison other than `!=` holds.
struct Interval<'a> {
    known: &'a [&'a ValueTest],
    low: f64,
    low_open: bool,
    high: f64,
    high_open: bool,
    is_number: bool,
}

impl<'a> Interval<'a> {
    /// Nothing when no test compares numbers.
    fn of(known: &'a [&'a ValueTest]) -> Option<Self> {
        let mut interval = Self {
            known,
            low: f64::NEG_INFINITY,
            low_open: false,
            high: f64::INFINITY,
            high_open: false,
            is_number: false,
        };
        let mut compared = false;
        for test in known {
            let ValueTest::Number(comparison, number) = test else { continue };
            compared = true;
            let number = number.get();
            interval.is_number |= *comparison != Comparison::NotEqual;
            match comparison {
                Comparison::NotEqual => {}
                Comparison::Equal => {
                    interval.raise(number, false);
                    interval.lower(number, false);
                }
                Comparison::Less => interval.lower(number, true),
                Comparison::LessEqual => interval.lower(number, false),
                Comparison::Greater => interval.raise(number, true),
                Comparison::GreaterEqual => interval.raise(number, false),
            }
        }
        compared.then_some(interval)
    }

    #[allow(clippy::float_cmp, reason = "the bounds are constants of the expressions")]
    fn raise(&mut self, low: f64, open: bool) {
        if low > self.low || low == self.low && open {
            (self.low, self.low_open) = (low, open);
        }
    }

    #[allow(clippy::float_cmp, reason = "the bounds are constants of the expressions")]
    fn lower(&mut self, high: f64, open: bool) {
        if high < self.high || high == self.high && open {
            (self.high, self.high_open) = (high, open);
        }
    }

    #[allow(clippy::float_cmp, reason = "XPath compares doubles exactly")]
    fn passes(&self, comparison: Comparison, number: f64) -> bool {
        match comparison {
            Comparison::NotEqual => {
                let excluded = self.known.iter().any(|test| {
                    matches!(test, ValueTest::Number(Comparison::NotEqual, other) if other.get() == number)
                });
                excluded || self.is_number && (self.below(number, true) || self.above(number, true))
            }
            Comparison::Equal => self.is_number && self.low == number && self.high == number,
            Comparison::Less => self.is_number && self.below(number, true),
            Comparison::LessEqual => self.is_number && self.below(number, false),
            Comparison::Greater => self.is_number && self.above(number, true),
            Comparison::GreaterEqual => self.is_number && self.above(number, false),
        }
    }

    #[allow(clippy::float_cmp, reason = "the bounds are constants of the expressions")]
    fn below(&self, number: f64, strictly: bool) -> bool {
        self.high < number || self.high == number && (self.high_open || !strictly)
    }

    #[allow(clippy::float_cmp, reason = "the bounds are constants of the expressions")]
    fn above(&self, number: f64, strictly: bool) -> bool {
        self.low > number || self.low == number && (self.low_open || !strictly)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Real;

    fn number(comparison: Comparison, value: f64) -> ValueTest {
        ValueTest::Number(comparison, Real::new(value).unwrap())
    }

    #[test]
    fn intervals() {
        use Comparison::*;
        let (three, five) = (number(GreaterEqual, 3.0), number(Less, 5.0));
        assert!(follows(&[&three], &number(Greater, 2.0)));
        assert!(!follows(&[&three], &number(Greater, 3.0)));
        assert!(follows(&[&three, &five], &number(NotEqual, 5.0)));
        assert!(!follows(&[&three, &five], &number(NotEqual, 4.0)));
        assert!(follows(&[&three, &number(LessEqual, 3.0)], &number(Equal, 3.0)));
        // A value that is no number differs from all numbers, so `!=` says little.
        assert!(!follows(&[&number(NotEqual, 3.0)], &number(NotEqual, 4.0)));
        assert!(!follows(&[&ValueTest::Differs("x".into())], &number(NotEqual, 4.0)));
        assert!(excludes(&[&three], &number(Less, 3.0)));
        assert!(!excludes(&[&number(NotEqual, 3.0)], &number(Less, 3.0)));
    }

    #[test]
    fn texts() {
        let text = |text: &str| ValueTest::Equals(text.into());
        let starts = |text: &str| ValueTest::StartsWith(text.into());
        assert!(follows(&[&text("abc")], &starts("ab")));
        assert!(follows(&[&text(" 7 ")], &number(Comparison::Equal, 7.0)));
        assert!(follows(&[&starts("abc")], &ValueTest::Contains("bc".into())));
        assert!(follows(&[&starts("abc")], &ValueTest::Differs("xyz".into())));
        assert!(!follows(&[&starts("abc")], &ValueTest::Differs("abcd".into())));
        assert!(!follows(&[&starts("abc")], &text("abc")));
        assert!(follows(&[&number(Comparison::Less, 3.0)], &ValueTest::Differs("4".into())));
    }
}
