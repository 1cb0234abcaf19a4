//! What deciding may cost.
//!
//! One expression on one document may take so many steps, all expressions on it so many together. A step is a node that is
//! looked at, or a few bytes of text. Both are counted in every loop; when either is spent nothing more is computed, and
//! the answer is an error, never a "no".

use crate::limits::Limits;

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
    /// Steps left for the current expression.
    left: u64,
    /// Work left for the document when the expression was begun.
    work: u64,
    /// What the expression began with.
    begun: u64,
}

impl Budget {
    /// A budget for one document.
    pub fn new(limits: &Limits) -> Self {
        let mut budget = Self { steps: limits.evaluation_steps, left: 0, work: limits.work, begun: 0 };
        budget.next();
        budget
    }

    /// Goes on to the next expression.
    pub(super) fn next(&mut self) {
        self.work -= (self.begun - self.left).min(self.work);
        self.begun = self.steps.min(self.work);
        self.left = self.begun;
    }

    #[inline]
    pub(super) fn spend(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps as u64);
    }

    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    pub(super) fn left(&self) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX)
    }

    pub(super) fn exceeded(&self) -> Option<Exceeded> {
        let which = if self.begun < self.steps { Exceeded::Work } else { Exceeded::Steps };
        self.is_spent().then_some(which)
    }
}
