//! Tables as they lie in memory, one after another in a file: what an image of an index is made of.
//!
//! **Idea.** A list of numbers is its length and its numbers, and is read back into one piece of memory as fast as it can be
//! copied. What takes part is [`Flat`]: so many bytes whatever it says, the lowest first on every machine. Nothing is parsed
//! and nothing looked up.
//!
//! **Invariants.** No length is believed that the rest of the file could not hold, so damage costs no memory. Whether numbers
//! make sense is not asked here: a checksum over all of it is, before the first table is read.

use std::fmt;
use std::io::{self, Read, Write};

use crate::cancel::{self, Pulse};

/// Bytes that are converted at once: they stay in the nearest cache.
const PIECE: usize = 1 << 15;

/// Something that takes the same number of bytes whatever it says.
pub(crate) trait Flat: Sized {
    /// How many.
    const SIZE: usize;

    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// What was put, from so many bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! flat_numbers {
    ($($number:ty)*) => {$(
        impl Flat for $number {
            const SIZE: usize = size_of::<$number>();

            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn get(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or_else(Default::default, |bytes| Self::from_le_bytes(*bytes))
            }
        }
    )*};
}

flat_numbers! { u8 u32 u64 i64 }

impl Flat for bool {
    const SIZE: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn get(bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|&byte| byte != 0)
    }
}

impl<A: Flat, B: Flat> Flat for (A, B) {
    const SIZE: usize = A::SIZE + B::SIZE;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Self {
        (A::get(&bytes[..A::SIZE]), B::get(&bytes[A::SIZE..]))
    }
}

impl<T: Flat, const N: usize> Flat for [T; N] {
    const SIZE: usize = N * T::SIZE;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|each| each.put(out));
    }

    #[inline]
    fn get(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| T::get(&bytes[at * T::SIZE..(at + 1) * T::SIZE]))
    }
}

/// Makes a structure [`Flat`] that has nothing but fields that are.
macro_rules! flat {
    ($name:ident { $($field:tt: $kind:ty),* $(,)? }) => {
        impl $crate::image::Flat for $name {
            const SIZE: usize = 0 $(+ <$kind as $crate::image::Flat>::SIZE)*;

            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::image::Flat::put(&self.$field, out);)*
            }

            #[inline]
            fn get(bytes: &[u8]) -> Self {
                let mut rest = bytes;
                Self { $($field: {
                    let (bytes, others) = rest.split_at(<$kind as $crate::image::Flat>::SIZE);
                    rest = others;
                    let _ = rest;
                    <$kind as $crate::image::Flat>::get(bytes)
                }),* }
            }
        }
    };
}

pub(crate) use flat;

/// Why an image cannot be read.
#[derive(Debug)]
pub(crate) enum ImageError {
    Io(io::Error),
    /// It says something that cannot be.
    Damaged,
    /// The caller no longer wants it.
    Cancelled,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged => f.write_str("tables that make no sense"),
            Self::Cancelled => f.write_str("ended by the caller"),
        }
    }
}

impl From<io::Error> for ImageError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

/// What a [`Writer`] says when the caller no longer waits; a file never says it, it is asked again.
pub(crate) const CANCELLED: io::ErrorKind = io::ErrorKind::Interrupted;

/// Writes tables.
pub(crate) struct Writer<'w> {
    out: &'w mut dyn Write,
    piece: Vec<u8>,
    length: u64,
    checksum: crc32fast::Hasher,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, piece: Vec::with_capacity(2 * PIECE), length: 0, checksum: crc32fast::Hasher::new() }
    }

    pub(crate) fn one<T: Flat>(&mut self, item: &T) -> io::Result<()> {
        item.put(&mut self.piece);
        if self.piece.len() >= PIECE { self.leave() } else { Ok(()) }
    }

    pub(crate) fn number(&mut self, number: usize) -> io::Result<()> {
        self.one(&(number as u64))
    }

    /// As many items as were promised.
    pub(crate) fn each<T: Flat>(&mut self, items: impl Iterator<Item = T>) -> io::Result<()> {
        for item in items {
            self.one(&item)?;
        }
        Ok(())
    }

    /// A list with its length.
    pub(crate) fn items<T: Flat>(&mut self, items: &[T]) -> io::Result<()> {
        self.number(items.len())?;
        items.iter().try_for_each(|item| self.one(item))
    }

    /// Several lists: first how long each is.
    pub(crate) fn lists<'a, T: Flat + 'a>(
        &mut self,
        lists: impl ExactSizeIterator<Item = &'a [T]> + Clone,
    ) -> io::Result<()> {
        self.number(lists.len())?;
        self.each(lists.clone().map(|list| list.len() as u32))?;
        lists.flatten().try_for_each(|item| self.one(item))
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.number(bytes.len())?;
        self.leave()?;
        for piece in bytes.chunks(PIECE) {
            self.piece.extend_from_slice(piece);
            self.leave()?;
        }
        Ok(())
    }

    fn leave(&mut self) -> io::Result<()> {
        if cancel::requested() {
            return Err(CANCELLED.into());
        }
        self.checksum.update(&self.piece);
        self.length += self.piece.len() as u64;
        self.out.write_all(&self.piece)?;
        self.piece.clear();
        Ok(())
    }

    /// How many bytes were written, and their checksum.
    pub(crate) fn finish(mut self) -> io::Result<(u64, u32)> {
        self.leave()?;
        Ok((self.length, self.checksum.finalize()))
    }
}

