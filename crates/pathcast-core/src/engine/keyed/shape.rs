//! Which names of a path make its key.

use crate::hashing::spread;
use crate::pattern::{LinearPath, NameTest};

use super::check::levels;

/// Places further from the root or from the element than this are in no key.
const FARTHEST: u32 = 30;
/// Places from the root have numbers from here on.
const FROM_ROOT: u32 = 32;
/// Bits of a place.
const BITS: u32 = 6;

/// Up to three places, in order: a number of levels above the element, or a level below the document node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Shape(u32);

/// A place and the name that a path has there.
pub(super) type Anchored = (u32, u16);

impl Shape {
    /// The shape of some places, which are sorted.
    pub(super) fn of(places: &[Anchored]) -> Self {
        Self(places.iter().fold(0, |shape, (place, _)| shape << BITS | (place + 1)))
    }

    fn places(self) -> impl Iterator<Item = u32> {
        let part = move |at: u32| (self.0 >> (BITS * at)) & ((1 << BITS) - 1);
        (0..3).rev().map(part).filter(|&part| part > 0).map(|part| part - 1)
    }

    /// How deep an element must be to have names in all places.
    pub(super) fn depth(self) -> usize {
        let deep = |place| if place > FROM_ROOT { place - FROM_ROOT } else { place + 1 };
        self.places().map(deep).max().unwrap_or(0) as usize
    }

    /// The key that the names above an element make, itself included, from the root.
    #[inline]
    pub(super) fn key(self, names: &[u16]) -> u64 {
        let name = |place: u32| match place.checked_sub(FROM_ROOT) {
            Some(level) if level > 0 => names[level as usize - 1],
            _ => names[names.len() - 1 - place as usize],
        };
        self.places().map(name).fold(self.start(), joined)
    }

    /// The key that a path has.
    pub(super) fn key_of(self, anchored: &[Anchored]) -> u64 {
        anchored.iter().map(|&(_, name)| name).fold(self.start(), joined)
    }

    fn start(self) -> u64 {
        u64::from(self.0)
    }
}

#[inline]
fn joined(key: u64, name: u16) -> u64 {
    spread(key ^ u64::from(name) << 32)
}

/// The names of a path at a fixed distance from the element, nearest first, then those at a fixed distance from the root.
/// The root itself has one name for all elements of a document and tells nothing.
pub(super) fn anchored(path: &LinearPath, places: &mut Vec<Anchored>) {
    places.clear();
    let name = |name| if let NameTest::Name(id) = name { id.0 as u16 } else { 0 };
    let (mut above, mut level) = (levels(path.tail), levels(path.tail));
    level += path.steps.iter().map(|step| step.min).sum::<u32>();
    let exact = path.steps.iter().all(|step| step.exact);
    for step in path.steps.iter().rev() {
        if above <= FARTHEST && !(exact && level - above == 1) {
            places.push((above, name(step.name)));
        }
        if !step.exact {
            break;
        }
        above += step.min;
    }
    level = 0;
    for step in path.steps.iter().take_while(|step| step.exact && !exact) {
        level += step.min;
        if (2..=FARTHEST).contains(&level) {
            places.push((FROM_ROOT + level, name(step.name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_paths_and_of_elements_are_the_same() {
        let places = [(0, 7), (2, 5), (FROM_ROOT + 2, 4)];
        let shape = Shape::of(&places);
        assert_eq!(shape.places().collect::<Vec<_>>(), [0, 2, FROM_ROOT + 2]);
        assert_eq!(shape.depth(), 3);
        assert_eq!(shape.key(&[1, 4, 9, 5, 8, 7]), shape.key_of(&places));
        assert_ne!(shape.key(&[1, 3, 9, 5, 8, 7]), shape.key_of(&places));
        assert_eq!((Shape::of(&[]).depth(), Shape::of(&[(FROM_ROOT + 5, 1)]).depth()), (0, 5));
    }
}
