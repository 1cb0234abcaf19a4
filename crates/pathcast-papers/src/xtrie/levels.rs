//! Sets of levels on the way from the document node to the element at hand.
//!
//! Run-time state says at which levels something holds *now*: on the open elements, of which there is one at each
//! level. So a state is a set of levels, level 0 is the document node, and a relative level is a shift. Up to 63
//! levels a set is one word; what lies deeper is kept aside, and only documents that deep pay for it.

use rustc_hash::FxHashMap;

/// A relative level: this many levels, or this many and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gap {
    /// Levels.
    pub min: u32,
    /// Whether more do not count.
    pub exact: bool,
}

impl Gap {
    /// No level at all.
    pub(super) const NONE: Self = Self { min: 0, exact: true };

    pub(super) fn new(min: u32, exact: bool) -> Self {
        Self { min, exact }
    }

    /// One gap after the other.
    pub(super) fn and(self, next: Self) -> Self {
        Self { min: self.min.saturating_add(next.min), exact: self.exact && next.exact }
    }

    #[inline]
    pub(super) fn fits(self, levels: u32) -> bool {
        if self.exact { levels == self.min } else { levels >= self.min }
    }
}

/// A set of levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    low: u64,
    /// Levels from 64 on.
    high: Vec<u64>,
}

impl Levels {
    #[inline]
    pub(super) fn one(level: u32) -> Self {
        Self::range(level, level)
    }

    /// From one level to another, both included.
    #[inline]
    pub(super) fn range(from: u32, to: u32) -> Self {
        if from > to {
            return Self::default();
        }
        if to < 64 {
            return Self { low: (u64::MAX >> (63 - (to - from))) << from, high: Vec::new() };
        }
        let mut words = vec![0_u64; to as usize / 64 + 1];
        for (at, word) in words.iter_mut().enumerate() {
            let start = at as u32 * 64;
            if from < start + 64 {
                let first = from.max(start) - start;
                let last = to.min(start + 63) - start;
                *word = (u64::MAX >> (63 - (last - first))) << first;
            }
        }
        Self::from_words(words)
    }

    fn from_words(mut words: Vec<u64>) -> Self {
        while words.len() > 1 && words.last() == Some(&0) {
            words.pop();
        }
        let low = words.first().copied().unwrap_or(0);
        if words.len() <= 1 {
            return Self { low, high: Vec::new() };
        }
        words.remove(0);
        Self { low, high: words }
    }

    fn words(&self) -> Vec<u64> {
        std::iter::once(self.low).chain(self.high.iter().copied()).collect()
    }

    fn highest(&self) -> Option<u32> {
        if let Some(at) = self.high.iter().rposition(|&word| word != 0) {
            return Some(64 * (at as u32 + 1) + 63 - self.high[at].leading_zeros());
        }
        (self.low != 0).then(|| 63 - self.low.leading_zeros())
    }

    /// Levels a gap above one of these.
    #[inline]
    pub(super) fn above(&self, gap: Gap) -> Self {
        let Some(highest) = self.highest() else { return Self::default() };
        if highest < gap.min {
            return Self::default();
        }
        if !gap.exact {
            return Self::range(0, highest - gap.min);
        }
        if self.high.is_empty() {
            return Self { low: self.low.checked_shr(gap.min).unwrap_or(0), high: Vec::new() };
        }
        Self::from_levels(self.iter().filter_map(|level| level.checked_sub(gap.min)))
    }

