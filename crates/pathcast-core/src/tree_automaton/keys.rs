//! The literal that a rule waits for: the one that is so most seldom.
//!
//! What documents were seen to make so is counted; of what was never counted, that which fewest rules ask for is taken.
//! Rules come one by one and counts change with each, so all keys are chosen anew when there are twice as many rules,
//! or when ten times as many documents were counted, as at the last choice. The second happens between two documents:
//! a run takes the keys of the moment when its document begins, and nothing that it does depends on which they are.

use std::cmp::Reverse;
use std::io;
use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;

use super::atoms::{AtomId, Test};
use super::lists::Lists;
use super::rules::{Literal, RuleId, Waiting};
use super::subjects::SubjectId;
use super::summary::Awaited;
use super::{NONE, TreeAutomaton};
use crate::image::{ImageError, Reader, Writer};

/// Documents that a run counts before it tells.
pub(super) const TOLD: u32 = 64;

/// What rules wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    /// By rule: the atom it waits for, or none, and its place in the list.
    of: Vec<(AtomId, u32)>,
    pub(super) lists: Lists,
    /// Those that wait for a test that is asked of summaries.
    pub(super) awaited: FxHashMap<SubjectId, Awaited>,
}

impl Keys {
    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.items(&self.of)?;
        self.lists.store(image)?;
        let mut awaited: Vec<_> = self.awaited.iter().collect();
        awaited.sort_unstable_by_key(|(subject, _)| **subject);
        image.number(awaited.len())?;
        for (subject, awaited) in awaited {
            image.one(subject)?;
            awaited.store(image)?;
        }
        Ok(())
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let mut keys =
            Self { of: image.items()?, lists: Lists::opened(image)?, awaited: FxHashMap::default() };
        for _ in 0..image.count(4)? {
            keys.awaited.insert(image.one()?, Awaited::opened(image)?);
        }
        Ok(keys)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let awaited: usize = self.awaited.values().map(Awaited::memory_bytes).sum();
        awaited
            + self.awaited.capacity() * (size_of::<(SubjectId, Awaited)>() + 1)
            + self.of.capacity() * size_of::<(AtomId, u32)>()
            + self.lists.memory_bytes()
    }
}

/// What documents were seen to make so.
#[derive(Debug, Default)]
pub(super) struct Counts {
    documents: u32,
    /// Documents counted when keys were chosen.
    chosen_for: u32,
    /// By atom: for how many elements it was so.
    pub(super) atoms: Vec<u32>,
    /// By subject: how many elements had a value to be summed up.
    pub(super) subjects: Vec<u32>,
}

impl Counts {
    /// Takes over what a run has counted.
    pub(super) fn add(counts: &mut Vec<u32>, hits: impl Iterator<Item = u32>) {
        for (at, more) in hits.enumerate().filter(|&(_, more)| more > 0) {
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            counts[at] = counts[at].saturating_add(more);
        }
    }

    /// Forgets what a number stood for that is given again.
    pub(super) fn forget(counts: &mut [u32], at: u32) {
        counts.get_mut(at as usize).into_iter().for_each(|count| *count = 0);
    }

    fn bytes(&self) -> usize {
        (self.atoms.capacity() + self.subjects.capacity()) * 4
    }
}

impl TreeAutomaton {
    /// How often a literal was seen to be so; among equals, what is told before what is asked, and what fewer ask for.
    fn cost(&self, counts: &Counts, literal: Literal) -> (u32, bool, u32) {
        let hits = |counts: &[u32], at: u32| counts.get(at as usize).copied().unwrap_or(0);
        let atom = literal.atom();
        let seen = match self.atoms.test(atom) {
            Some((subject, _)) if literal.is_summed() => hits(&counts.subjects, subject),
            _ => hits(&counts.atoms, atom),
        };
        (seen, literal.is_summed(), self.atoms.get(atom).users)
    }

    /// The atom that a rule waits for; none if all of its literals must not be so.
    fn rarest(&self, counts: &Counts, id: RuleId) -> AtomId {
        let literals = self.rules.literals(self.rules.get(id)).iter();
        let positive = literals.filter(|literal| !literal.is_negated());
        positive.min_by_key(|&&literal| self.cost(counts, literal)).map_or(NONE, |literal| literal.atom())
    }

    /// A rule as it stands in the list of its key.
    fn waiting(&self, counts: &Counts, id: RuleId, key: AtomId) -> Waiting {
        let rule = self.rules.get(id);
        let literals = self.rules.literals(rule);
        let others = literals.iter().filter(|literal| literal.atom() != key || literal.is_negated());
        let check = others.copied().min_by_key(|&literal| {
            let (seen, summed, _) = self.cost(counts, literal);
            (literal.is_negated(), seen, summed)
        });
        // What is decided later cannot be asked yet.
        let check = check.filter(|_| rule.stratum == 0).unwrap_or(Literal::NONE);
        let look = literals.len() > 2 || rule.stratum > 0 || key == NONE && literals.len() > 1;
        Waiting::new(id, look, check, rule.aim)
    }

    /// Lets a new rule wait.
    pub(super) fn wait(&mut self, id: RuleId) {
        let counts = std::mem::take(self.counts());
        let key = self.rarest(&counts, id);
        let waiting = self.waiting(&counts, id, key);
        *self.counts() = counts;
        let place = if key == NONE {
            self.places.change(self.rules.get(id).at, |asked| {
                asked.always.push(waiting);
                asked.always.len() as u32 - 1
            })
        } else if let Some((subject, test)) = self.summed(key) {
            self.keys_mut().awaited.entry(subject).or_default().insert(test, waiting);
            0
        } else {
            self.keys_mut().lists.push(key, waiting)
        };
        let keys = self.keys_mut();
        keys.of.resize(keys.of.len().max(id as usize + 1), (NONE, 0));
        keys.of[id as usize] = (key, place);
    }

