//! The texts that tests compare with, each stored once, by number.
//!
//! Strangers choose both the constants and the values that are looked up here, so the hash is seeded.

use hashbrown::HashTable;

use crate::hashing::hash;

/// The number of a text.
pub(super) type TextId = u32;

/// All texts of one set of subscriptions.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    texts: Vec<(Box<str>, u32)>,
    index: HashTable<TextId>,
    free: Vec<TextId>,
}

impl Constants {
    /// The number of a text, with one more user.
    pub(super) fn intern(&mut self, text: &str) -> TextId {
        if let Some(known) = self.find(text) {
            self.texts[known as usize].1 += 1;
            return known;
        }
        let id = super::put(&mut self.texts, &mut self.free, (text.into(), 1));
        let texts = &self.texts;
        self.index.insert_unique(hash(text), id, |&id| hash(&*texts[id as usize].0));
        id
    }

    /// The number of a text that some test compares with.
    #[inline]
    pub(super) fn find(&self, text: &str) -> Option<TextId> {
        self.index.find(hash(text), |&id| *self.texts[id as usize].0 == *text).copied()
    }

    pub(super) fn get(&self, id: TextId) -> &str {
        &self.texts[id as usize].0
    }

    /// One user less; the last takes the text out.
    pub(super) fn release(&mut self, id: TextId) {
        let (text, users) = &mut self.texts[id as usize];
        *users -= 1;
        if *users == 0 {
            let text = std::mem::take(text);
            if let Ok(entry) = self.index.find_entry(hash(&*text), |&other| other == id) {
                entry.remove();
            }
            self.free.push(id);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|(text, _)| text.len()).sum();
        texts
            + self.texts.capacity() * size_of::<(Box<str>, u32)>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<TextId>()
    }
}
