//! The literal that a rule waits for: the one that is so most seldom.
//!
//! What documents were seen to make so is counted; of what was never counted, that which fewest rules ask for is taken.
//! Rules come one by one and counts change with each, so all keys are chosen anew when there are twice as many rules, or
//! when ten times as many documents were counted, as at the last choice.

use std::sync::Mutex;

use super::atoms::AtomId;
use super::place::At;
use super::rules::{Literal, Rule, RuleId, Waiting};
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
        let rule = self.rules.get(id);
        let literals = self.rules.literals(rule);
        let others = literals.iter().filter(|literal| literal.atom() != key || literal.is_negated());
        let check = others.copied().min_by_key(|literal| literal.is_summed()).unwrap_or(Literal::NONE);
        let look = literals.len() > 2 || rule.stratum > 0 || key == NONE && literals.len() > 1;
        let waiting = Waiting { rule: if look { id | Waiting::LOOK } else { id }, check, aim: rule.aim };
        let place = self.list(rule.at, key, |list| {
            list.push(waiting);
            list.len() - 1
        });
        let rule = self.rules.get_mut(id);
        (rule.key, rule.place) = (key, place as u32);
        if place == 0 {
            self.await_summed(key, true);
        }
    }

    /// Takes a rule off the list that it waits in.
    pub(super) fn stop_waiting(&mut self, id: RuleId) {
        let &Rule { at, key, place, .. } = self.rules.get(id);
        let (moved, empty) = self.list(at, key, |list| {
            list.swap_remove(place as usize);
            if list.is_empty() {
                *list = Vec::new();
            }
            (list.get(place as usize).map(|waiting| waiting.rule & !Waiting::LOOK), list.is_empty())
        });
        if let Some(moved) = moved {
            self.rules.get_mut(moved).place = place;
        }
        if empty {
            self.await_summed(key, false);
        }
    }

    /// A rule's target has changed.
    pub(super) fn retarget(&mut self, id: RuleId) {
        let &Rule { at, key, place, aim, .. } = self.rules.get(id);
        self.list(at, key, |list| list[place as usize].aim = aim);
    }

    fn list<T>(&mut self, at: At, key: AtomId, change: impl FnOnce(&mut Vec<Waiting>) -> T) -> T {
        if key == NONE {
            self.places.change(at, |asked| change(&mut asked.always))
        } else {
            change(&mut self.atoms.get_mut(key).waiting)
        }
    }

    /// A test that is asked of summaries is waited for from now on, or no longer.
    fn await_summed(&mut self, key: AtomId, awaited: bool) {
        if key != NONE
            && let Some((subject, test)) = self.atoms.test(key)
            && test.is_summed()
        {
            let list = &mut self.tests[subject as usize].awaited;
            if awaited { list.insert(test, key) } else { list.remove(test, key) }
        }
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