/// Reads tables in the order in which they were written.
pub(crate) struct Reader<'r> {
    input: &'r mut dyn Read,
    /// Bytes that there are.
    left: u64,
    piece: Vec<u8>,
    pulse: Pulse,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(input: &'r mut dyn Read, length: u64) -> Self {
        Self { input, left: length, piece: vec![0; PIECE], pulse: Pulse::default() }
    }

    /// So many bytes, which fit into a piece.
    fn take(&mut self, bytes: usize) -> Result<&[u8], ImageError> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(ImageError::Damaged)?;
        let piece = self.piece.get_mut(..bytes).ok_or(ImageError::Damaged)?;
        self.input.read_exact(piece)?;
        Ok(piece)
    }

    pub(crate) fn one<T: Flat>(&mut self) -> Result<T, ImageError> {
        Ok(T::get(self.take(T::SIZE)?))
    }

    pub(crate) fn number(&mut self) -> Result<usize, ImageError> {
        usize::try_from(self.one::<u64>()?).map_err(|_| ImageError::Damaged)
    }

    /// A number of items of so many bytes, which the rest can hold.
    pub(crate) fn count(&mut self, size: usize) -> Result<usize, ImageError> {
        let count = self.number()?;
        self.holds(count, size)?;
        Ok(count)
    }

    fn holds(&self, count: usize, size: usize) -> Result<(), ImageError> {
        let bytes = (count as u64).checked_mul(size as u64).filter(|&bytes| bytes <= self.left);
        bytes.map(|_| ()).ok_or(ImageError::Damaged)
    }

    /// So many items, appended where there is room for them.
    pub(crate) fn append<T: Flat>(&mut self, count: usize, items: &mut Vec<T>) -> Result<(), ImageError> {
        self.holds(count, T::SIZE)?;
        items.reserve_exact(count);
        let mut left = count;
        while left > 0 {
            if self.pulse.requested() {
                return Err(ImageError::Cancelled);
            }
            let now = left.min(PIECE / T::SIZE);
            let bytes = self.take(now * T::SIZE)?;
            items.extend(bytes.chunks_exact(T::SIZE).map(T::get));
            left -= now;
        }
        Ok(())
    }

    /// A list with its length.
    pub(crate) fn items<T: Flat>(&mut self) -> Result<Vec<T>, ImageError> {
        let count = self.number()?;
        let mut items = Vec::new();
        self.append(count, &mut items)?;
        Ok(items)
    }

    /// Several lists, each made of its items.
    pub(crate) fn lists<T: Flat, L: From<Vec<T>>>(&mut self) -> Result<Vec<L>, ImageError> {
        let lengths: Vec<u32> = self.items()?;
        let mut lists = Vec::with_capacity(lengths.len());
        for length in lengths {
            let mut items = Vec::new();
            self.append(length as usize, &mut items)?;
            lists.push(L::from(items));
        }
        Ok(lists)
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, ImageError> {
        let count = self.count(1)?;
        let mut bytes = Vec::with_capacity(count);
        self.left -= count as u64;
        (&mut *self.input).take(count as u64).read_to_end(&mut bytes)?;
        if bytes.len() == count { Ok(bytes) } else { Err(ImageError::Damaged) }
    }

    /// Nothing may be left.
    pub(crate) fn finish(&self) -> Result<(), ImageError> {
        if self.left == 0 { Ok(()) } else { Err(ImageError::Damaged) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Pair {
        small: u8,
        large: u64,
    }

    flat!(Pair { small: u8, large: u64 });

    #[test]
    fn tables_come_back_and_no_cut_is_read_as_something_else() {
        let pairs: Vec<Pair> =
            (0..10_000).map(|number| Pair { small: number as u8, large: number << 40 }).collect();
        let lists: [&[i64]; 3] = [&[-1, 2], &[], &[i64::MAX]];
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.items(&pairs).unwrap();
        writer.lists(lists.iter().copied()).unwrap();
        writer.bytes(&[7; 100_000]).unwrap();
        writer.one(&(true, [1_u32, 2, 3])).unwrap();
        let (length, checksum) = writer.finish().unwrap();
        assert_eq!((length, checksum), (out.len() as u64, crc32fast::hash(&out)));
        let read = |mut input: &[u8], length: u64| -> Result<(), ImageError> {
            let mut reader = Reader::new(&mut input, length);
            assert_eq!(reader.items::<Pair>()?, pairs);
            assert_eq!(reader.lists::<i64, Vec<i64>>()?, lists);
            assert_eq!(reader.bytes()?, [7; 100_000]);
            assert_eq!(reader.one::<(bool, [u32; 3])>()?, (true, [1, 2, 3]));
            reader.finish()
        };
        read(&out, length).unwrap();
        for cut in (0..out.len()).step_by(997) {
            assert!(read(&out[..cut], length).is_err());
            assert!(read(&out[..cut], cut as u64).is_err());
        }
        assert!(read(&out, length + 1).is_err());
    }

    #[test]
    fn a_length_that_cannot_be_takes_no_memory() {
        for length in [u64::MAX, 1 << 60, 1 << 40] {
            let bytes = length.to_le_bytes();
            assert!(Reader::new(&mut &bytes[..], 8).items::<Pair>().is_err());
            assert!(Reader::new(&mut &bytes[..], 8).bytes().is_err());
            assert!(Reader::new(&mut &bytes[..], 8).lists::<u8, Vec<u8>>().is_err());
        }
    }
}
