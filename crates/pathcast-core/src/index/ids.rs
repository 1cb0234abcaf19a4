//! Ids by place, in columns that only grow: an answer copies ids from them and builds none.
//!
//! **Invariants.** The id of a place never changes. Chunks are shared with results until they grow. A chunk holds numbers, or
//! texts one after another as soon as one of its ids is a text; a number among them is written out and marked.

use std::fmt;
use std::sync::Arc;

use super::chunks::CHUNK;
use super::places::Slot;
use crate::hashing::hash;

/// A subscription's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(Box<str>),
}

impl Id {
    /// Its place in a table of ids.
    pub(super) fn key(&self) -> u64 {
        match self {
            Self::Number(number) => hash(number),
            Self::Text(text) => hash(&**text),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// All ids by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    chunks: Vec<Arc<Chunk>>,
    len: usize,
}

#[derive(Clone, Debug)]
enum Chunk {
    Numbers(Vec<i64>),
    Texts(Texts),
}

/// Ids of which some are texts.
#[derive(Clone, Debug, Default)]
struct Texts {
    bytes: String,
    /// Where each ends.
    ends: Vec<u32>,
    /// A bit for each: whether it is a number.
    numbers: [u64; CHUNK / 64],
}

impl Texts {
    fn push(&mut self, id: &Id) {
        let at = self.ends.len();
        match id {
            Id::Text(text) => self.bytes.push_str(text),
            Id::Number(number) => {
                self.bytes.push_str(&number.to_string());
                self.numbers[at / 64] |= 1 << (at % 64);
            }
        }
        self.ends.push(self.bytes.len() as u32);
    }

    fn start(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.ends[at - 1] as usize }
    }

    fn text(&self, at: usize) -> &str {
        &self.bytes[self.start(at)..self.ends[at] as usize]
    }

    fn number(&self, at: usize) -> Option<i64> {
        if self.numbers[at / 64] >> (at % 64) & 1 == 0 { None } else { self.text(at).parse().ok() }
    }
}

impl Ids {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The id of the next place.
    pub(super) fn push(&mut self, id: &Id) {
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.push(Arc::new(Chunk::Numbers(Vec::with_capacity(CHUNK))));
        }
        self.len += 1;
        let Some(chunk) = self.chunks.last_mut().map(Arc::make_mut) else { return };
        if let (Chunk::Numbers(numbers), Id::Text(_)) = (&*chunk, id) {
            let mut texts = Texts::default();
            numbers.iter().for_each(|&number| texts.push(&Id::Number(number)));
            *chunk = Chunk::Texts(texts);
        }
        match (chunk, id) {
            (Chunk::Numbers(numbers), Id::Number(number)) => numbers.push(*number),
            (Chunk::Numbers(_), Id::Text(_)) => {}
            (Chunk::Texts(texts), id) => texts.push(id),
        }
    }

    pub(super) fn get(&self, slot: Slot) -> Id {
        let (chunk, at) = self.find(slot);
        match chunk {
            Chunk::Numbers(numbers) => Id::Number(numbers[at]),
            Chunk::Texts(texts) => match texts.number(at) {
                Some(number) => Id::Number(number),
                None => Id::Text(texts.text(at).into()),
            },
        }
    }

    #[inline]
    fn find(&self, slot: Slot) -> (&Chunk, usize) {
        (&self.chunks[slot as usize / CHUNK], slot as usize % CHUNK)
    }

    /// Whether a place has this id.
    pub(super) fn is(&self, slot: Slot, id: &Id) -> bool {
        let (chunk, at) = self.find(slot);
        match (chunk, id) {
            (Chunk::Numbers(numbers), Id::Number(number)) => numbers[at] == *number,
            (Chunk::Numbers(_), Id::Text(_)) => false,
            (Chunk::Texts(texts), Id::Number(number)) => texts.number(at) == Some(*number),
            (Chunk::Texts(texts), Id::Text(text)) => texts.number(at).is_none() && texts.text(at) == &**text,
        }
    }

