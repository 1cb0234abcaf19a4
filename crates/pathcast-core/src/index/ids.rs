//! Ids by place, in columns that only grow: an answer copies ids from them and builds none.
//!
//! **Invariants.** The id of a place never changes. Chunks are shared with results until they grow. A chunk whose ids count
//! up by one holds the first only. Any other holds numbers, or texts one after another as soon as one of its ids is a text;
//! a number among them is written out and marked.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::chunks::CHUNK;
use super::places::{ROOM, Slot, WORDS, positions};
use crate::hashing::hash;
use crate::image::{ImageError, Reader, Writer};

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
    /// The first id, if all count up from it.
    first: Option<i64>,
}

#[derive(Clone, Debug)]
enum Chunk {
    /// Numbers that count up from the first.
    Counting {
        first: i64,
        len: usize,
    },
    Numbers(Vec<i64>),
    Texts(Texts),
}

impl Chunk {
    fn push(&mut self, id: &Id) {
        match (&mut *self, id) {
            (Self::Counting { first, len: len @ 0 }, Id::Number(number)) => {
                (*first, *len) = (*number, 1);
            }
            (Self::Counting { first, len }, Id::Number(number))
                if first.checked_add(*len as i64) == Some(*number) =>
            {
                *len += 1;
            }
            (Self::Numbers(numbers), Id::Number(number)) => numbers.push(*number),
            (Self::Texts(texts), id) => texts.push(id),
            (Self::Counting { first, len }, id) => {
                let mut numbers = Vec::with_capacity(CHUNK);
                numbers.extend((0..*len as i64).map(|at| *first + at));
                *self = Self::Numbers(numbers);
                self.push(id);
            }
            (Self::Numbers(numbers), id) => {
                let mut texts = Texts::default();
                numbers.iter().for_each(|&number| texts.push(&Id::Number(number)));
                *self = Self::Texts(texts);
                self.push(id);
            }
        }
    }

    /// The id at a place if it is a number.
    #[inline]
    fn number(&self, at: usize) -> Option<i64> {
        match self {
            Self::Counting { first, .. } => Some(first + at as i64),
            Self::Numbers(numbers) => Some(numbers[at]),
            Self::Texts(texts) => texts.number(at),
        }
    }

    /// The id at a place if it is a text.
    fn text(&self, at: usize) -> Option<&str> {
        match self {
            Self::Texts(texts) if texts.number(at).is_none() => Some(texts.text(at)),
            _ => None,
        }
    }

