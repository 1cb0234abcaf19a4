//! The expressions that are not linear: their conditions, and who decides each.
//!
//! Most are decided by one [`TreeAutomaton`] as the document is read, and are kept as bytes. What it cannot decide, it
//! gates: an expression that looks sideways or back is decided on a tree of the document when the rest of it holds. An
//! engine that takes trees is offered the expression first. For an engine that takes filters a twig is decomposed: when
//! all of its paths were found it is decided on the tree.

use std::io;

use rustc_hash::FxHashMap;

use super::expression::{Expression, ExpressionId};
use super::paths::{Paths, filtered_key};
use crate::engine::{AnyEngine, Takes};
use crate::image::{ImageError, Reader, Writer};
use crate::pattern::{Condition, PathId, decompose};
use crate::tree_automaton::{TreeAutomaton, gate};
use crate::twig::{Arena, ConditionId};

/// All expressions that are not linear.
#[derive(Default)]
pub(super) struct Twigs {
    pub(super) automaton: TreeAutomaton,
    /// The conditions of those that the automaton does not decide alone.
    pub(super) arena: Arena,
    by_condition: FxHashMap<ConditionId, ExpressionId>,
    /// Those that the engine decides.
    taken: usize,
    /// Those that are decided on a tree.
    on_tree: usize,
    /// Those of them that any document may satisfy.
    always: usize,
    /// Those of them that look at text, comments or instructions.
    text: usize,
    /// Those with a typed part.
    typed: usize,
    /// Those that ask for names as text.
    named: usize,
}

impl Twigs {
    /// Those that the engine decides as a whole.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Those that are decided on a tree.
    pub(super) fn on_tree(&self) -> usize {
        self.on_tree
    }

    /// Those that are decided on a tree for any document.
    pub(super) fn always(&self) -> usize {
        self.always
    }

    /// Whether text, comments and instructions are looked at.
    pub(super) fn need_text(&self) -> bool {
        self.text > 0 || self.automaton.wants_text()
    }

    /// Whether some ask for names as text.
    pub(super) fn need_names(&self) -> bool {
        self.named > 0
    }

    /// How many have a part that only XPath's types can say.
    pub(super) fn typed(&self) -> usize {
        self.typed
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
        let mut parts = Vec::new();
        match engine.takes() {
            Takes::Trees(trees) => {
                if let Some(path) = paths.take(condition, id, trees) {
                    self.taken += 1;
                    return Expression::Taken { condition: shared, path };
                }
            }
            Takes::Filters(_) => parts = decompose(condition),
            Takes::Paths => {}
        }
        let keys = parts.iter().filter_map(|part| filtered_key(&part.to_condition()));
        let required: Box<[PathId]> = keys.map(|key| paths.intern(&key, engine)).collect();
        let mut exact = false;
        if let Some(&longest) = required.first() {
            paths.wait(longest, id);
        } else {
            let gate = gate(condition);
            exact = gate.exact;
            self.automaton.insert(&gate.necessary, id);
            self.always += usize::from(!exact && gate.necessary == Condition::True);
        }
        self.count(condition, 1);
        if !exact {
            self.on_tree += 1;
            self.text += usize::from(condition.looks_at_text());
        }
        Expression::Twig { condition: shared, required, exact }
    }

    /// Takes one out that was decided on a tree, or might have been.
    pub(super) fn release(
        &mut self,
        id: ExpressionId,
        (condition, required, exact): (ConditionId, &[PathId], bool),
        paths: &mut Paths,
        engine: &mut dyn AnyEngine,
    ) {
        let whole = self.arena.expand(condition);
        self.count(&whole, -1);
        if !exact {
            self.on_tree -= 1;
            self.text -= usize::from(whole.looks_at_text());
        }
        match required {
            [] => {
                self.automaton.remove(id);
                self.always -= usize::from(!exact && gate(&whole).necessary == Condition::True);
            }
            [longest, others @ ..] => {
                paths.release_waiting(*longest, id, engine);
                others.iter().for_each(|&path| paths.release(path, engine));
            }
        }
        self.forget(condition);
    }

    /// Takes out one that the engine decided.
    pub(super) fn release_taken(&mut self, condition: ConditionId) {
        self.taken -= 1;
        self.forget(condition);
    }

    /// Counts what a condition asks for, or no longer asks for.
    fn count(&mut self, condition: &Condition, change: isize) {
        for (counter, asks) in
            [(&mut self.typed, condition.is_typed()), (&mut self.named, condition.asks_names())]
        {
            *counter = counter.saturating_add_signed(if asks { change } else { 0 });
        }
    }

    fn forget(&mut self, condition: ConditionId) {
        self.by_condition.remove(&condition);
        self.arena.release(condition);
    }

    /// Conditions are written with their expressions.
    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        let counts = [self.on_tree, self.always, self.text, self.typed, self.named];
        counts.into_iter().try_for_each(|count| image.number(count))?;
        self.automaton.store(image)
    }

    pub(super) fn opened(
        image: &mut Reader<'_>,
        arena: Arena,
        by_condition: FxHashMap<ConditionId, ExpressionId>,
        names: usize,
    ) -> Result<Self, ImageError> {
        Ok(Self {
            arena,
            by_condition,
            taken: 0,
            on_tree: image.number()?,
            always: image.number()?,
            text: image.number()?,
            typed: image.number()?,
            named: image.number()?,
            automaton: TreeAutomaton::opened(image, names)?,
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.by_condition.capacity() * 12 + self.arena.memory_bytes() + self.automaton.memory_bytes()
    }
}