    /// What [`Id::key`] is for the id of a place.
    pub(super) fn key(&self, slot: Slot) -> u64 {
        let (chunk, at) = self.find(slot);
        match chunk {
            Chunk::Numbers(numbers) => hash(&numbers[at]),
            Chunk::Texts(texts) => {
                texts.number(at).map_or_else(|| hash(texts.text(at)), |number| hash(&number))
            }
        }
    }

    pub(super) fn is_text(&self, slot: Slot) -> bool {
        let (chunk, at) = self.find(slot);
        matches!(chunk, Chunk::Texts(texts) if texts.number(at).is_none())
    }

    /// The number that the id of a place is; 0 for a text.
    #[inline]
    pub(super) fn number(&self, slot: Slot) -> i64 {
        let (chunk, at) = self.find(slot);
        match chunk {
            Chunk::Numbers(numbers) => numbers[at],
            Chunk::Texts(texts) => texts.number(at).unwrap_or_default(),
        }
    }

    /// Appends the numbers that the ids of places are, which are in order.
    pub(super) fn few_numbers(&self, mut slots: &[Slot], out: &mut Vec<i64>) {
        while let Some(&first) = slots.first() {
            let chunk = first as usize / CHUNK;
            let here = slots.partition_point(|&slot| slot as usize / CHUNK <= chunk);
            let (these, others) = slots.split_at(here);
            match &*self.chunks[chunk] {
                Chunk::Numbers(numbers) => {
                    out.extend(these.iter().map(|&slot| numbers[slot as usize % CHUNK]));
                }
                Chunk::Texts(_) => out.extend(these.iter().map(|&slot| self.number(slot))),
            }
            slots = others;
        }
    }

    /// The numbers of the 64 places from one on, if they are there and all of their chunk are numbers.
    #[inline]
    pub(super) fn numbers(&self, first: Slot) -> Option<&[i64; 64]> {
        let (chunk, at) = self.find(first);
        if let Chunk::Numbers(numbers) = chunk { numbers.get(at..at + 64)?.try_into().ok() } else { None }
    }

    /// Writes the id of a place as text.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        let (chunk, at) = self.find(slot);
        match chunk {
            Chunk::Numbers(numbers) => out.extend_from_slice(numbers[at].to_string().as_bytes()),
            Chunk::Texts(texts) => out.extend_from_slice(texts.text(at).as_bytes()),
        }
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let held = |chunk: &Arc<Chunk>| match &**chunk {
            Chunk::Numbers(numbers) => numbers.capacity() * size_of::<i64>(),
            Chunk::Texts(texts) => texts.bytes.capacity() + texts.ends.capacity() * size_of::<u32>(),
        };
        self.chunks.iter().map(held).sum::<usize>()
            + self.chunks.len() * (size_of::<Chunk>() + 3 * size_of::<usize>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_told_apart_however_they_come() {
        let text = |text: &str| Id::Text(text.into());
        let mut ids = Ids::default();
        let given: Vec<Id> = (0..1_100)
            .map(Id::Number)
            .chain([text("7"), Id::Number(-7), text(""), text("a\u{e9}")])
            .chain((0..1_100).map(|number| text(&number.to_string())))
            .collect();
        for id in &given {
            ids.push(id);
        }
        for (slot, id) in (0..).zip(&given) {
            assert_eq!(&ids.get(slot), id);
            assert_eq!(ids.key(slot), id.key());
            assert_eq!(ids.is_text(slot), matches!(id, Id::Text(_)));
            assert!(ids.is(slot, id));
            let other = match id {
                Id::Number(number) => text(&number.to_string()),
                Id::Text(text) => text.parse().map_or(Id::Number(0), Id::Number),
            };
            assert!(!ids.is(slot, &other), "{id:?} and {other:?}");
            let mut written = Vec::new();
            ids.write(slot, &mut written);
            assert_eq!(written, id.to_string().into_bytes());
        }
        assert_eq!(ids.len(), given.len());
        assert!(ids.numbers(64).is_some_and(|numbers| numbers[3] == 67));
        assert!(ids.numbers(1_024).is_none());
    }
}
