//! Expressions that are decided on a tree: what they wait for.
//!
//! A twig waits for a linear path that it cannot do without. If it also cannot do without a value that can be looked
//! up, it waits for that value, and the path only guards it: most documents have the path, few the value. The first few
//! for a path wait for the path all the same: asking them costs less than a place in the index over values (300,000
//! expressions with a name of their own: 943 bytes each instead of 1,515).

use super::roster::ExpressionId;
use super::triggers::Awaited;
use super::{Expression, Index};
use crate::engine::PathId;
use crate::pattern::Condition;
use crate::twig::{ConditionId, Necessary, access};
use crate::values::Ticket;

/// So many for one path wait for the path itself.
const FEW: usize = 4;

/// An expression that is decided on a tree, when one of these paths was found; without any, on every document.
#[derive(Clone, Debug)]
pub(super) struct Twig {
    pub(super) condition: ConditionId,
    pub(super) necessary: Necessary,
    pub(super) triggers: Box<[PathId]>,
    /// Paths that must all be found besides.
    pub(super) required: Box<[PathId]>,
    /// Whether it looks at text, comments or instructions.
    text: bool,
    /// Its place among those who wait for a value.
    ticket: Option<Ticket>,
}

impl Twig {
    pub(super) fn memory_bytes(&self) -> usize {
        let paths = self.triggers.len() + self.required.len();
        size_of::<Self>() + paths * size_of::<PathId>() + self.necessary.memory_bytes()
    }
}

impl Index {
    pub(super) fn place_twig(&mut self, condition: &Condition, shared: ConditionId) -> ExpressionId {
        let fresh = self.place(Expression::Free);
        self.twigs.insert(shared, fresh);
        if let Some(path) = self.paths.take(condition, fresh, &mut self.engine) {
            self.taken += 1;
            self.expressions[fresh as usize] = Expression::Taken { condition: shared, path };
            return fresh;
        }
        let Awaited { triggers, required, always } = self.awaited(condition);
        let text = condition.looks_at_text();
        let necessary = self.arena.intern_necessary(condition);
        // An engine that takes filters looks at values itself. Without any way to satisfy it there is nothing to wait for.
        let crowded = triggers.iter().any(|&path| self.paths.waiting(path).len() >= FEW);
        let waits = !self.engine.takes_filters() && (always || crowded);
        let wanted = access(condition).filter(|_| waits);
        let ticket = wanted.map(|(subject, test)| self.values.wait(subject, test, fresh, &triggers));
        match ticket {
            Some(_) => {
                triggers.iter().for_each(|&path| self.paths.guard(path));
                self.unguarded += usize::from(always);
            }
            None => {
                triggers.iter().for_each(|&path| self.paths.wait(path, fresh));
                if always {
                    self.always.insert(fresh);
                }
            }
        }
        self.text_twigs += usize::from(text);
        let twig = Twig { condition: shared, necessary, triggers, required, text, ticket };
        self.expressions[fresh as usize] = Expression::Twig(Box::new(twig));
        fresh
    }

    pub(super) fn release_twig(&mut self, id: ExpressionId, twig: Twig) {
        let Twig { condition, necessary, triggers, required, text, ticket } = twig;
        self.arena.release_necessary(&necessary);
        self.always.remove(&id);
        self.twigs.remove(&condition);
        self.text_twigs -= usize::from(text);
        self.arena.release(condition);
        required.iter().for_each(|&path| self.paths.release(path, &mut self.engine));
        if let Some(ticket) = ticket {
            self.values.leave(ticket);
            self.unguarded -= usize::from(triggers.is_empty());
            triggers.iter().for_each(|&path| self.paths.release_guard(path, &mut self.engine));
        } else {
            triggers.iter().for_each(|&path| self.paths.release_waiting(path, id, &mut self.engine));
        }
    }
}
