//! The texts that tests compare with, each stored once, by number.
//!
//! Strangers choose both the constants and the values that are looked up here, so the hash is seeded.

use std::io;

use crate::image::{ImageError, Reader, Writer};
use crate::packed::PackedInterner;

/// The number of a text.
pub(super) type TextId = u32;

/// All texts of one set of subscriptions, as bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants(PackedInterner);

impl Constants {
    /// The number of a text, with one more user.
    pub(super) fn intern(&mut self, text: &str) -> TextId {
        self.0.intern(text.as_bytes())
    }

    /// The number of a text that some test compares with.
    #[inline]
    pub(super) fn find(&self, text: &str) -> Option<TextId> {
        self.0.find(text.as_bytes())
    }

    #[inline]
    pub(super) fn get(&self, id: TextId) -> &[u8] {
        self.0.get(id)
    }

    /// Whether some text has this number.
    pub(super) fn has(&self, id: TextId) -> bool {
        self.0.has(id)
    }

    /// One user less; the last takes the text out.
    pub(super) fn release(&mut self, id: TextId) {
        self.0.release(id);
    }

    pub(super) fn settle(&mut self) {
        self.0.settle();
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.0.store(image)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        Ok(Self(PackedInterner::opened(image, true)?))
    }
}
