//! Who subscribed to what, as results see it.
//!
//! A result names distinct expressions and keeps the roster it was made with, so that no id is built until somebody
//! asks and later changes do not show. Sharing is by chunks: a change copies the chunk it touches, not the roster.

use super::chunks::Chunks;
use super::expression::{ExpressionId, VACANT};
use super::fanout::Fanout;
use super::ids::{Id, Ids};
use super::places::{Places, Slot, each_bit};
use super::sources::SourceId;

/// Subscriptions by place, a column for each thing to know, and their places by expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    ids: Ids,
    expressions: Chunks<ExpressionId>,
    /// How they were written.
    sources: Chunks<SourceId>,
    fanout: Fanout,
    /// How many of the places that are taken have a text as id.
    texts: usize,
    /// How often the places were numbered anew.
    edition: u64,
}

impl Roster {
    /// A new place at the end.
    pub(super) fn seat(&mut self, id: &Id, expression: ExpressionId, source: SourceId) -> Slot {
        let slot = self.places() as Slot;
        self.ids.push(id);
        self.expressions.push(VACANT);
        self.sources.push(source);
        self.join(slot, expression);
        slot
    }

    /// The ids by place, of those who left too.
    pub(super) fn ids(&self) -> &Ids {
        &self.ids
    }

    pub(super) fn expression(&self, slot: Slot) -> ExpressionId {
        *self.expressions.get(slot)
    }

    pub(super) fn source(&self, slot: Slot) -> SourceId {
        *self.sources.get(slot)
    }

    /// How many places there are, empty ones included.
    pub(super) fn places(&self) -> usize {
        self.ids.len()
    }

    /// The places in order that are taken.
    pub(super) fn taken(&self) -> impl Iterator<Item = Slot> {
        (0..).zip(self.expressions.iter()).filter(|(_, each)| **each != VACANT).map(|(slot, _)| slot)
    }

    /// Whether any subscription has a text as id.
    pub(super) fn has_texts(&self) -> bool {
        self.texts > 0
    }

    /// How often the places were numbered anew: in one edition a place has one id.
    pub(super) fn edition(&self) -> u64 {
        self.edition
    }

    /// Makes room for an expression.
    pub(super) fn reserve(&mut self, expression: ExpressionId) {
        self.fanout.reserve(expression);
    }

    /// An empty place takes an expression.
    pub(super) fn join(&mut self, slot: Slot, expression: ExpressionId) {
        *self.expressions.get_mut(slot) = expression;
        self.texts += usize::from(self.ids.is_text(slot));
        self.fanout.join(expression, slot);
    }

    /// How a place's expression is written from now on; how it was before.
    pub(super) fn rewrite(&mut self, slot: Slot, source: SourceId) -> SourceId {
        std::mem::replace(self.sources.get_mut(slot), source)
    }

    /// A place gives its expression up; its id stays until it is taken again or the roster is compacted.
    pub(super) fn leave(&mut self, slot: Slot) -> ExpressionId {
        let expression = std::mem::replace(self.expressions.get_mut(slot), VACANT);
        self.texts -= usize::from(self.ids.is_text(slot));
        let expressions = &self.expressions;
        self.fanout.leave(expression, |slot| *expressions.get(slot) == expression);
        expression
    }

    /// How many subscriptions an expression has.
    pub(super) fn count(&self, expression: ExpressionId) -> usize {
        self.fanout.count(expression)
    }

    /// How many subscriptions several expressions have.
    pub(super) fn total(&self, expressions: &[ExpressionId]) -> usize {
        self.fanout.total(expressions)
    }

    /// The places of several expressions' subscriptions.
    pub(super) fn slots(&self, expressions: &[ExpressionId]) -> Places {
        let shared = self.places() > 2 * self.fanout.len();
        if shared && expressions.len() > 64 && 8 * self.total(expressions) > self.places() {
            return Places::Many(self.scan(expressions));
        }
        let here = |slot, expression| self.expression(slot) == expression;
        Places::of(self.fanout.slots(expressions, here), self.places())
    }

