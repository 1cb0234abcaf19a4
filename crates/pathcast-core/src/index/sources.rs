//! Expressions as written, each once however many subscribe to it.

use crate::interner::Interner;
use crate::pattern::Written;

/// The number of an expression as written.
pub(super) type SourceId = u32;

/// Nobody knows how it was written: it comes from a file that does not say.
pub(super) const UNKNOWN: SourceId = SourceId::MAX;

/// The expressions as written, as bytes.
#[derive(Default)]
pub(super) struct Sources(Interner<Box<[u8]>>);

impl Sources {
    /// The number of one, to be given back with [`Sources::release`].
    pub(super) fn intern(&mut self, written: Option<&[u8]>) -> SourceId {
        written.map_or(UNKNOWN, |bytes| self.0.intern(bytes.into()).0)
    }

    pub(super) fn release(&mut self, id: SourceId) {
        if id != UNKNOWN {
            self.0.release(id);
        }
    }

    /// The bytes of one, if it is known.
    pub(super) fn bytes(&self, id: SourceId) -> Option<&[u8]> {
        (id != UNKNOWN).then(|| &**self.0.get(id))
    }

    /// One as it was written, if that is known.
    pub(super) fn get(&self, id: SourceId) -> Option<Written> {
        Written::from_bytes(self.bytes(id)?).ok()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.memory_bytes() + self.0.values().map(|bytes| bytes.len()).sum::<usize>()
    }
}
