//! Strings of bytes by number, in one piece of memory.
//!
//! **Problem.** A million expressions in boxes are a million pieces of memory: each takes 32 bytes beside what it says, and
//! making and dropping them takes longer than copying them. **Idea.** They lie one after another, each with its length in
//! front, and a number stands for where one begins: 9 bytes beside what it says.
//!
//! **Invariants.** A number means the same until it is given back. What was given back stays in the middle, and goes when it
//! is most of all.

mod finder;
mod interner;

pub(crate) use finder::Finder;
pub(crate) use interner::PackedInterner;

use std::io;

use crate::image::{ImageError, Reader, Writer};

/// The start of a number that is free.
const VACANT: u64 = u64::MAX;
/// Bytes that may lie there for nobody.
const LOOSE: usize = 1 << 12;

/// Strings of bytes by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// By number: where its length begins.
    starts: Vec<u64>,
    free: Vec<u32>,
    /// Bytes of those that were given back.
    gone: usize,
}

impl Packed {
    /// The number that the next one gets.
    pub(crate) fn next(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.starts.len() as u32)
    }

    /// One more; its number.
    pub(crate) fn insert(&mut self, bytes: &[u8]) -> u32 {
        let needed = bytes.len() + 10;
        if self.bytes.capacity() - self.bytes.len() < needed {
            // Less than doubling: what is added one by one should not take twice its room.
            self.bytes.reserve_exact(needed.max(self.bytes.len() / 8).max(64));
        }
        let start = self.bytes.len() as u64;
        let mut length = bytes.len();
        while length >= 0x80 {
            self.bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.bytes.push(length as u8);
        self.bytes.extend_from_slice(bytes);
        if let Some(id) = self.free.pop() {
            self.starts[id as usize] = start;
            return id;
        }
        self.starts.push(start);
        (self.starts.len() - 1) as u32
    }

    /// What a number that was given stands for.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        let rest = &self.bytes[self.starts[id as usize] as usize..];
        match rest {
            [length @ ..0x80, rest @ ..] => &rest[..*length as usize],
            _ => long(rest),
        }
    }

    /// Whether a number stands for something.
    pub(crate) fn has(&self, id: u32) -> bool {
        self.starts.get(id as usize).is_some_and(|&start| start != VACANT)
    }

    /// Gives a number back.
    pub(crate) fn remove(&mut self, id: u32) {
        self.gone += self.get(id).len() + 1;
        self.starts[id as usize] = VACANT;
        self.free.push(id);
        if 2 * self.gone > self.bytes.len() + LOOSE {
            self.close_up();
        }
    }

    /// Takes out what was given back.
    fn close_up(&mut self) {
        let mut fresh = Self { bytes: Vec::with_capacity(self.bytes.len() - self.gone), ..Self::default() };
        let mut starts = std::mem::take(&mut self.starts);
        for start in starts.iter_mut().filter(|start| **start != VACANT) {
            let at = *start as usize;
            let rest = &self.bytes[at..];
            let (front, length) = front(rest);
            *start = fresh.bytes.len() as u64;
            fresh.bytes.extend_from_slice(&rest[..front + length]);
        }
        *self = Self { starts, free: std::mem::take(&mut self.free), ..fresh };
    }

    /// The numbers that stand for something.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.starts).filter(|(_, start)| **start != VACANT).map(|(id, _)| id)
    }

    /// How many they are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - self.free.len()
    }

    /// Gives back room that was kept for growth.
    pub(crate) fn settle(&mut self) {
        if self.gone > 0 {
            self.close_up();
        }
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.starts.capacity() * 8 + self.free.capacity() * 4
    }

    pub(crate) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.bytes(&self.bytes)?;
        image.items(&self.starts)?;
        image.items(&self.free)?;
        image.number(self.gone)
    }

    pub(crate) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let (bytes, starts): (Vec<u8>, Vec<u64>) = (image.bytes()?, image.items()?);
        let (free, gone): (Vec<u32>, usize) = (image.items()?, image.number()?);
        let within = |start: u64| {
            let rest = usize::try_from(start).ok().and_then(|start| bytes.get(start..));
            rest.is_some_and(|rest| match *rest {
                [length @ ..0x80, ref rest @ ..] => usize::from(length) <= rest.len(),
                _ => {
                    let (front, length) = front(rest);
                    front > 0 && length <= rest.len() - front
                }
            })
        };
        let sound = starts.iter().all(|&start| start == VACANT || within(start));
        let fit = gone <= bytes.len() && free.iter().all(|&id| (id as usize) < starts.len());
        if sound && fit && free.len() <= starts.len() {
            Ok(Self { bytes, starts, free, gone })
        } else {
            Err(ImageError::Damaged)
        }
    }
}

/// How many bytes say how long something is, and what they say.
fn front(bytes: &[u8]) -> (usize, usize) {
    let mut length = 0;
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return (at + 1, length);
        }
    }
    (bytes.len(), 0)
}

/// Something of 128 bytes or more.
#[cold]
fn long(bytes: &[u8]) -> &[u8] {
    let (front, length) = front(bytes);
    &bytes[front..front + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told_whoever_came_and_went() {
        let text = |number: usize| vec![number as u8; number * 37 % 300];
        let mut packed = Packed::default();
        let mut known: Vec<(u32, usize)> = Vec::new();
        let mut state = 7_u32;
        for round in 0..6_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let draw = (state >> 8) as usize;
            if draw.is_multiple_of(2) && round % 2_000 < 1_000 || known.is_empty() {
                let next = packed.next();
                assert_eq!(packed.insert(&text(round)), next);
                known.push((next, round));
            } else {
                packed.remove(known.swap_remove(draw % known.len()).0);
            }
            if round % 500 == 0 {
                packed.settle();
            }
            assert_eq!(packed.len(), known.len());
        }
        known.sort_unstable();
        assert!(packed.ids().eq(known.iter().map(|&(id, _)| id)));
        assert!(known.iter().all(|&(id, number)| packed.get(id) == text(number)));
        assert!(
            packed.bytes.len()
                < 2 * known.iter().map(|&(_, number)| text(number).len() + 2).sum::<usize>() + LOOSE
        );
    }
}
