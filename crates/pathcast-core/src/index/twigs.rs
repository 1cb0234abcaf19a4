//! The expressions that are not linear: their conditions, and what each waits for.
//!
//! A twig waits for a linear path that it cannot do without. If it also cannot do without a value that can be looked
//! up, it waits for that value, and the path only guards it: most documents have the path, few the value. The first few
//! for a path wait for the path all the same: asking them costs less than a place in the index over values (300,000
//! expressions with a name of their own: 943 bytes each instead of 1,515).
//!
//! For an engine that takes filters a twig is decomposed: the longest of its paths is the trigger, and all the others
//! must have been found too.

use rustc_hash::{FxHashMap, FxHashSet};

use super::expression::{Expression, ExpressionId, Twig};
use super::paths::{Paths, filtered_key};
use crate::engine::{AnyEngine, Takes};
use crate::pattern::{Condition, LinearPath, PathId, Trigger, decompose, trigger};
use crate::twig::{Arena, ConditionId, ValueIndex, access};

/// So many for one path wait for the path itself.
const FEW: usize = 4;

/// All expressions that are not linear.
#[derive(Default)]
pub(super) struct Twigs {
    pub(super) arena: Arena,
    by_condition: FxHashMap<ConditionId, ExpressionId>,
    /// Those that any document may satisfy.
    pub(super) always: FxHashSet<ExpressionId>,
    /// Those that are looked up by a value.
    pub(super) values: ValueIndex,
    /// Those of them that need no path.
    pub(super) unguarded: usize,
    /// Those that the engine decides.
    taken: usize,
    /// Others that look at text, comments or instructions.
    text: usize,
}

/// What must be found before a twig is decided.
struct Awaited {
    /// At least one of these.
    triggers: Box<[PathId]>,
    /// All of these.
    required: Box<[PathId]>,
    /// Whether it is decided for any document.
    always: bool,
}

impl Twigs {
    pub(super) fn len(&self) -> usize {
        self.by_condition.len()
    }

    /// Those that the engine decides as a whole.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Whether some must be decided on a tree.
    pub(super) fn need_a_tree(&self) -> bool {
        self.len() > self.taken
    }

    /// Whether some that are decided on a tree look at text, comments or instructions.
    pub(super) fn need_text(&self) -> bool {
        self.text > 0
    }

    /// The twig that a condition is, or the condition's number if it is new.
    pub(super) fn find(&mut self, condition: &Condition) -> Result<ExpressionId, ConditionId> {
        let shared = self.arena.intern(condition);
        match self.by_condition.get(&shared) {
            Some(&known) => {
                self.arena.release(shared);
                Ok(known)
            }
            None => Err(shared),
        }
    }

    /// Makes a new one known to whoever matches it.
    pub(super) fn place(
        &mut self,
        condition: &Condition,
        shared: ConditionId,
        id: ExpressionId,
        paths: &mut Paths,
        engine: &mut dyn AnyEngine,
    ) -> Expression {
        self.by_condition.insert(shared, id);
        if let Takes::Trees(trees) = engine.takes()
            && let Some(path) = paths.take(condition, id, trees)
        {
            self.taken += 1;
            return Expression::Taken { condition: shared, path };
        }
        let takes_filters = matches!(engine.takes(), Takes::Filters(_));
        let Awaited { triggers, required, always } = awaited(condition, takes_filters, paths, engine);
        let text = condition.looks_at_text();
        let necessary = self.arena.intern_necessary(condition);
        // An engine that takes filters looks at values itself. Without any way to satisfy it there is nothing to wait for.
        let crowded = triggers.iter().any(|&path| paths.waiting(path).len() >= FEW);
        let waits = !takes_filters && (always || crowded);
        let wanted = access(condition).filter(|_| waits);
        let ticket = wanted.map(|(subject, test)| self.values.wait(subject, test, id, &triggers));
        match ticket {
            Some(_) => {
                triggers.iter().for_each(|&path| paths.guard(path));
                self.unguarded += usize::from(always);
            }
            None => {
                triggers.iter().for_each(|&path| paths.wait(path, id));
                if always {
                    self.always.insert(id);
                }
            }
        }
        self.text += usize::from(text);
        Expression::Twig(Box::new(Twig { condition: shared, necessary, triggers, required, text, ticket }))
    }

    /// Takes out one that is decided on a tree.
    pub(super) fn release(
        &mut self,
        id: ExpressionId,
        twig: Twig,
        paths: &mut Paths,
        engine: &mut dyn AnyEngine,
    ) {
        let Twig { condition, necessary, triggers, required, text, ticket } = twig;
        self.arena.release_necessary(&necessary);
        self.always.remove(&id);
        self.text -= usize::from(text);
        self.forget(condition);
        required.iter().for_each(|&path| paths.release(path, engine));
        if let Some(ticket) = ticket {
            self.values.leave(ticket);
            self.unguarded -= usize::from(triggers.is_empty());
            triggers.iter().for_each(|&path| paths.release_guard(path, engine));
        } else {
            triggers.iter().for_each(|&path| paths.release_waiting(path, id, engine));
        }
    }

    /// Takes out one that the engine decided.
    pub(super) fn release_taken(&mut self, condition: ConditionId) {
        self.taken -= 1;
        self.forget(condition);
    }

    fn forget(&mut self, condition: ConditionId) {
        self.by_condition.remove(&condition);
        self.arena.release(condition);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.by_condition.capacity() * 12 + self.arena.memory_bytes() + self.values.memory_bytes()
    }
}

/// The paths that a twig waits for, made known to the engine.
fn awaited(
    condition: &Condition,
    takes_filters: bool,
    paths: &mut Paths,
    engine: &mut dyn AnyEngine,
) -> Awaited {
    let mut awaited = Awaited { triggers: [].into(), required: [].into(), always: false };
    if takes_filters {
        let parts = decompose(condition);
        let mut numbers =
            parts.iter().filter_map(|part| Some(paths.intern(&filtered_key(&part.to_condition())?, engine)));
        if let Some(longest) = numbers.next() {
            awaited.required = numbers.collect();
            awaited.triggers = [longest].into();
            return awaited;
        }
    }
    match trigger(condition) {
        Trigger::Always => awaited.always = true,
        Trigger::AnyOf(triggers) => {
            let mut intern = |path: &LinearPath| paths.intern(&path.to_bytes(), engine);
            awaited.triggers = triggers.iter().map(&mut intern).collect();
        }
    }
    awaited
}
