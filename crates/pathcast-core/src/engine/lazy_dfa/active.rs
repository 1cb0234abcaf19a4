//! The sets that open elements keep active, with their sketches beside them.
//!
//! Most active sets do not lead on by the next name. The sketches lie one after another, so passing over a set costs a
//! test and no look at it: with 100,000 freely drawn paths hundreds are active, and a tenth of them lead on.

use super::sets::{SetId, Sets};

/// A stack of sets.
#[derive(Debug, Default)]
pub(super) struct Active {
    sets: Vec<SetId>,
    sketches: Vec<u64>,
}

impl Active {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    #[inline]
    pub(super) fn push(&mut self, set: SetId, all: &Sets) {
        self.sets.push(set);
        self.sketches.push(all.sketch(set));
    }

    /// The sets from a place on.
    pub(super) fn from(&self, start: usize) -> &[SetId] {
        &self.sets[start..]
    }

    /// The sets between two places.
    pub(super) fn between(&self, start: usize, end: usize) -> &[SetId] {
        &self.sets[start..end]
    }

    /// The first place between two that has a set whose sketch shares a bit with this one.
    #[inline]
    pub(super) fn next(&self, start: usize, end: usize, sketch: u64) -> Option<(usize, SetId)> {
        let at = start + self.sketches[start..end].iter().position(|each| each & sketch != 0)?;
        Some((at, self.sets[at]))
    }

    /// Takes off all from a place on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.sets.truncate(len);
        self.sketches.truncate(len);
    }
}
