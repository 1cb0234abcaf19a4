//! Tests that most values pass: `!=`, `<`, `<=`, `>`, `>=`.
//!
//! To tell everybody that such a test passed would cost as much as there are tests. They are therefore not told but
//! asked: the values of a subject are summed up, and the summary answers any of them at once. A rule that waits for one
//! of these lies beside the test, so that those that pass are gone through without going through memory.

use std::collections::BTreeMap;
use std::io;

use super::NONE;
use super::atoms::Test;
use super::constants::TextId;
use super::rules::{RuleId, Waiting};
use crate::image::{ImageError, Reader, Writer};
use crate::values::Real;
use crate::xpath::ast::Comparison;

/// What is known of all values of a subject below one element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    /// The constant that every value is, or none.
    only: TextId,
    /// Whether there are different values, as far as constants tell.
    several: bool,
    least: f64,
    largest: f64,
    /// Whether some value is no number.
    other: bool,
    /// How many values there are, where only that is asked for.
    count: u64,
}

impl Summary {
    /// One value, whichever it is.
    pub(super) const ONE: Self =
        Self { only: NONE, several: false, least: 0.0, largest: 0.0, other: false, count: 1 };

    /// Of one value: the constant it is, or none, and its number.
    pub(super) fn new(text: Option<TextId>, number: f64) -> Self {
        let only = text.unwrap_or(NONE);
        let other = number.is_nan();
        let (least, largest) = if other { (f64::INFINITY, f64::NEG_INFINITY) } else { (number, number) };
        Self { only, several: false, least, largest, other, count: 0 }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.several |= more.several || self.only != more.only;
        self.least = self.least.min(more.least);
        self.largest = self.largest.max(more.largest);
        self.other |= more.other;
        self.count += more.count;
    }

    /// Whether values are counted, and not looked at.
    pub(super) fn is_count(&self) -> bool {
        self.count > 0
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether some value passes.
    #[allow(clippy::float_cmp, reason = "XPath compares doubles exactly")]
    pub(super) fn passes(&self, test: Test) -> bool {
        let numbers = self.least <= self.largest;
        match test {
            Test::Differs(text) => self.several || self.only != text,
            Test::Number(comparison, number) => match comparison {
                Comparison::NotEqual => {
                    self.other || numbers && (self.least != number.get() || self.largest != number.get())
                }
                Comparison::Less => numbers && self.least < number.get(),
                Comparison::LessEqual => numbers && self.least <= number.get(),
                Comparison::Greater => numbers && self.largest > number.get(),
                Comparison::GreaterEqual => numbers && self.largest >= number.get(),
                Comparison::Equal => false,
            },
            _ => false,
        }
    }
}

/// Rules that wait for a test of one subject, so that all whose test passes are found without asking each.
#[derive(Clone, Debug, Default)]
pub(super) struct Awaited {
    /// `!=`: nearly all pass.
    unequal: BTreeMap<RuleId, (Test, Waiting)>,
    /// `>= t` and after it `> t`: what a number passes comes first.
    above: Sorted,
    /// `< t` and after it `<= t`: what a number passes comes last.
    below: Sorted,
}

/// A number, and whether it comes after an equal one.
type Threshold = (Real, bool);
type Sorted = BTreeMap<(Threshold, RuleId), Waiting>;

impl Awaited {
    pub(super) fn is_empty(&self) -> bool {
        self.unequal.is_empty() && self.above.is_empty() && self.below.is_empty()
    }

    /// The tests of one kind, and the place of this one among them.
    fn sorted(&mut self, test: Test) -> Option<(&mut Sorted, Threshold)> {
        match test {
            Test::Number(Comparison::Greater, number) => Some((&mut self.above, (number, true))),
            Test::Number(Comparison::GreaterEqual, number) => Some((&mut self.above, (number, false))),
            Test::Number(Comparison::Less, number) => Some((&mut self.below, (number, false))),
            Test::Number(Comparison::LessEqual, number) => Some((&mut self.below, (number, true))),
            _ => None,
        }
    }

    pub(super) fn insert(&mut self, test: Test, waiting: Waiting) {
        match self.sorted(test) {
            Some((sorted, threshold)) => drop(sorted.insert((threshold, waiting.rule()), waiting)),
            None => drop(self.unequal.insert(waiting.rule(), (test, waiting))),
        }
    }

    pub(super) fn remove(&mut self, test: Test, rule: RuleId) {
        match self.sorted(test) {
            Some((sorted, threshold)) => drop(sorted.remove(&(threshold, rule))),
            None => drop(self.unequal.remove(&rule)),
        }
    }