    fn from_levels(levels: impl Iterator<Item = u32>) -> Self {
        let mut words = vec![0_u64];
        for level in levels {
            let at = level as usize / 64;
            if words.len() <= at {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (level % 64);
        }
        Self::from_words(words)
    }

    /// Keeps what is in another set too.
    #[inline]
    pub(super) fn keep(&mut self, other: &Self) {
        self.low &= other.low;
        if self.high.is_empty() {
            return;
        }
        let words = self.words();
        let theirs = other.words();
        *self = Self::from_words(words.iter().zip(&theirs).map(|(word, their)| word & their).collect());
    }

    /// Leaves out what is in another set.
    pub(super) fn drop(&mut self, other: &Self) {
        self.low &= !other.low;
        if self.high.is_empty() {
            return;
        }
        let theirs = other.words();
        let kept = self.words().into_iter().enumerate();
        *self =
            Self::from_words(kept.map(|(at, word)| word & !theirs.get(at).copied().unwrap_or(0)).collect());
    }

    pub(super) fn retain(&mut self, mut holds: impl FnMut(u32) -> bool) {
        if !self.high.is_empty() {
            let kept: Vec<u32> = self.iter().filter(|&level| holds(level)).collect();
            *self = Self::from_levels(kept.into_iter());
            return;
        }
        let mut left = self.low;
        while left != 0 {
            if !holds(left.trailing_zeros()) {
                self.low &= !(left & left.wrapping_neg());
            }
            left &= left - 1;
        }
    }

    /// The levels, the lowest number first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (mut word, mut base, mut rest) = (self.low, 0, self.high.iter());
        std::iter::from_fn(move || {
            while word == 0 {
                word = *rest.next()?;
                base += 64;
            }
            let level = base + word.trailing_zeros();
            word &= word - 1;
            Some(level)
        })
    }
}

/// A set of levels for each of many numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct LevelSets {
    low: Vec<u64>,
    /// A bit for each number whose set has a level: most have none, and bits stay near where words do not.
    some: Vec<u64>,
    /// By number and word: levels from 64 on.
    high: FxHashMap<(u32, u32), u64>,
}

impl LevelSets {
    /// Makes room for numbers below `bound`; all sets must be empty.
    pub(super) fn resize(&mut self, bound: usize) {
        self.low.resize(bound, 0);
        self.some.resize(bound.div_ceil(64), 0);
    }

    /// Whether the set has any level.
    #[inline]
    pub(super) fn has_any(&self, id: u32) -> bool {
        self.some[id as usize / 64] >> (id % 64) & 1 != 0
    }

    /// Adds a level; levels are taken out again from the deepest on.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, level: u32) {
        self.some[id as usize / 64] |= 1 << (id % 64);
        if level < 64 {
            self.low[id as usize] |= 1 << level;
        } else {
            *self.high.entry((id, level / 64)).or_default() |= 1 << (level % 64);
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32, level: u32) {
        if level < 64 {
            let low = &mut self.low[id as usize];
            *low &= !(1 << level);
            if *low == 0 {
                // Deeper levels have ended before.
                self.some[id as usize / 64] &= !(1 << (id % 64));
            }
        } else {
            self.remove_deep(id, level);
        }
    }

    #[cold]
    fn remove_deep(&mut self, id: u32, level: u32) {
        use std::collections::hash_map::Entry;
        let Entry::Occupied(mut word) = self.high.entry((id, level / 64)) else { return };
        *word.get_mut() &= !(1 << (level % 64));
        if *word.get() != 0 {
            return;
        }
        word.remove();
        let above = |at: u32| self.high.contains_key(&(id, at));
        if self.low[id as usize] == 0 && !(1..level / 64).any(above) {
            self.some[id as usize / 64] &= !(1 << (id % 64));
        }
    }

    /// Whether the set has a level.
    #[inline]
    pub(super) fn has(&self, id: u32, level: u32) -> bool {
        self.has_above(id, level, Gap::NONE)
    }

    /// Whether the set has a level a gap above this one.
    #[inline(always)] // asked for every lineage of every substring that is met
    pub(super) fn has_above(&self, id: u32, level: u32, gap: Gap) -> bool {
        if !self.has_any(id) {
            return false;
        }
        let Some(top) = level.checked_sub(gap.min) else { return false };
        if top < 64 {
            let low = self.low[id as usize];
            return if gap.exact { low >> top & 1 != 0 } else { low << (63 - top) != 0 };
        }
        let word = |at: u32| self.high.get(&(id, at)).copied().unwrap_or(0);
        let last = word(top / 64);
        if gap.exact {
            return last >> (top % 64) & 1 != 0;
        }
        self.low[id as usize] != 0 || last << (63 - top % 64) != 0 || (1..top / 64).any(|at| word(at) != 0)
    }

