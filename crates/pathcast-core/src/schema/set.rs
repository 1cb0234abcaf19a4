//! A set of schema elements, one bit each.

use super::graph::ElementId;

/// A set of elements; the number after the last element is the document node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ElementSet {
    words: Vec<u64>,
}

impl ElementSet {
    /// An empty set for numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)] }
    }

    /// All numbers below `bound`.
    pub fn full(bound: usize) -> Self {
        let mut words = vec![u64::MAX; bound.div_ceil(64)];
        if let (Some(last), spare @ 1..) = (words.last_mut(), bound % 64) {
            *last = (1 << spare) - 1;
        }
        Self { words }
    }

    /// A set of one.
    pub fn one(bound: usize, element: ElementId) -> Self {
        let mut set = Self::new(bound);
        set.insert(element);
        set
    }

    /// Adds an element; false if it was there.
    pub fn insert(&mut self, element: ElementId) -> bool {
        let (word, bit) = (&mut self.words[element as usize / 64], 1 << (element % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    /// Takes an element out.
    pub fn remove(&mut self, element: ElementId) {
        self.words[element as usize / 64] &= !(1 << (element % 64));
    }

    /// Whether it is there.
    pub fn contains(&self, element: ElementId) -> bool {
        self.words.get(element as usize / 64).is_some_and(|word| word >> (element % 64) & 1 == 1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The least, if there is any.
    pub fn first(&self) -> Option<ElementId> {
        self.iter().next()
    }

    /// The only one, if there is just one.
    pub fn single(&self) -> Option<ElementId> {
        let mut all = self.iter();
        match (all.next(), all.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }

    /// Adds all of another set.
    pub fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, more)| *word |= more);
    }

    /// Keeps what is in another set too.
    pub fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, kept)| *word &= kept);
    }

    /// Whether two sets share an element.
    pub fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(left, right)| left & right != 0)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = ElementId> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let rest = |&word: &u64| Some(word & (word - 1)).filter(|&left| left != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), rest)
                .map(move |word| at as ElementId * 64 + word.trailing_zeros())
        })
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_sets_end_at_their_bound() {
        for bound in [0, 1, 63, 64, 65, 128, 200] {
            let set = ElementSet::full(bound);
            assert_eq!(set.len(), bound);
            assert_eq!(set.iter().collect::<Vec<_>>(), (0..bound as u32).collect::<Vec<_>>());
        }
        assert_eq!(ElementSet::one(200, 130).single(), Some(130));
        assert_eq!(ElementSet::full(2).single(), None);
    }
}