    pub(super) fn get_mut(&mut self, test: Test, rule: RuleId) -> Option<&mut Waiting> {
        if matches!(test, Test::Differs(_) | Test::Number(Comparison::NotEqual, _)) {
            return self.unequal.get_mut(&rule).map(|(_, waiting)| waiting);
        }
        let (sorted, threshold) = self.sorted(test)?;
        sorted.get_mut(&(threshold, rule))
    }

    /// Reports the rules whose test some value passes.
    pub(super) fn passing<'w>(&'w self, summary: &Summary, mut report: impl FnMut(&'w Waiting)) {
        for (test, waiting) in self.unequal.values() {
            if summary.passes(*test) {
                report(waiting);
            }
        }
        if let (Some(least), Some(largest)) = (Real::new(summary.least), Real::new(summary.largest))
            && least <= largest
        {
            self.above.range(..((largest, true), 0)).for_each(|(_, waiting)| report(waiting));
            self.below.range(((least, true), 0)..).for_each(|(_, waiting)| report(waiting));
        }
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.number(self.unequal.len())?;
        image.each(self.unequal.iter().map(|(&rule, &row)| (rule, row)))?;
        for sorted in [&self.above, &self.below] {
            image.number(sorted.len())?;
            image.each(sorted.iter().map(|(&place, &waiting)| (place, waiting)))?;
        }
        Ok(())
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let unequal: Vec<(RuleId, (Test, Waiting))> = image.items()?;
        let mut sorted = || image.items::<((Threshold, RuleId), Waiting)>().map(Sorted::from_iter);
        let (above, below) = (sorted()?, sorted()?);
        Ok(Self { unequal: unequal.into_iter().collect(), above, below })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        48 * (self.unequal.len() + self.above.len() + self.below.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::{Aim, Literal};
    use super::*;
    use crate::values::compare;

    #[test]
    fn what_a_summary_knows_is_not_lost_when_it_is_added_to_another() {
        let mut more = Summary::new(Some(0), f64::NAN);
        more.add(&Summary::new(None, f64::NAN));
        let mut summary = Summary::new(Some(0), f64::NAN);
        summary.add(&more);
        assert!(summary.passes(Test::Differs(0)));
    }

    #[test]
    fn a_summary_answers_as_its_values_do() {
        let constants = [-1.5, 0.0, 1.0, 2.0, f64::INFINITY].map(|number| Real::new(number).expect("no NaN"));
        let comparisons = [
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessEqual,
            Comparison::Greater,
            Comparison::GreaterEqual,
        ];
        let tests: Vec<Test> = comparisons
            .iter()
            .flat_map(|&comparison| constants.iter().map(move |&number| Test::Number(comparison, number)))
            .chain((0..3).map(Test::Differs))
            .collect();
        let mut awaited = Awaited::default();
        for (rule, &test) in (0..).zip(&tests) {
            awaited.insert(test, Waiting::new(rule, false, Literal::NONE, Aim::NOTHING));
        }
        let values = [f64::NAN, -2.0, -1.5, 0.0, 1.0, 7.0, f64::INFINITY, f64::NEG_INFINITY];
        for (first, &left) in values.iter().enumerate() {
            for (second, &right) in values.iter().enumerate() {
                let texts = [(first % 4) as TextId, (second % 4) as TextId];
                let known = |text: TextId| (text < 3).then_some(text);
                let mut summary = Summary::new(known(texts[0]), left);
                summary.add(&Summary::new(known(texts[1]), right));
                let expected: Vec<RuleId> = (0..)
                    .zip(&tests)
                    .filter(|(_, test)| match **test {
                        Test::Differs(text) => texts.iter().any(|&each| each != text),
                        Test::Number(comparison, number) => {
                            compare(comparison, left, number.get())
                                || compare(comparison, right, number.get())
                        }
                        _ => false,
                    })
                    .map(|(rule, _)| rule)
                    .collect();
                let asked: Vec<RuleId> = (0..)
                    .zip(&tests)
                    .filter(|(_, test)| summary.passes(**test))
                    .map(|(rule, _)| rule)
                    .collect();
                assert_eq!(asked, expected, "{left} {right}");
                let mut told = Vec::new();
                awaited.passing(&summary, |waiting| told.push(waiting.rule()));
                told.sort_unstable();
                assert_eq!(told, expected, "{left} {right}");
            }
        }
    }
}
