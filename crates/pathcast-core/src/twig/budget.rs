//! What deciding may cost.
//!
//! One expression on one document may take so many steps, all expressions on it so many together. A step is a node that is
//! looked at, or a few bytes of text. Both are counted in every loop; when either is spent nothing more is computed, and
//! the answer is an error, never a "no".

use crate::cancel;
use crate::limits::Limits;

/// Steps between two questions whether anybody still waits for the answer: about a millisecond.
const SLICE: u64 = 1 << 16;

/// Which budget was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// That of one expression.
    Steps,
    /// That of the document.
    Work,
}

/// The steps that are left.
#[derive(Clone, Debug)]
pub struct Budget {
    steps: u64,
    /// Steps left for the current expression, besides the slice.
    left: u64,
    /// Steps left before somebody is asked whether to go on.
    slice: u64,
    /// Work left for the document when the expression was begun.
    work: u64,
    /// What the expression began with.
    begun: u64,
}

impl Budget {
    /// A budget for one document.
    pub fn new(limits: &Limits) -> Self {
        let mut budget =
            Self { steps: limits.evaluation_steps, left: 0, slice: 0, work: limits.work, begun: 0 };
        budget.next();
        budget
    }

    /// Goes on to the next expression.
    pub(super) fn next(&mut self) {
        self.work -= (self.begun - self.left - self.slice).min(self.work);
        self.begun = self.steps.min(self.work);
        self.slice = self.begun.min(SLICE);
        self.left = self.begun - self.slice;
    }

    #[inline]
    pub(super) fn spend(&mut self, steps: usize) {
        match self.slice.checked_sub(steps as u64) {
            Some(slice) if slice > 0 => self.slice = slice,
            _ => self.refill(steps as u64),
        }
    }

    /// Begins a slice; nothing is left if the caller no longer waits.
    #[cold]
    fn refill(&mut self, steps: u64) {
        let left = (self.left + self.slice).saturating_sub(steps);
        let left = if cancel::requested() { 0 } else { left };
        self.slice = left.min(SLICE);
        self.left = left - self.slice;
    }

    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.slice == 0
    }

    pub(super) fn left(&self) -> usize {
        usize::try_from(self.left + self.slice).unwrap_or(usize::MAX)
    }

    pub(super) fn exceeded(&self) -> Option<Exceeded> {
        let which = if self.begun < self.steps { Exceeded::Work } else { Exceeded::Steps };
        self.is_spent().then_some(which)
    }
}
