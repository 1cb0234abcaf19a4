//! A run over one document: the names of the open elements.

use super::bits::Has;
use super::build::{Candidate, DEEPEST, Keyed, Line, WIDTH, present_bit};
use super::check::Step;
use super::shape::key;
use crate::engine::{Found, PathId};
use crate::names::{NameId, Resolved};

/// Levels of open elements, and one for none.
const LEVELS: usize = (DEEPEST + 1).next_power_of_two();
/// What a check costs, in look-ups.
const CHECK: u64 = 8;

/// What the open elements are called.
#[derive(Debug)]
pub(in crate::engine) struct Run {
    /// By level: the name, from the root at 1; at 0 is none.
    names: [u16; LEVELS],
    /// By level: the bits of the names and depths so far.
    has: [Has; LEVELS],
    depth: usize,
    /// Keys of the current element that some path has, with room for more.
    keys: Vec<u32>,
    /// Candidates that have what they need, with room for more.
    left: Vec<Candidate>,
    /// Those of them that are checked, and what stands before their steps.
    checked: Vec<Candidate>,
    steps: Vec<Step>,
    /// Look-ups so far, with checks in proportion to what they cost.
    work: u64,
}

impl Default for Run {
    fn default() -> Self {
        let (names, has) = ([0; LEVELS], [Has::default(); LEVELS]);
        Self {
            names,
            has,
            depth: 0,
            keys: Vec::new(),
            left: Vec::new(),
            checked: Vec::new(),
            steps: Vec::new(),
            work: 0,
        }
    }
}

impl Run {
    pub(in crate::engine) fn begin(&mut self) {
        self.depth = 0;
    }

    /// How many elements are open.
    #[inline]
    pub(in crate::engine) fn depth(&self) -> usize {
        self.depth
    }

    /// The open elements, from the root.
    pub(in crate::engine) fn open(&self) -> impl Iterator<Item = Resolved> {
        let names = self.names[1..=self.depth].iter();
        names.map(|&name| Resolved { name: NameId(u32::from(name)), ..Resolved::OTHER })
    }

    /// Finds the paths that end at an element, which is not deeper than `DEEPEST`.
    pub(in crate::engine) fn start(&mut self, keyed: &Keyed, element: Resolved, found: &mut Found) {
        // No path has a name whose number takes more: the table would not have been built.
        let name = u16::try_from(element.name.0).unwrap_or(0);
        self.depth += 1;
        self.names[self.depth] = name;
        self.has[self.depth] = self.has[self.depth - 1].child(name, self.depth);
        let lacks = !self.has[self.depth].word();
        let look_ups = &keyed.look_ups[self.depth];
        if self.keys.len() < look_ups.len() {
            self.keys.resize(look_ups.len(), 0);
        }
        // Without a branch for each, so that the processor fetches several at once: each lies somewhere else in memory.
        let mut count = 0;
        for look_up in look_ups {
            let names = look_up.levels.map(|level| self.names[usize::from(level) % LEVELS]);
            let key = key(look_up.seed, names);
            let (word, bit) = present_bit(&keyed.present, key);
            self.keys[count] = key as u32;
            count += usize::from(keyed.present[word] & bit != 0);
        }
        let most = WIDTH * count;
        if self.left.len() < most {
            self.left.resize(most, Candidate::NONE);
        }
        let mut left = 0;
        for &key in &self.keys[..count] {
            let Line(candidates) = keyed.line(key);
            for &candidate in candidates {
                self.left[left] = candidate;
                left += usize::from(candidate.needs & lacks == 0);
            }
        }
        self.checked.clear();
        for candidate in &self.left[..left] {
            match keyed.several(candidate) {
                Some(several) => self.checked.extend(several.iter().filter(|each| each.needs & lacks == 0)),
                None => self.checked.push(*candidate),
            }
        }
        self.work += look_ups.len() as u64 + CHECK * self.checked.len() as u64;
        self.steps.clear();
        self.steps.extend(self.checked.iter().map(|candidate| keyed.steps(candidate)));
        let names = &self.names[1..=self.depth];
        for (candidate, &steps) in self.checked.iter().zip(&self.steps) {
            let path = PathId(candidate.path);
            if !found.contains(path) && keyed.ends_at(steps, candidate.steps, names) {
                found.add(path);
            }
        }
    }

    #[inline]
    pub(in crate::engine) fn end(&mut self) {
        self.depth -= 1;
    }

    /// Work so far, in look-ups.
    pub(in crate::engine) fn work(&self) -> u64 {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::engine::keyed::{Building, Progress};
    use crate::engine::yfilter::YFilter;
    use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

    /// A small generator: the same numbers everywhere.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % u64::from(bound)) as u32
        }

        fn path(&mut self, names: u32) -> LinearPath {
            let steps = (0..self.below(6)).map(|_| LinearStep {
                min: 1 + self.below(9) / 7,
                exact: self.below(4) > 0,
                name: NameTest::Name(NameId(1 + self.below(names))),
            });
            let steps: Vec<_> = steps.collect();
            let wild = steps.is_empty() || self.below(6) == 0;
            LinearPath { tail: if wild { Tail::Wild(1 + self.below(3)) } else { Tail::End }, steps }
        }
    }

    fn built(automaton: &YFilter, paths: usize, budget: usize) -> Option<Keyed> {
        let mut building = Building::new(automaton, paths, budget)?;
        loop {
            match building.more(automaton) {
                Progress::More(unfinished) => building = unfinished,
                Progress::Done(keyed) => return Some(keyed),
                Progress::Refused => return None,
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn keys_find_what_the_shared_automaton_finds() {
        let mut random = Random(20_261_116);
        for (number, names, deepest) in
            [(40, 2, 9), (300, 3, 9), (3_000, 4, 31), (9_000, 12, 9), (9_000, 70, 9)]
        {
            let mut automaton = YFilter::default();
            let mut known = std::collections::HashSet::new();
            for id in 0..number {
                let path = random.path(names);
                if known.insert(path.clone()) {
                    automaton.insert(&path, PathId(id));
                }
            }
            let keyed = built(&automaton, known.len(), 1 << 30).expect("no attributes");
            assert!(built(&automaton, known.len(), 1).is_none(), "too many bytes");
            let (mut run, mut other) = (Run::default(), automaton.new_run(0));
            let (mut found, mut expected) = (Found::default(), Found::default());
            let mut matched = 0;
            for _ in 0..60 {
                found.clear(number as usize);
                expected.clear(number as usize);
                run.begin();
                automaton.begin(&mut other);
                for _ in 0..60 {
                    if run.depth() > 0 && (run.depth() > deepest || random.below(5) < 2) {
                        run.end();
                        automaton.end(&mut other);
                        continue;
                    }
                    // 0 is a name that no path has
                    let element = Resolved { name: NameId(random.below(names + 1)), ..Resolved::OTHER };
                    run.start(&keyed, element, &mut found);
                    automaton.start(&mut other, element, &[], &mut expected);
                }
                let sorted = |found: &Found| {
                    let mut paths = found.paths().to_vec();
                    paths.sort_unstable();
                    paths
                };
                assert_eq!(sorted(&found), sorted(&expected));
                matched += found.paths().len();
            }
            assert!(matched > 60, "{number} paths over {names} names");
        }
    }
}
