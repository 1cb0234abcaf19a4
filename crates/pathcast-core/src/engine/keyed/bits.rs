//! What a path needs and what an element has above it, as words of bits: a path that needs a bit which an element does not
//! have does not end there.
//!
//! 22 bits are names, 9 are depths, and 32 are names at a distance from the element: one level further is a rotation, so
//! the bits of an element follow from those of its parent. The last bit is that of a place without paths.

use super::check::Step;

const NAMES: u32 = 22;
const DEPTHS: u32 = 9;
/// By how many bits a level rotates.
const LEVEL: u32 = 7;

/// What no element has.
pub(super) const NEVER: u64 = u64::MAX;

/// The bits of what an element has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Has {
    /// At a distance.
    distant: u32,
    others: u32,
}

impl Has {
    /// What a child of this name at this depth has.
    #[inline]
    pub(super) fn child(self, name: u16, depth: usize) -> Self {
        // A name that no path has is none.
        let (distant, others) = if name == 0 { (0, 0) } else { (distant_bit(name), name_bit(name)) };
        Self {
            distant: self.distant.rotate_left(LEVEL) | distant,
            others: self.others | others | depth_bit(depth),
        }
    }

    #[inline]
    pub(super) fn word(self) -> u64 {
        u64::from(self.others) << 32 | u64::from(self.distant)
    }
}

#[inline]
fn distant_bit(name: u16) -> u32 {
    1 << (u32::from(name).wrapping_mul(0x9e37_79b1) >> 27)
}

#[inline]
fn name_bit(name: u16) -> u32 {
    1 << (u32::from(name) % NAMES)
}

/// An element has the bits of all depths up to its own.
#[inline]
fn depth_bit(depth: usize) -> u32 {
    1 << (NAMES + (depth as u32).clamp(1, DEPTHS) - 1)
}

/// What a path needs.
pub(super) fn needs(steps: &[Step], tail: u32) -> u64 {
    let least = tail as usize + steps.iter().map(|step| step.levels()).sum::<usize>();
    let others = steps.iter().fold(depth_bit(least), |all, step| all | name_bit(step.name()));
    let (mut above, mut distant) = (tail as usize, 0);
    for step in steps.iter().rev() {
        distant |= distant_bit(step.name()).rotate_left(LEVEL * (above % 32) as u32 % 32);
        if !step.exact() {
            break;
        }
        above += step.levels();
    }
    u64::from(others) << 32 | u64::from(distant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameId;
    use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

    fn lacks(names: &[u16]) -> u64 {
        let child = |has: Has, (at, name): (usize, &u16)| has.child(*name, at + 1);
        !names.iter().enumerate().fold(Has::default(), child).word()
    }

    #[test]
    fn an_element_has_what_a_path_that_ends_there_needs() {
        let step = |min, exact, name| LinearStep { min, exact, name: NameTest::Name(NameId(name)) };
        let path = LinearPath {
            steps: vec![step(1, true, 1), step(2, false, 40), step(1, true, 5), step(2, true, 6)],
            tail: Tail::Wild(1),
        };
        let mut steps = Vec::new();
        super::super::check::write(&path, &mut steps).expect("small");
        let needs = needs(&steps, 1);
        for (names, expected) in [
            (&[1, 9, 40, 5, 9, 6, 9][..], true),
            (&[1, 9, 9, 9, 40, 5, 9, 6, 0], true),
            (&[1, 9, 9, 40, 5, 11, 12, 6], false), // another distance
            (&[1, 9, 9, 5, 9, 6, 9], false),       // a name is missing
            (&[1, 40, 5, 9, 6, 9], false),         // not so deep
        ] {
            assert_eq!(needs & lacks(names) == 0, expected, "{names:?}");
        }
        assert_ne!(NEVER & lacks(&[1, 2, 3]), 0);
    }
}