    /// Takes a rule off the list that it waits in.
    pub(super) fn stop_waiting(&mut self, id: RuleId) {
        let (key, place) = self.keys_mut().of[id as usize];
        let moved = if key == NONE {
            self.places.change(self.rules.get(id).at, |asked| {
                asked.always.swap_remove(place as usize);
                asked.always.get(place as usize).copied().map(Waiting::rule)
            })
        } else if let Some((subject, test)) = self.summed(key) {
            let keys = self.keys_mut();
            let awaited = keys.awaited.entry(subject).or_default();
            awaited.remove(test, id);
            if awaited.is_empty() {
                keys.awaited.remove(&subject);
            }
            None
        } else {
            self.keys_mut().lists.swap_remove(key, place)
        };
        if let Some(moved) = moved {
            self.keys_mut().of[moved as usize].1 = place;
        }
    }

    /// A rule's target has changed.
    pub(super) fn retarget(&mut self, id: RuleId) {
        let aim = self.rules.get(id).aim;
        let (key, place) = self.keys_mut().of[id as usize];
        if key == NONE {
            self.places.change(self.rules.get(id).at, |asked| asked.always[place as usize].aim = aim);
        } else if let Some((subject, test)) = self.summed(key) {
            let awaited = self.keys_mut().awaited.get_mut(&subject);
            awaited.and_then(|awaited| awaited.get_mut(test, id)).into_iter().for_each(|each| each.aim = aim);
        } else {
            self.keys_mut().lists.get_mut(key, place).aim = aim;
        }
    }

    /// The test that a key is, if it is asked of a summary.
    fn summed(&self, key: AtomId) -> Option<(SubjectId, Test)> {
        self.atoms.test(key).filter(|(_, test)| test.is_summed())
    }

    /// The keys of the moment.
    pub(super) fn keys(&self) -> Arc<Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keys_mut(&mut self) -> &mut Keys {
        Arc::make_mut(self.keys.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn counts(&mut self) -> &mut Counts {
        self.counts.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses all keys anew when there are twice as many rules.
    pub(super) fn choose_keys_if_due(&mut self) {
        if self.rules.len() > 2 * self.chosen_for + 16 {
            self.choose_keys();
        }
    }

    /// Chooses all keys anew.
    pub(super) fn choose_keys(&mut self) {
        self.chosen_for = self.rules.len();
        let counts = std::mem::take(self.counts());
        let chosen = self.chosen(&counts);
        *self.keys_mut() = chosen;
        *self.counts() = counts;
    }

    /// Takes over what a run has counted, and chooses keys anew when enough was learnt; false when another run is at it.
    pub(super) fn learn(
        &self,
        documents: u32,
        atoms: impl Iterator<Item = u32>,
        subjects: impl Iterator<Item = u32>,
    ) -> bool {
        let Ok(mut counts) = self.counts.try_lock() else { return false };
        counts.documents = counts.documents.saturating_add(documents);
        Counts::add(&mut counts.atoms, atoms);
        Counts::add(&mut counts.subjects, subjects);
        if counts.documents / 10 > counts.chosen_for {
            counts.chosen_for = counts.documents;
            let chosen = Arc::new(self.chosen(&counts));
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = chosen;
        }
        true
    }

    /// The best keys by what was counted.
    fn chosen(&self, counts: &Counts) -> Keys {
        let before = self.keys();
        let mut of = vec![(NONE, 0); self.rules.bound()];
        let mut numbers = vec![0; self.atoms.bound()];
        for id in self.rules.ids() {
            let key = self.rarest(counts, id);
            // Those that wait for nothing stay where they are.
            of[id as usize] = (key, before.of[id as usize].1);
            if key != NONE && self.summed(key).is_none() {
                numbers[key as usize] += 1;
            }
        }
        let mut order: Vec<(AtomId, u32)> = (0..).zip(numbers).filter(|&(_, number)| number > 0).collect();
        order.sort_by_key(|&(atom, _)| Reverse(counts.atoms.get(atom as usize).copied()));
        let mut places = vec![0; self.rules.bound()];
        let keyed = self.rules.ids().map(|id| (id, of[id as usize].0)).filter(|&(_, key)| key != NONE);
        let mut awaited: FxHashMap<SubjectId, Awaited> = FxHashMap::default();
        let waiting = keyed.filter_map(|(id, key)| {
            let waiting = self.waiting(counts, id, key);
            match self.summed(key) {
                Some((subject, test)) => awaited.entry(subject).or_default().insert(test, waiting),
                None => return Some((key, waiting)),
            }
            None
        });
        let lists = Lists::pack(self.atoms.bound(), &order, waiting, |each, place| {
            places[each.rule() as usize] = place;
        });
        for (entry, place) in of.iter_mut().zip(places) {
            if entry.0 != NONE {
                entry.1 = place;
            }
        }
        Keys { of, lists, awaited }
    }

    /// Heap bytes of keys and counts.
    pub(super) fn key_bytes(&self) -> usize {
        self.keys().memory_bytes() + self.counts.lock().map_or(0, |counts| counts.bytes())
    }
}
