//! A vector whose copies share what has not changed.

use std::io;
use std::sync::Arc;

use crate::image::{Flat, ImageError, Reader, Writer};

/// Items that are shared or copied together.
pub(super) const CHUNK: usize = 1024;

/// A vector in chunks of `N` that are shared until they change.
#[derive(Clone, Debug)]
pub(super) struct Chunks<T, const N: usize = CHUNK> {
    chunks: Vec<Arc<Vec<T>>>,
    len: usize,
}

impl<T, const N: usize> Default for Chunks<T, N> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Clone, const N: usize> Chunks<T, N> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, at: u32) -> &T {
        &self.chunks[at as usize / N][at as usize % N]
    }

    pub(super) fn get_mut(&mut self, at: u32) -> &mut T {
        &mut Arc::make_mut(&mut self.chunks[at as usize / N])[at as usize % N]
    }

    pub(super) fn push(&mut self, item: T) {
        if self.len.is_multiple_of(N) {
            self.chunks.push(Arc::new(Vec::with_capacity(N)));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            Arc::make_mut(chunk).push(item);
        }
        self.len += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.parts().flatten()
    }

    /// The chunks in order.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[T]> {
        self.chunks.iter().map(|chunk| chunk.as_slice())
    }

    /// For items that are mostly asked for in order.
    pub(super) fn in_order(&self) -> InOrder<'_, T, N> {
        InOrder { chunks: &self.chunks, number: usize::MAX, chunk: &[] }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.chunks.len() * (N * size_of::<T>() + size_of::<Vec<T>>() + 3 * size_of::<usize>())
    }
}

impl<T: Clone + Flat, const N: usize> Chunks<T, N> {
    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.number(self.len)?;
        self.parts().flatten().try_for_each(|item| image.one(item))
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let len = image.count(T::SIZE)?;
        let mut chunks = Vec::with_capacity(len.div_ceil(N));
        for from in (0..len).step_by(N) {
            let mut chunk = Vec::with_capacity(N);
            image.append(N.min(len - from), &mut chunk)?;
            chunks.push(Arc::new(chunk));
        }
        Ok(Self { chunks, len })
    }
}

/// Remembers the chunk of the last item, so that the next is found without a look at three places.
pub(super) struct InOrder<'c, T, const N: usize> {
    chunks: &'c [Arc<Vec<T>>],
    number: usize,
    chunk: &'c [T],
}

impl<'c, T, const N: usize> InOrder<'c, T, N> {
    #[inline]
    pub(super) fn get(&mut self, at: u32) -> &'c T {
        let number = at as usize / N;
        if number != self.number {
            self.number = number;
            self.chunk = &self.chunks[number];
        }
        &self.chunk[at as usize % N]
    }
}