    /// The levels of the set that are a gap above this one.
    #[inline]
    pub(super) fn above(&self, id: u32, level: u32, gap: Gap) -> Levels {
        let Some(top) = level.checked_sub(gap.min) else { return Levels::default() };
        if top < 64 {
            let fits = if gap.exact { 1 << top } else { u64::MAX >> (63 - top) };
            return Levels { low: self.low[id as usize] & fits, high: Vec::new() };
        }
        let mut levels = Levels::one(level).above(gap);
        levels.keep(&self.get(id, level));
        levels
    }

    /// The set, no further down than `bound`.
    #[inline]
    pub(super) fn get(&self, id: u32, bound: u32) -> Levels {
        let low = self.low[id as usize];
        if bound < 64 {
            return Levels { low, high: Vec::new() };
        }
        let high = (1..=bound / 64).map(|at| self.high.get(&(id, at)).copied().unwrap_or(0));
        Levels::from_words(std::iter::once(low).chain(high).collect())
    }

    /// Of the heap bytes, those for levels from 64 on.
    pub(super) fn grown_bytes(&self) -> usize {
        self.high.capacity() * 24
    }

    /// Gives them back; all sets must be empty.
    pub(super) fn shrink(&mut self) {
        self.high = FxHashMap::default();
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.low.capacity() + self.some.capacity()) * 8 + self.grown_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(levels: &[u32]) -> Levels {
        Levels::from_levels(levels.iter().copied())
    }

    /// Against the definition, on sets on both sides of the word's edge.
    #[test]
    fn gaps_shift_sets() {
        let sets: [&[u32]; 7] = [&[], &[0], &[3, 9], &[60, 63], &[63, 64], &[2, 70, 128], &[200]];
        for levels in sets {
            for min in [0, 1, 2, 5, 63, 64, 70] {
                for exact in [true, false] {
                    let gap = Gap::new(min, exact);
                    let bound = 260;
                    let fits = |from: u32, to: u32| to >= from && gap.fits(to - from);
                    let above: Vec<u32> =
                        (0..=bound).filter(|&from| levels.iter().any(|&to| fits(from, to))).collect();
                    assert_eq!(
                        set(levels).above(gap).iter().collect::<Vec<_>>(),
                        above,
                        "{gap:?} {levels:?}"
                    );
                    let mut sets = LevelSets::default();
                    sets.resize(2);
                    levels.iter().for_each(|&level| sets.insert(1, level));
                    assert_eq!(sets.get(1, bound), set(levels));
                    for level in 0..bound {
                        let expected = levels.iter().any(|&each| fits(each, level));
                        assert_eq!(sets.has_above(1, level, gap), expected, "{gap:?} {levels:?} {level}");
                        let fitting: Vec<u32> =
                            levels.iter().copied().filter(|&each| fits(each, level)).collect();
                        assert_eq!(sets.above(1, level, gap), set(&fitting), "{gap:?} {levels:?} {level}");
                    }
                    levels.iter().rev().for_each(|&level| sets.remove(1, level));
                    assert!(
                        sets.get(1, bound) == Levels::default() && sets.high.is_empty() && !sets.has_any(1)
                    );
                }
            }
        }
    }

    #[test]
    fn ranges_and_intersections() {
        for (from, to) in [(0, 0), (5, 63), (5, 64), (64, 64), (70, 200), (3, 2)] {
            let range = Levels::range(from, to);
            assert_eq!(range.iter().collect::<Vec<_>>(), (from..=to).collect::<Vec<_>>());
            let mut kept = range.clone();
            kept.keep(&set(&[5, 64, 130]));
            let expected: Vec<u32> =
                [5, 64, 130].into_iter().filter(|level| (from..=to).contains(level)).collect();
            assert_eq!(kept.iter().collect::<Vec<_>>(), expected);
            let mut left = range.clone();
            left.drop(&kept);
            assert_eq!(left.iter().count() + kept.iter().count(), range.iter().count());
            kept.retain(|level| level > 64);
            assert_eq!(kept, set(&expected.into_iter().filter(|&level| level > 64).collect::<Vec<_>>()));
        }
    }
}
