//! Answers remembered by signature: documents of a feed repeat each other.
//!
//! An engine's signature tells all the paths it found. For paths the answer is then known; twigs that became candidates
//! are decided anew for each document, because they look at values. An answer holds while neither the engine's numbers
//! nor the subscriptions change, and all answers together stay within a budget.
//!
//! An answer is kept when its signature comes a second time. Most signatures of a feed of long documents come once, and to
//! keep and drop their answers would cost more than to find them.

use std::sync::Arc;

use hashbrown::HashMap;

use super::expression::ExpressionId;

/// What follows from the paths of a document.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    /// Expressions that hold.
    pub(super) matched: Arc<[ExpressionId]>,
    /// Expressions to be decided.
    pub(super) candidates: Arc<[ExpressionId]>,
}

/// Signatures seen once that are told from others, at most.
const SEEN: usize = 1 << 16;

/// The answers of one run.
#[derive(Debug, Default)]
pub(super) struct Memo {
    answers: HashMap<Box<[u32]>, Remembered>,
    bytes: usize,
    /// By a signature's hash, cut to a place: the hash of the last one there.
    seen: Vec<u64>,
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

    /// Whether a signature that has no answer came before, as far as is known; it has now.
    pub(super) fn seen(&mut self, signature: &[u32]) -> bool {
        let hash = crate::hashing::hash(signature);
        self.seen.resize(SEEN, 0);
        let last = &mut self.seen[hash as usize % SEEN];
        std::mem::replace(last, hash) == hash
    }

    pub(super) fn put(&mut self, signature: &[u32], answer: Remembered, budget: usize) {
        let lists = answer.matched.len() + answer.candidates.len();
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
        self.bytes + self.seen.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_seen_when_it_comes_again() {
        let mut memo = Memo::default();
        let signatures: Vec<Vec<u32>> = (0..100).map(|at| vec![at, 7 * at]).collect();
        assert!(signatures.iter().all(|each| !memo.seen(each)));
        assert!(signatures.iter().filter(|each| memo.seen(each)).count() > 90);
        assert!(!memo.seen(&[0, 1]));
    }
}
