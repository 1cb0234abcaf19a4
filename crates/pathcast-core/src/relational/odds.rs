//! How likely it is that a node fills a slot, guessed from the subscriptions alone.
//!
//! Of several slots of a pattern, a join should start with the one that the fewest nodes fill. Documents are not known when
//! subscriptions are compiled, but subscriptions tell something: people ask for what there is. So the chance of `x = 'a'` is
//! guessed as the share of that constant among all that are asked of `x`. The others get round figures: `!=` nearly
//! always holds, an inequality often. A bad guess costs time and changes no answer.

use rustc_hash::FxHashMap;

use super::compile::{PatternRow, Rows};

const CHAIN: f64 = 0.3;
const INEQUALITY: f64 = 0.4;
const EXISTS: f64 = 0.5;
const DIFFERS: f64 = 0.9;
/// Constants that are assumed to be asked of every value beside those that are.
const UNASKED: f64 = 10.0;

/// The chances of slots and tests by number.
pub(super) struct Odds(FxHashMap<i64, f64>);

impl Odds {
    pub(super) fn new(rows: &Rows, patterns: &[(PatternRow, Vec<i64>)]) -> Self {
        let mut users: FxHashMap<i64, f64> = FxHashMap::default();
        for slot in patterns.iter().flat_map(|(_, slots)| slots) {
            *users.entry(*slot).or_default() += 1.0;
        }
        let mut asked: FxHashMap<i64, f64> = FxHashMap::default();
        for slot in &rows.slots {
            *asked.entry(slot.low).or_default() += users.get(&slot.slot).copied().unwrap_or(1.0);
        }
        let mut constants: FxHashMap<i64, f64> = FxHashMap::default();
        for row in rows.predicates.iter().filter(|row| row.operation == 0) {
            *constants.entry(row.subject).or_default() += asked.get(&row.predicate).copied().unwrap_or(1.0);
        }
        let mut odds = FxHashMap::default();
        for row in &rows.predicates {
            let chance = match row.operation {
                0 => asked.get(&row.predicate).unwrap_or(&1.0) / (constants[&row.subject] + UNASKED),
                5 => DIFFERS,
                6 => EXISTS,
                _ => INEQUALITY,
            };
            odds.insert(row.predicate, chance);
        }
        let mut all = Self(odds);
        for slot in &rows.slots {
            let below = if slot.is_test { all.of(slot.low) } else { CHAIN };
            let chance = if slot.step == 0 { below } else { below * CHAIN };
            all.0.insert(slot.slot, chance);
        }
        all
    }

    /// The chance of a slot; a bare chain of steps has no row of its own.
    pub(super) fn of(&self, number: i64) -> f64 {
        self.0.get(&number).copied().unwrap_or(CHAIN)
    }
}
