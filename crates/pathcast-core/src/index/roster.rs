//! Who subscribed to what, as results see it.
//!
//! A result names distinct expressions and keeps the roster it was made with, so that no id is built until somebody
//! asks and later changes do not show. Sharing is by chunks: a change copies the chunk it touches, not the roster.

use std::io;

use super::chunks::Chunks;
use super::expression::{ExpressionId, VACANT};
use super::fanout::Fanout;
use super::ids::{Id, Ids};
use super::places::{Places, Slot};
use super::sources::SourceId;
use crate::image::{ImageError, Reader, Writer};

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

    /// One more than the largest number of an expression.
    pub(super) fn expressions(&self) -> usize {
        self.fanout.len()
    }

    /// How many subscriptions an expression has.
    pub(super) fn count(&self, expression: ExpressionId) -> usize {
        if expression as usize >= self.fanout.len() { 0 } else { self.fanout.count(expression) }
    }

    /// How many subscriptions several expressions have.
    pub(super) fn total(&self, expressions: &[ExpressionId]) -> usize {
        self.fanout.total(expressions)
    }

    /// The places of several expressions' subscriptions.
    pub(super) fn slots(&self, expressions: &[ExpressionId]) -> Places {
        let here = |slot, expression| self.expression(slot) == expression;
        let words = self.places().div_ceil(64);
        if self.places() > 2 * self.fanout.len() && 16 * expressions.len() > words {
            let mut bits = vec![0_u64; words];
            self.fanout.each(expressions, here, |some| {
                some.iter().for_each(|slot| bits[*slot as usize / 64] |= 1 << (slot % 64));
            });
            return Places::Many(bits);
        }
        let mut slots = Vec::with_capacity(expressions.len());
        self.fanout.each(expressions, here, |some| slots.extend_from_slice(some));
        Places::of(slots, self.places())
    }

    /// Appends the ids of places, all of them numbers.
    pub(super) fn numbers(&self, places: &Places, out: &mut Vec<i64>) {
        match places {
            Places::Few(slots) => self.ids.few_numbers(slots, out),
            Places::Many(bits) => self.ids.many_numbers(bits, out),
        }
    }

    /// Appends the ids of several expressions' subscriptions, all of them numbers, in no order.
    pub(super) fn loose_numbers(&self, expressions: &[ExpressionId], out: &mut Vec<i64>) {
        let here = |slot, expression| self.expression(slot) == expression;
        self.fanout.each(expressions, here, |some| self.ids.loose_numbers(some, out));
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

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.ids.store(image)?;
        self.expressions.store(image)?;
        self.sources.store(image)?;
        self.fanout.store(image)?;
        image.number(self.texts)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let opened = Self {
            ids: Ids::opened(image)?,
            expressions: Chunks::opened(image)?,
            sources: Chunks::opened(image)?,
            fanout: Fanout::opened(image)?,
            texts: image.number()?,
            edition: 0,
        };
        let places = opened.places();
        let fit = opened.expressions.len() == places && opened.sources.len() == places;
        if fit { Ok(opened) } else { Err(ImageError::Damaged) }
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
    #[cfg_attr(miri, ignore = "too slow there")]
    fn few_and_many_are_found_where_they_subscribe() {
        for (number, matched) in [(10_000, vec![2, 0]), (10_000, (0..400).collect()), (50, vec![1])] {
            let mut roster = Roster::default();
            roster.reserve(999);
            for place in 0..number {
                let expression = place % 3 + 3 * (place % 331);
                roster.seat(&Id::Number(7 * i64::from(place)), expression, 0);
            }
            for gone in (0..number).step_by(11) {
                let before = roster.leave(gone);
                if gone % 22 == 0 {
                    roster.join(gone, before); // its expression's list may have it twice now
                }
            }
            let expected: Vec<Slot> =
                roster.taken().filter(|&slot| matched.contains(&roster.expression(slot))).collect();
            let places = roster.slots(&matched);
            let mut numbers = Vec::new();
            roster.numbers(&places, &mut numbers);
            assert_eq!(numbers, expected.iter().map(|&slot| 7 * i64::from(slot)).collect::<Vec<_>>());
            assert_eq!(places.into_vec(), expected);
            let mut loose = Vec::new();
            roster.loose_numbers(&matched, &mut loose);
            loose.sort_unstable();
            assert_eq!(loose, numbers);
            assert_eq!(roster.total(&matched), expected.len());
            assert_eq!(roster.compacted().slots(&matched).into_vec().len(), expected.len());
        }
    }
}