    /// Appends the numbers that the ids at some places are; 0 for a text.
    #[inline]
    fn numbers(&self, places: impl ExactSizeIterator<Item = usize>, out: &mut Vec<i64>) {
        match self {
            Self::Counting { first, .. } => out.extend(places.map(|at| first + at as i64)),
            Self::Numbers(numbers) => out.extend(places.map(|at| numbers[at])),
            Self::Texts(texts) => out.extend(places.map(|at| texts.number(at).unwrap_or_default())),
        }
    }
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
            self.chunks.push(Arc::new(Chunk::Counting { first: 0, len: 0 }));
        }
        self.first = match id {
            Id::Number(number) if self.len == 0 => Some(*number),
            Id::Number(number) => {
                self.first.filter(|first| first.checked_add(self.len as i64) == Some(*number))
            }
            Id::Text(_) => None,
        };
        self.len += 1;
        if let Some(chunk) = self.chunks.last_mut() {
            Arc::make_mut(chunk).push(id);
        }
    }

    pub(super) fn get(&self, slot: Slot) -> Id {
        let (chunk, at) = self.find(slot);
        match chunk.text(at) {
            Some(text) => Id::Text(text.into()),
            None => Id::Number(chunk.number(at).unwrap_or_default()),
        }
    }

    #[inline]
    fn find(&self, slot: Slot) -> (&Chunk, usize) {
        (&self.chunks[slot as usize / CHUNK], slot as usize % CHUNK)
    }

    /// Whether a place has this id.
    pub(super) fn is(&self, slot: Slot, id: &Id) -> bool {
        let (chunk, at) = self.find(slot);
        match id {
            Id::Number(number) => chunk.number(at) == Some(*number),
            Id::Text(text) => chunk.text(at) == Some(text),
        }
    }

    /// What [`Id::key`] is for the id of a place.
    pub(super) fn key(&self, slot: Slot) -> u64 {
        let (chunk, at) = self.find(slot);
        match chunk.text(at) {
            Some(text) => hash(text),
            None => hash(&chunk.number(at).unwrap_or_default()),
        }
    }

    pub(super) fn is_text(&self, slot: Slot) -> bool {
        let (chunk, at) = self.find(slot);
        chunk.text(at).is_some()
    }

    /// Appends the numbers that the ids of places are, which are in order.
    pub(super) fn few_numbers(&self, mut slots: &[Slot], out: &mut Vec<i64>) {
        while let Some(&first) = slots.first() {
            let chunk = first as usize / CHUNK;
            let here = slots.iter().position(|&slot| slot as usize / CHUNK > chunk);
            let (these, others) = slots.split_at(here.unwrap_or(slots.len()));
            self.chunks[chunk].numbers(these.iter().map(|&slot| slot as usize % CHUNK), out);
            slots = others;
        }
    }

    /// Appends the numbers that the ids of places are, which have a bit each.
    pub(super) fn many_numbers(&self, bits: &[u64], out: &mut Vec<i64>) {
        let mut found = [0; ROOM];
        for (chunk, words) in self.chunks.iter().zip(bits.chunks(WORDS)) {
            chunk.numbers(positions(words, &mut found).iter().map(|&at| usize::from(at)), out);
        }
    }

    /// Appends the numbers that the ids of places are, whatever their order.
    #[inline]
    pub(super) fn loose_numbers(&self, slots: &[Slot], out: &mut Vec<i64>) {
        match self.first {
            Some(first) => out.extend(slots.iter().map(|&slot| first + i64::from(slot))),
            None => out.extend(slots.iter().map(|&slot| {
                let (chunk, at) = self.find(slot);
                chunk.number(at).unwrap_or_default()
            })),
        }
    }

    /// Writes the id of a place as text.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        let (chunk, at) = self.find(slot);
        match chunk {
            Chunk::Texts(texts) => out.extend_from_slice(texts.text(at).as_bytes()),
            _ => out.extend_from_slice(chunk.number(at).unwrap_or_default().to_string().as_bytes()),
        }
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.number(self.len)?;
        for chunk in &self.chunks {
            match &**chunk {
                Chunk::Counting { first, len } => image.one(&(0_u8, (*first, *len as u64)))?,
                Chunk::Numbers(numbers) => {
                    image.one(&1_u8)?;
                    image.items(numbers)?;
                }
                Chunk::Texts(texts) => {
                    image.one(&2_u8)?;
                    image.bytes(texts.bytes.as_bytes())?;
                    image.items(&texts.ends)?;
                    image.one(&texts.numbers)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let mut ids = Self { chunks: Vec::new(), len: image.number()?, first: None };
        for _ in 0..ids.len.div_ceil(CHUNK) {
            ids.chunks.push(Arc::new(match image.one::<u8>()? {
                0 => {
                    let (first, len): (i64, u64) = image.one()?;
                    Chunk::Counting { first, len: usize::try_from(len).map_err(|_| ImageError::Damaged)? }
                }
                1 => {
                    let mut numbers = Vec::with_capacity(CHUNK);
                    let count = image.count(8)?;
                    image.append(count, &mut numbers)?;
                    Chunk::Numbers(numbers)
                }
                _ => Chunk::Texts(Texts {
                    bytes: String::from_utf8(image.bytes()?).map_err(|_| ImageError::Damaged)?,
                    ends: image.items()?,
                    numbers: image.one()?,
                }),
            }));
        }
        ids.first = ids.counted();
        Ok(ids)
    }

    /// The first id, if all count up from it: each chunk, and from one chunk to the next.
    fn counted(&self) -> Option<i64> {
        let counts = |at: usize, first: i64| match *self.chunks[at] {
            Chunk::Counting { first: found, .. } => first.checked_add((at * CHUNK) as i64) == Some(found),
            _ => false,
        };
        let first = self.chunks.first()?.number(0)?;
        (0..self.chunks.len()).all(|at| counts(at, first)).then_some(first)
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let held = |chunk: &Arc<Chunk>| match &**chunk {
            Chunk::Counting { .. } => 0,
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
    #[cfg_attr(miri, ignore = "too slow there")]
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
        let mut bits = [0; 2 * WORDS];
        let mut numbers = Vec::new();
        for slot in [0, 3, 63, 64, 1_023, 1_024, 1_099, 1_100, 1_101] {
            bits[slot / 64] |= 1 << (slot % 64);
        }
        ids.many_numbers(&bits, &mut numbers);
        assert_eq!(numbers, [0, 3, 63, 64, 1_023, 1_024, 1_099, 0, -7]);
    }

    #[test]
    fn numbers_that_count_up_take_no_room_until_one_does_not() {
        let given: Vec<i64> = (-3..2_045).chain([i64::MAX - 1, i64::MAX, i64::MIN, 7, 8, 9]).collect();
        let mut ids = Ids::default();
        for (number, &id) in given.iter().enumerate() {
            if number == 2_000 {
                assert_eq!(ids.memory_bytes(), 2 * (size_of::<Chunk>() + 3 * size_of::<usize>()));
            }
            ids.push(&Id::Number(id));
        }
        let slots: Vec<Slot> = (0..given.len() as Slot).collect();
        let mut numbers = Vec::new();
        ids.few_numbers(&slots, &mut numbers);
        assert_eq!(numbers, given);
        assert!(slots.iter().all(|&slot| ids.get(slot) == Id::Number(given[slot as usize])));
    }
}
