//! The literal that a rule waits for: the one that is so most seldom.
//!
//! What documents were seen to make so is counted; of what was never counted, that which fewest rules ask for is taken.
//! Rules come one by one and counts change with each, so all keys are chosen anew when there are twice as many rules, or
//! when ten times as many documents were counted, as at the last choice.

use std::sync::Mutex;

use super::atoms::AtomId;
use super::place::At;
use super::rules::{Literal, RuleId};
use super::{NONE, TreeAutomaton};

/// Documents that a run counts before it tells.
pub(super) const TOLD: u32 = 64;

/// What documents were seen to make so.
#[derive(Debug, Default)]
pub(super) struct Seen {
    counts: Mutex<Counts>,
    /// Documents counted when keys were chosen.
    chosen_for: u32,
}

#[derive(Debug, Default)]
struct Counts {
    documents: u32,
    /// Since keys were last chosen, by atom: in how many elements it was so.
    hits: Vec<u32>,
}

impl Seen {
    /// Takes over what a run has counted, and empties it.
    pub(super) fn tell(&self, documents: u32, hits: impl Iterator<Item = (AtomId, u32)>) {
        let Ok(mut counts) = self.counts.lock() else { return };
        counts.documents = counts.documents.saturating_add(documents);
        for (atom, more) in hits {
            if counts.hits.len() <= atom as usize {
                counts.hits.resize(atom as usize + 1, 0);
            }
            counts.hits[atom as usize] = counts.hits[atom as usize].saturating_add(more);
        }
    }
}

impl TreeAutomaton {
    /// The atom that a rule with these literals waits for; none if all of them must not be so.
    pub(super) fn rarest(&self, literals: &[Literal]) -> AtomId {
        let cost = |literal: &&Literal| {
            let atom = self.atoms.get(literal.atom());
            (literal.is_summed(), u64::from(atom.hits), atom.users)
        };
        let positive = literals.iter().filter(|literal| !literal.is_negated());
        positive.min_by_key(cost).map_or(NONE, |literal| literal.atom())
    }

    /// Lets a rule wait for an atom, or for none.
    pub(super) fn wait(&mut self, id: RuleId, key: AtomId) {
        let at = self.rules.get(id).at;
        let first = self.set_first(at, key, id);
        let rule = self.rules.get_mut(id);
        (rule.key, rule.next, rule.before) = (key, first, NONE);
        if first != NONE {
            self.rules.get_mut(first).before = id;
        }
    }

    /// Takes a rule off the list that it waits in.
    pub(super) fn stop_waiting(&mut self, id: RuleId) {
        let rule = self.rules.get(id);
        let (at, key, next, before) = (rule.at, rule.key, rule.next, rule.before);
        if next != NONE {
            self.rules.get_mut(next).before = before;
        }
        if before == NONE {
            self.set_first(at, key, next);
        } else {
            self.rules.get_mut(before).next = next;
        }
    }

    /// Sets the head of a list and tells the one before.
    fn set_first(&mut self, at: At, key: AtomId, first: RuleId) -> RuleId {
        let mut known = NONE;
        if key == NONE {
            self.places.change(at, |asked| {
                known = asked.always.unwrap_or(NONE);
                asked.always = (first != NONE).then_some(first);
            });
            return known;
        }
        let atom = self.atoms.get_mut(key);
        known = std::mem::replace(&mut atom.first, first);
        if (known == NONE) != (first == NONE)
            && let Some((subject, test)) = self.atoms.test(key)
            && test.is_summed()
        {
            let awaited = &mut self.tests[subject as usize].awaited;
            if first == NONE { awaited.remove(test, key) } else { awaited.insert(test, key) }
        }
        known
    }

    /// Chooses all keys anew when there is reason to.
    pub(super) fn choose_keys_if_due(&mut self) {
        let documents = self.seen.counts.get_mut().map_or(0, |counts| counts.documents);
        let grown = self.rules.len() > 2 * self.chosen_for + 16;
        let learnt = documents / 10 > self.seen.chosen_for;
        if !grown && !learnt {
            return;
        }
        self.chosen_for = self.rules.len();
        self.seen.chosen_for = documents;
        if let Ok(counts) = self.seen.counts.get_mut() {
            for (atom, hits) in (0..).zip(std::mem::take(&mut counts.hits)) {
                if (atom as usize) < self.atoms.bound() {
                    let known = &mut self.atoms.get_mut(atom).hits;
                    *known = known.saturating_add(hits);
                }
            }
        }
        for id in self.rules.ids() {
            let key = self.rarest(self.rules.literals(self.rules.get(id)));
            if key != self.rules.get(id).key {
                self.stop_waiting(id);
                self.wait(id, key);
            }
        }
    }
}
