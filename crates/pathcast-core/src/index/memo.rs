//! Answers remembered by signature: documents of a feed repeat each other.
//!
//! An engine's signature tells all the paths it found. For paths the answer is then known; twigs that became candidates
//! are decided anew for each document, because they look at values. An answer holds while neither the engine's numbers
//! nor the subscriptions change, and all answers together stay within a budget.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::roster::ExpressionId;
use crate::engine::PathId;

/// What follows from the paths of a document.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    /// Expressions that hold.
    pub(super) matched: Arc<[ExpressionId]>,
    /// Expressions to be decided.
    pub(super) candidates: Arc<[ExpressionId]>,
    /// Paths found that guard expressions which are looked up by a value, sorted.
    pub(super) guards: Arc<[PathId]>,
}

/// The answers of one run.
#[derive(Debug, Default)]
pub(super) struct Memo {
    answers: FxHashMap<Box<[u32]>, Remembered>,
    bytes: usize,
    /// What the answers are of: the engine's numbers and the subscriptions.
    valid: (u64, u64),
}

impl Memo {
    /// Forgets everything when the engine's numbers or the subscriptions have changed.
    pub(super) fn revise(&mut self, generation: u64, changes: u64) {
        if self.valid != (generation, changes) {
            self.valid = (generation, changes);
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.answers.clear();
        self.bytes = 0;
    }

    pub(super) fn get(&self, signature: &[u32]) -> Option<&Remembered> {
        self.answers.get(signature)
    }

    pub(super) fn put(&mut self, signature: &[u32], answer: Remembered, budget: usize) {
        let lists = answer.matched.len() + answer.candidates.len() + answer.guards.len();
        let size = 4 * (signature.len() + lists) + 144;
        if self.bytes + size > budget {
            self.forget();
        }
        if size <= budget {
            self.bytes += size;
            self.answers.insert(signature.into(), answer);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
