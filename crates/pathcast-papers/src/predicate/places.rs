//! Where the tag variables occur on the current path, and occurrence determination.
//!
//! The paper numbers the occurrences of a tag, lists the pairs of numbers that satisfy each predicate, and searches
//! with backtracking for pairs that fit together. Here an occurrence is its position. Those of one variable on a path
//! of up to 64 levels are the bits of one word, so the positions where a chain of predicates can end follow from those
//! of the chain before by a shift or a mask: one step for each predicate, whatever the document looks like. Below 64
//! levels the same is done with sorted lists of positions, in time proportional to their lengths.

use super::constraint::{Distance, Predicate};
use super::tags::TagId;

/// Levels that fit into a word.
const WORD: u32 = 64;

/// Positions by tag variable; the root element is at 1.
#[derive(Debug, Default)]
pub(super) struct Places {
    depth: u32,
    /// By variable: a bit for each of the first 64 positions.
    words: Vec<u64>,
    /// By variable: all positions, kept only while the path is longer than that.
    lists: Vec<Vec<u32>>,
}

impl Places {
    /// Makes room for variables below `tags`.
    pub(super) fn resize(&mut self, tags: usize) {
        self.words.resize(tags.max(self.words.len()), 0);
    }

    /// The length of the path.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether the path is too long for words.
    pub(super) fn is_deep(&self) -> bool {
        self.depth > WORD
    }

    /// One level more.
    pub(super) fn lower(&mut self) {
        self.depth += 1;
        if self.depth == WORD + 1 {
            self.lists.resize_with(self.words.len(), Vec::new);
        }
    }

    /// The element at the end of the path is one of a variable's; whether none was before.
    #[inline]
    pub(super) fn add(&mut self, tag: TagId) -> bool {
        let word = &mut self.words[tag as usize];
        let first = *word == 0;
        if self.depth <= WORD {
            *word |= 1 << (self.depth - 1);
            return first;
        }
        let list = &mut self.lists[tag as usize];
        if list.is_empty() {
            list.extend(bits(*word));
        }
        list.push(self.depth);
        first && list.len() == 1
    }

    /// Takes back [`Places::add`], in the opposite order.
    #[inline]
    pub(super) fn take(&mut self, tag: TagId) {
        if self.depth <= WORD {
            self.words[tag as usize] &= !(1 << (self.depth - 1));
            return;
        }
        let list = &mut self.lists[tag as usize];
        list.pop();
        if list.last().is_none_or(|&last| last <= WORD) {
            list.clear(); // the word has them
        }
    }

    /// One level less.
    pub(super) fn raise(&mut self) {
        self.depth -= 1;
    }

    /// The highest position in the document, the lowest number.
    #[inline]
    pub(super) fn lowest(&self, tag: TagId) -> Option<u32> {
        let word = self.words[tag as usize];
        if word != 0 {
            return Some(word.trailing_zeros() + 1);
        }
        if self.is_deep() { self.lists[tag as usize].first().copied() } else { None }
    }

    /// Whether a variable occurs at a position of at least 1.
    #[inline]
    pub(super) fn holds(&self, tag: TagId, position: u32) -> bool {
        if position <= WORD {
            return self.words[tag as usize] >> (position - 1) & 1 == 1;
        }
        self.lists[tag as usize].binary_search(&position).is_ok()
    }

    /// Where a chain of predicates can end, if it can end at `before` without the last one; `None` starts a chain.
    /// Zero is nowhere. Only for paths that are not deep.
    #[inline]
    pub(super) fn follow(&self, before: Option<u64>, predicate: Predicate) -> u64 {
        match predicate {
            Predicate::Absolute { tag, distance: Distance { min, exact } } => {
                self.words[tag as usize] & reach(1, min - 1, exact)
            }
            Predicate::Relative { from, to, distance: Distance { min, exact } } => {
                let before = before.unwrap_or_else(|| self.words[from as usize]);
                self.words[to as usize] & reach(before, min, exact)
            }
            Predicate::EndOfPath { tag, levels } => {
                let before = before.unwrap_or_else(|| self.words[tag as usize]);
                let last = self.depth.saturating_sub(levels);
                if last == 0 { 0 } else { before & (u64::MAX >> (WORD - last.min(WORD))) }
            }
            Predicate::Length { levels } => u64::from(self.depth >= levels),
        }
    }

    /// The same for any path, with positions in a list.
    pub(super) fn follow_deep(&self, before: Option<&[u32]>, predicate: Predicate, next: &mut Vec<u32>) {
        next.clear();
        match predicate {
            Predicate::Absolute { tag, distance } => {
                next.extend(self.positions(tag).filter(|&to| distance.fits(to)));
            }
            Predicate::Relative { from, to, distance } => match before {
                Some(before) => self.step(before, to, distance, next),
                None => self.step(&self.positions(from).collect::<Vec<_>>(), to, distance, next),
            },
            Predicate::EndOfPath { tag, levels } => {
                let fits = |&from: &u32| from + levels <= self.depth;
                match before {
                    Some(before) => next.extend(before.iter().copied().filter(fits)),
                    None => next.extend(self.positions(tag).filter(fits)),
                }
            }
            Predicate::Length { levels } => next.extend((self.depth >= levels).then_some(0)),
        }
    }

    fn step(&self, before: &[u32], to: TagId, distance: Distance, next: &mut Vec<u32>) {
        let Some(&first) = before.first() else { return };
        if distance.exact {
            let reached = before.iter().map(|from| from + distance.min);
            next.extend(reached.filter(|&at| at <= self.depth && self.holds(to, at)));
        } else {
            next.extend(self.positions(to).filter(|&at| at >= first + distance.min));
        }
    }

    fn positions(&self, tag: TagId) -> impl Iterator<Item = u32> {
        let listed = if self.is_deep() { self.lists[tag as usize].as_slice() } else { &[] };
        let word = if listed.is_empty() { self.words[tag as usize] } else { 0 };
        bits(word).chain(listed.iter().copied())
    }
}

impl Distance {
    fn fits(self, levels: u32) -> bool {
        if self.exact { levels == self.min } else { levels >= self.min }
    }
}

/// The positions so many levels below those of a word.
#[inline]
fn reach(from: u64, min: u32, exact: bool) -> u64 {
    if exact {
        return from.checked_shl(min).unwrap_or(0);
    }
    // Every position from the first reached one on; none when there is no start or the first one is beyond the word.
    u64::MAX.checked_shl(from.trailing_zeros() + min).unwrap_or(0)
}

/// The positions in a word.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let at = word.trailing_zeros();
            word &= word - 1;
            at + 1
        })
    })
}
