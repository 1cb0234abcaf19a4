//! `contains` for many constants at once: one pass of an Aho-Corasick automaton over a value.
//!
//! Such an automaton cannot be changed, only built anew. So constants lie in tiers, each at least twice as large as the
//! next, and a new one joins the tiers that are not larger than what it joins: a constant is moved a logarithmic number
//! of times, and a tier's automaton is built when a document first asks for it.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use memchr::memmem;

use super::NONE;
use super::atoms::AtomId;
use super::constants::{Constants, TextId};

/// So many constants are searched for one by one.
const LOOSE: usize = 8;

/// The constants that a subject's values are searched for.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    loose: Vec<(AtomId, TextId)>,
    tiers: Vec<Tier>,
}

/// Constants in one automaton, by number of their atom; those that left have no text.
#[derive(Clone, Debug, Default)]
struct Tier {
    words: Vec<(AtomId, TextId)>,
    left: usize,
    built: OnceLock<Option<Built>>,
}

/// An automaton, and by its pattern the place of the word in the tier.
#[derive(Clone, Debug)]
struct Built {
    automaton: AhoCorasick,
    places: Vec<u32>,
}

impl Words {
    pub(super) fn is_empty(&self) -> bool {
        self.loose.is_empty() && self.tiers.is_empty()
    }

    pub(super) fn insert(&mut self, atom: AtomId, text: TextId) {
        self.loose.push((atom, text));
        if self.loose.len() <= LOOSE {
            return;
        }
        let mut words = std::mem::take(&mut self.loose);
        while let Some(tier) = self.tiers.pop_if(|tier| tier.words.len() <= 2 * words.len()) {
            words.extend(tier.words.into_iter().filter(|&(_, text)| text != NONE));
        }
        words.sort_unstable();
        self.tiers.push(Tier { words, ..Tier::default() });
    }

    pub(super) fn remove(&mut self, atom: AtomId) {
        if let Some(at) = self.loose.iter().position(|&(each, _)| each == atom) {
            self.loose.swap_remove(at);
            return;
        }
        for at in 0..self.tiers.len() {
            let tier = &mut self.tiers[at];
            let found = tier.words.binary_search_by_key(&atom, |&(each, _)| each);
            // The number of an atom that left may be given again: it is then in another tier.
            if let Ok(place) = found
                && tier.words[place].1 != NONE
            {
                tier.words[place].1 = NONE;
                tier.left += 1;
                if 2 * tier.left >= tier.words.len() {
                    let mut tier = self.tiers.remove(at);
                    tier.words.retain(|&(_, text)| text != NONE);
                    if !tier.words.is_empty() {
                        self.tiers.insert(at, Tier { words: tier.words, ..Tier::default() });
                    }
                }
                return;
            }
        }
    }

    /// Reports the atoms whose constant is in the value, some more than once.
    pub(super) fn find(&self, value: &str, constants: &Constants, mut report: impl FnMut(AtomId)) {
        let one_by_one = |words: &[(AtomId, TextId)], report: &mut dyn FnMut(AtomId)| {
            for &(atom, text) in words.iter().filter(|&&(_, text)| text != NONE) {
                if memmem::find(value.as_bytes(), constants.get(text)).is_some() {
                    report(atom);
                }
            }
        };
        one_by_one(&self.loose, &mut report);
        for tier in &self.tiers {
            let Some(built) = tier.built.get_or_init(|| build(&tier.words, constants)) else {
                one_by_one(&tier.words, &mut report);
                continue;
            };
            for found in built.automaton.find_overlapping_iter(value) {
                let (atom, text) = tier.words[built.places[found.pattern()] as usize];
                if text != NONE {
                    report(atom);
                }
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let built = |built: &Built| built.automaton.memory_usage() + built.places.capacity() * 4;
        let tiers = self.tiers.iter().map(|tier| {
            let built = tier.built.get().and_then(Option::as_ref).map_or(0, built);
            tier.words.capacity() * 8 + size_of::<Tier>() + built
        });
        tiers.sum::<usize>() + self.loose.capacity() * 8
    }
}

/// `None` when the automaton would be too large to be numbered.
fn build(words: &[(AtomId, TextId)], constants: &Constants) -> Option<Built> {
    let places: Vec<u32> = (0..).zip(words).filter(|(_, word)| word.1 != NONE).map(|(at, _)| at).collect();
    let texts = places.iter().map(|&at| constants.get(words[at as usize].1));
    let automaton = AhoCorasickBuilder::new().match_kind(MatchKind::Standard).build(texts).ok()?;
    Some(Built { automaton, places })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn finds_what_is_there_whoever_came_and_went() {
        let mut constants = Constants::default();
        let texts: Vec<String> = (0..200).map(|n| format!("{}x{}", n % 7, n)).collect();
        let ids: Vec<TextId> = texts.iter().map(|text| constants.intern(text)).collect();
        let mut words = Words::default();
        let mut there = vec![false; texts.len()];
        let mut state = 7_u32;
        for round in 0..3_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (state >> 16) as usize % texts.len();
            if there[at] {
                words.remove(at as AtomId);
            } else {
                words.insert(at as AtomId, ids[at]);
            }
            there[at] = !there[at];
            if round % 50 == 0 {
                let value = format!("..{}{}5x12..", texts[at], texts[(at + 1) % 200]);
                let mut found = Vec::new();
                words.find(&value, &constants, |atom| found.push(atom as usize));
                found.sort_unstable();
                found.dedup();
                let expected: Vec<usize> =
                    (0..200).filter(|&each| there[each] && value.contains(&texts[each])).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
