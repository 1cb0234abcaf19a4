//! Comparisons of numbers, sorted by their constant, apart for each subject and guard.
//!
//! A comparison passes far more often than an equality, so a value alone would call for too many. A comparison is kept with
//! the path that its expression cannot do without, its *guard*, and only those of paths found are looked at.

use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::FxHashMap;

use crate::values::{Comparison, Real};

/// The number of a path, or `NONE` for comparisons that have no guard or more than one.
pub(super) type Guard = u32;
pub(super) const NONE: Guard = u32::MAX;

type TestId = u32;
type SubjectId = u32;

/// The comparisons of one subject under one guard.
#[derive(Clone, Debug, Default)]
struct Sorted {
    subject: SubjectId,
    /// `> t`, and `>= t` before it.
    above: BTreeMap<(Real, bool), TestId>,
    /// `< t`, and `<= t` after it.
    below: BTreeMap<(Real, bool), TestId>,
}

impl Sorted {
    fn side(&mut self, comparison: Comparison) -> &mut BTreeMap<(Real, bool), TestId> {
        match comparison {
            Comparison::Greater | Comparison::GreaterEqual => &mut self.above,
            _ => &mut self.below,
        }
    }
}

/// All comparisons, by guard.
#[derive(Clone, Debug, Default)]
pub(super) struct Thresholds {
    guards: FxHashMap<Guard, Vec<Sorted>>,
}

/// Sorted so that what a number passes is all before, or all behind: `>= t` `> t`, and `< t` `<= t`.
fn key(comparison: Comparison, number: Real) -> (Real, bool) {
    (number, matches!(comparison, Comparison::Greater | Comparison::LessEqual))
}

impl Thresholds {
    pub(super) fn get(&self, guard: Guard, subject: SubjectId, test: (Comparison, Real)) -> Option<TestId> {
        let sorted = self.guards.get(&guard)?.iter().find(|each| each.subject == subject)?;
        let side = match test.0 {
            Comparison::Greater | Comparison::GreaterEqual => &sorted.above,
            _ => &sorted.below,
        };
        side.get(&key(test.0, test.1)).copied()
    }

    pub(super) fn insert(&mut self, guard: Guard, subject: SubjectId, test: (Comparison, Real), id: TestId) {
        let all = self.guards.entry(guard).or_default();
        let at = all.iter().position(|each| each.subject == subject).unwrap_or_else(|| {
            all.push(Sorted { subject, ..Sorted::default() });
            all.len() - 1
        });
        all[at].side(test.0).insert(key(test.0, test.1), id);
    }

    pub(super) fn remove(&mut self, guard: Guard, subject: SubjectId, test: (Comparison, Real)) {
        let Some(all) = self.guards.get_mut(&guard) else { return };
        if let Some(at) = all.iter().position(|each| each.subject == subject) {
            all[at].side(test.0).remove(&key(test.0, test.1));
            if all[at].above.is_empty() && all[at].below.is_empty() {
                all.swap_remove(at);
            }
        }
        if all.is_empty() {
            self.guards.remove(&guard);
        }
    }

    /// The tests under a guard that some number of their subject passes; `range` tells its least and largest.
    pub(super) fn passed(
        &self,
        guard: Guard,
        range: impl Fn(SubjectId) -> Option<(Real, Real)>,
        passed: &mut Vec<TestId>,
    ) {
        for sorted in self.guards.get(&guard).into_iter().flatten() {
            if let Some((least, largest)) = range(sorted.subject) {
                passed.extend(sorted.above.range(..(largest, true)).map(|(_, test)| test));
                let from = Bound::Included((least, true));
                passed.extend(sorted.below.range((from, Bound::Unbounded)).map(|(_, test)| test));
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let sorted: usize = self.guards.values().map(|all| all.capacity() * size_of::<Sorted>()).sum();
        let tests: usize =
            self.guards.values().flatten().map(|sorted| sorted.above.len() + sorted.below.len()).sum();
        sorted + 32 * tests + self.guards.capacity() * (size_of::<Vec<Sorted>>() + 5)
    }
}
