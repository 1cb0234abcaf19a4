//! An expression that looks for its place in a [`super::Forest`], with what is worked out about it at most once.

use std::cell::OnceCell;

use super::atoms::{Atom, Required, present};
use super::implies::Prover;
use super::registry::{Expression, Handle, Registry};

/// An expression that comes, or one that has lost what covered it.
pub(super) struct Newcomer<'a> {
    pub(super) handle: Handle,
    pub(super) expression: &'a Expression,
    pub(super) registry: &'a Registry,
    present: OnceCell<Vec<Atom>>,
    required: OnceCell<Required>,
    prover: OnceCell<Prover<'a>>,
}

impl<'a> Newcomer<'a> {
    pub(super) fn new(handle: Handle, expression: &'a Expression, registry: &'a Registry) -> Self {
        Self {
            handle,
            expression,
            registry,
            present: OnceCell::new(),
            required: OnceCell::new(),
            prover: OnceCell::new(),
        }
    }

    /// The atoms that are present in it.
    pub(super) fn present(&self) -> &[Atom] {
        self.present.get_or_init(|| present(&self.expression.condition, self.registry.seed))
    }

    /// What it requires.
    pub(super) fn required(&self) -> &Required {
        self.required.get_or_init(|| Required::new(&self.expression.condition, self.registry.seed))
    }

    /// Whether another covers it.
    pub(super) fn is_covered_by(&self, general: &Expression) -> bool {
        if general.is_linear() && self.expression.is_linear() {
            return self.registry.covers(general, self.expression);
        }
        self.prover.get_or_init(|| self.registry.prover(self.expression)).proves(&general.condition)
    }
}
