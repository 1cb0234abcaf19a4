//! A run over one document: the names of the open elements.

use super::build::{Keyed, depth_bit, name_bit};
use crate::engine::Found;
use crate::names::{NameId, Resolved};

/// Candidates whose bits are tested together.
const BLOCK: usize = 16;
/// What a check costs, in look-ups.
const CHECK: u64 = 8;

/// What the open elements are called.
#[derive(Debug, Default)]
pub(in crate::engine) struct Run {
    names: Vec<u16>,
    /// By open element: the bits of its names and depths.
    has: Vec<u64>,
    /// Candidates of the current element that have to be checked.
    passed: Vec<u32>,
    /// Look-ups so far, with candidates in proportion to what they cost.
    work: u64,
}

impl Run {
    pub(in crate::engine) fn begin(&mut self) {
        self.names.clear();
        self.has.clear();
    }

    /// How many elements are open.
    #[inline]
    pub(in crate::engine) fn depth(&self) -> usize {
        self.names.len()
    }

    /// The open elements, from the root.
    pub(in crate::engine) fn open(&self) -> impl Iterator<Item = Resolved> {
        self.names.iter().map(|&name| Resolved { name: NameId(u32::from(name)), ..Resolved::OTHER })
    }

    /// Finds the paths that end at an element.
    pub(in crate::engine) fn start(&mut self, keyed: &Keyed, element: Resolved, found: &mut Found) {
        // No path has a name whose number takes more: the table would not have been built.
        let name = u16::try_from(element.name.0).unwrap_or(0);
        self.names.push(name);
        let depth = self.names.len();
        let above = self.has.last().copied().unwrap_or(0);
        let has = above | name_bit(name) | depth_bit(depth);
        self.has.push(has);
        for &(shape, least) in &keyed.shapes {
            if least > depth {
                continue;
            }
            self.work += 1;
            let Some(candidates) = keyed.candidates(shape.key(&self.names)) else { continue };
            self.work += candidates.len() as u64 / 8;
            let first = candidates.start;
            for (block, needs) in (first..).step_by(BLOCK).zip(keyed.needs[candidates].chunks(BLOCK)) {
                // Without a branch for each: one in fifty is checked.
                let mut left =
                    needs.iter().rev().fold(0_u32, |all, needs| all << 1 | u32::from(needs & !has == 0));
                while left != 0 {
                    let at = block + left.trailing_zeros() as usize;
                    left &= left - 1;
                    self.passed.push(at as u32);
                }
            }
        }
        self.work += CHECK * self.passed.len() as u64;
        // One after another, so that the processor fetches several at once: each lies somewhere else in memory.
        for at in self.passed.drain(..) {
            let path = keyed.path(at as usize);
            if !found.contains(path) && keyed.ends_at(at as usize, &self.names) {
                found.add(path);
            }
        }
    }

    #[inline]
    pub(in crate::engine) fn end(&mut self) {
        self.names.pop();
        self.has.pop();
    }

    /// Work so far, in look-ups.
    pub(in crate::engine) fn work(&self) -> u64 {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::keyed::{Building, Progress};
    use crate::engine::yfilter::YFilter;
    use crate::engine::{Engine, PathId};
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
    fn keys_find_what_the_shared_automaton_finds() {
        let mut random = Random(20_261_116);
        for (number, names) in [(40, 2), (300, 3), (3_000, 4), (9_000, 70)] {
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
                    if run.depth() > 0 && (run.depth() > 9 || random.below(5) < 2) {
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