    /// A bit for each place that subscribes to one of the expressions, found by a look at all places: when a good part of
    /// them does, it is faster than to go from list to list.
    fn scan(&self, expressions: &[ExpressionId]) -> Vec<u64> {
        let mut wanted = vec![0_u8; self.fanout.len()];
        for &expression in expressions {
            wanted[expression as usize] = 1;
        }
        // Empty places have an expression that is out of bounds.
        let bit = |expression: ExpressionId| u64::from(wanted.get(expression as usize).copied().unwrap_or(0));
        let mut bits = Vec::with_capacity(self.places().div_ceil(64));
        for part in self.expressions.parts() {
            for places in part.chunks(64) {
                let (eights, rest) = places.as_chunks::<8>();
                let mut word = 0;
                for (shift, [a, b, c, d, e, f, g, h]) in (0..).step_by(8).zip(eights) {
                    let low = bit(*a) | bit(*b) << 1 | bit(*c) << 2 | bit(*d) << 3;
                    let high = bit(*e) | bit(*f) << 1 | bit(*g) << 2 | bit(*h) << 3;
                    word |= (low | high << 4) << shift;
                }
                for (shift, &expression) in (8 * eights.len()..).zip(rest) {
                    word |= bit(expression) << shift;
                }
                bits.push(word);
            }
        }
        bits
    }

    /// Appends the ids of places, all of them numbers.
    pub(super) fn numbers(&self, places: &Places, out: &mut Vec<i64>) {
        let bits = match places {
            Places::Few(slots) => return self.ids.few_numbers(slots, out),
            Places::Many(bits) => bits,
        };
        let mut found = [0_i64; 64];
        for (first, &word) in (0..).step_by(64).zip(bits) {
            if word == 0 {
                continue;
            }
            match self.ids.numbers(first) {
                Some(numbers) if word == u64::MAX => out.extend_from_slice(numbers),
                Some(numbers) => {
                    let mut many = 0;
                    each_bit(word, |bit| {
                        found[many % 64] = numbers[bit as usize % 64];
                        many += 1;
                    });
                    out.extend_from_slice(&found[..many]);
                }
                None => each_bit(word, |bit| out.push(self.ids.number(first + bit))),
            }
        }
    }

    /// The next edition, without any place.
    pub(super) fn emptied(&self) -> Self {
        Self { edition: self.edition + 1, ..Self::default() }
    }

    /// The same roster without empty places.
    pub(super) fn compacted(&self) -> Self {
        let mut fresh = self.emptied();
        if let Some(last) = self.fanout.len().checked_sub(1) {
            fresh.reserve(last as ExpressionId);
        }
        for slot in self.taken() {
            fresh.seat(&self.ids.get(slot), self.expression(slot), self.source(slot));
        }
        fresh
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ids.memory_bytes()
            + self.expressions.memory_bytes()
            + self.sources.memory_bytes()
            + self.fanout.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_a_look_at_all_places_tell_the_same() {
        for (number, matched) in [(10_000, vec![2, 0]), (10_000, (0..400).collect()), (50, vec![1])] {
            let mut roster = Roster::default();
            roster.reserve(999);
            for place in 0..number {
                let expression = place % 3 + 3 * (place % 331);
                roster.seat(&Id::Number(7 * i64::from(place)), expression, 0);
            }
            for gone in (0..number).step_by(11) {
                roster.leave(gone);
            }
            let expected: Vec<Slot> =
                roster.taken().filter(|&slot| matched.contains(&roster.expression(slot))).collect();
            let places = roster.slots(&matched);
            let mut numbers = Vec::new();
            roster.numbers(&places, &mut numbers);
            assert_eq!(numbers, expected.iter().map(|&slot| 7 * i64::from(slot)).collect::<Vec<_>>());
            assert_eq!(places.into_vec(), expected);
            let scanned = Places::Many(roster.scan(&matched));
            assert_eq!(scanned.into_vec(), expected);
            assert_eq!(roster.total(&matched), expected.len());
            assert_eq!(roster.compacted().slots(&matched).into_vec().len(), expected.len());
        }
    }
}
