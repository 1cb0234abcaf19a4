//! Which names make a key.

use crate::hashing::{hash, spread};

/// Names in a key at most.
pub(super) const LANES: usize = 4;
/// Places further from the root or from the element than this are in no key.
pub(super) const FARTHEST: u32 = 30;
/// Names that float further from each other than this are in no key together.
pub(super) const WIDEST: u32 = 3;
/// Places from the root have numbers from here on.
const ROOT: u8 = 32;
/// Places that float have numbers from here on.
const FLOATING: u8 = 64;

/// Where a path has a name: so many levels above the element, at a level below the document node, or floating, so many
/// levels below the floating name before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u8);

impl Place {
    pub(super) fn above(levels: u32) -> Self {
        Self(levels as u8 + 1)
    }

    pub(super) fn level(level: u32) -> Self {
        Self(ROOT + level as u8)
    }

    pub(super) fn floating(gap: u32) -> Self {
        Self(FLOATING + gap as u8)
    }
}

/// A place and the name that a path has there.
pub(super) type Anchored = (Place, u16);

/// The names of a key.
pub(super) type Names = [u16; LANES];

/// Up to four places, and the depth if a path ends at one depth only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Shape(u64);

impl Shape {
    /// The shape and the names of some places.
    pub(super) fn of(places: &[Anchored], depth: Option<u32>) -> (Self, Names) {
        let mut names = [0; LANES];
        let mut shape = depth.map_or(0, u64::from);
        for (lane, (place, name)) in names.iter_mut().zip(places) {
            *lane = *name;
            shape = shape << 8 | u64::from(place.0);
        }
        (Self(shape << (8 * (LANES - places.len()))), names)
    }

    fn depth(self) -> usize {
        (self.0 >> (8 * LANES)) as usize
    }

    fn places(self) -> impl Iterator<Item = u8> {
        (0..LANES).rev().map(move |lane| (self.0 >> (8 * lane)) as u8)
    }

    /// Whether it holds for elements of one depth only.
    pub(super) fn is_exact(self) -> bool {
        self.depth() > 0
    }

    /// Whether it has names that float.
    pub(super) fn floats(self) -> bool {
        self.places().any(|place| place >= FLOATING)
    }

    /// The levels of the names for an element at a depth, 0 for none; more than once if names float.
    pub(super) fn levels(self, depth: usize, mut take: impl FnMut([u8; LANES])) {
        let mut levels = [0; LANES];
        // Floating names are below those from the root and above those from the element.
        let (mut first, mut last, mut length) = (1, depth - 1, 0);
        if self.is_exact() && self.depth() != depth {
            return;
        }
        for (level, place) in levels.iter_mut().zip(self.places()) {
            let at = match place {
                0 => continue,
                FLOATING.. => {
                    length += usize::from(place - FLOATING);
                    continue;
                }
                ROOT.. => usize::from(place - ROOT),
                _ => (depth + 1).saturating_sub(usize::from(place)),
            };
            if at == 0 || at > depth {
                return;
            }
            if place > ROOT {
                first = first.max(at + 1);
            } else {
                last = last.min(at - 1);
            }
            *level = at as u8;
        }
        if !self.floats() {
            return take(levels);
        }
        for mut base in first..=last.saturating_sub(length) {
            for (level, place) in levels.iter_mut().zip(self.places()).filter(|(_, place)| *place >= FLOATING)
            {
                base += usize::from(place - FLOATING);
                *level = base as u8;
            }
            take(levels);
        }
    }

    /// What tells its keys from those of other shapes; nobody outside the process knows it.
    pub(super) fn seed(self) -> u64 {
        hash(&self.0)
    }
}

/// The hash of a key.
#[inline]
pub(super) fn key(seed: u64, names: Names) -> u64 {
    let packed = names.into_iter().fold(0, |all, name| all << 16 | u64::from(name));
    spread(spread(packed ^ seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(places: &[Place], exact: Option<u32>, depth: usize) -> Vec<[u8; LANES]> {
        let places: Vec<_> = places.iter().map(|&place| (place, 7)).collect();
        let mut found = Vec::new();
        Shape::of(&places, exact).0.levels(depth, |levels| found.push(levels));
        found
    }

    #[test]
    fn places_become_levels() {
        let (leaf, parent) = (Place::above(0), Place::above(1));
        assert_eq!(levels(&[leaf, Place::above(2), Place::level(2)], None, 6), [[6, 4, 2, 0]]);
        assert_eq!(levels(&[], None, 3), [[0; LANES]]);
        assert_eq!(levels(&[leaf], Some(3), 3), [[3, 0, 0, 0]]);
        assert!(levels(&[leaf], Some(3), 4).is_empty(), "another depth");
        assert!(levels(&[leaf, Place::above(4)], None, 4).is_empty(), "not so deep");
        assert!(levels(&[leaf, Place::level(5)], None, 4).is_empty(), "not so deep");
        let pair = [parent, Place::floating(0), Place::floating(1)];
        assert_eq!(levels(&pair, None, 5), [[4, 1, 2, 0], [4, 2, 3, 0]]);
        assert!(levels(&pair, None, 3).is_empty(), "no room");
        assert_eq!(
            levels(&[leaf, Place::level(2), Place::floating(0)], None, 5),
            [[5, 2, 3, 0], [5, 2, 4, 0]]
        );
    }
}
