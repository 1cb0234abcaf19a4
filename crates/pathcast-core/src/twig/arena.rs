//! Conditions shared between subscriptions: equal ones are stored once and counted.

use super::terms::{Facts, TermId};
use crate::interner::Interner;
use crate::pattern::{
    Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest, Term, TermStep, Typed,
};
use crate::values::ValueTest;

/// The number of a distinct condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConditionId(pub u32);

/// The number of a distinct node pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PatternId(pub(super) u32);

/// A condition whose parts are numbers; the variants are those of [`Condition`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shared {
    Constant(bool),
    And(Box<[ConditionId]>),
    Or(Box<[ConditionId]>),
    Not(ConditionId),
    Exists(Axis, PatternId),
    Is(NodeTest),
    Attribute(NameTest, ConditionId),
    Value(ValueTest),
    First(Box<[SharedStep]>, ValueTest),
    Root(ConditionId),
    Typed(TermId),
    Ordered(Box<[SharedBranch]>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SharedStep {
    Node(Axis, PatternId),
    Attribute(NameTest, ConditionId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SharedBranch {
    Exists { min: u32, exact: bool, pattern: PatternId },
    First(Box<[SharedStep]>, ValueTest),
}

/// All conditions of a set of subscriptions.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    conditions: Interner<Shared>,
    patterns: Interner<(NodeTest, ConditionId)>,
    terms: Interner<Term<TermId>>,
    /// By term: what is known of it without a document.
    facts: Vec<Facts>,
}

impl Arena {
    /// Adds a condition; equal ones get the same number. To be given back with [`Arena::release`].
    pub fn intern(&mut self, condition: &Condition) -> ConditionId {
        let shared = match condition {
            Condition::True => Shared::Constant(true),
            Condition::False => Shared::Constant(false),
            Condition::And(all) => Shared::And(self.intern_all(all)),
            Condition::Or(any) => Shared::Or(self.intern_all(any)),
            Condition::Not(inner) => Shared::Not(self.intern(inner)),
            Condition::Exists(axis, pattern) => Shared::Exists(*axis, self.intern_pattern(pattern)),
            Condition::Is(test) => Shared::Is(test.clone()),
            Condition::Attribute(name, inner) => Shared::Attribute(*name, self.intern(inner)),
            Condition::Value(test) => Shared::Value(test.clone()),
            Condition::First(path, test) => Shared::First(self.intern_path(path), test.clone()),
            Condition::Root(inner) => Shared::Root(self.intern(inner)),
            Condition::Typed(typed) => Shared::Typed(self.intern_typed(typed)),
            Condition::Ordered(branches) => {
                Shared::Ordered(branches.iter().map(|branch| self.intern_branch(branch)).collect())
            }
        };
        let (id, known) = self.conditions.intern(shared);
        if known {
            // The parts were counted for a new condition, but the one that exists holds them already.
            let shared = self.conditions.get(id).clone();
            self.release_parts(&shared);
        }
        ConditionId(id)
    }

    /// Adds a typed expression; equal parts are one. To be given back with its condition.
    pub fn intern_typed(&mut self, typed: &Typed) -> TermId {
        let shared = typed.0.map(&mut |part| self.intern_typed(part));
        let (id, known) = self.terms.intern(shared);
        if known {
            let shared = self.terms.get(id).clone();
            shared.parts(|&part, _| self.release_term(part));
        } else {
            let facts = Facts::of(self.terms.get(id), &self.facts);
            self.facts.resize(self.facts.len().max(id as usize + 1), facts);
            self.facts[id as usize] = facts;
        }
        TermId(id)
    }

    fn release_term(&mut self, id: TermId) {
        if let Some(shared) = self.terms.release(id.0) {
            shared.parts(|&part, _| self.release_term(part));
        }
    }

    pub(super) fn term(&self, id: TermId) -> &Term<TermId> {
        self.terms.get(id.0)
    }

    pub(super) fn facts(&self, id: TermId) -> Facts {
        self.facts[id.0 as usize]
    }

    fn expand_term(&self, id: TermId) -> Typed {
        Typed::new(self.term(id).map(&mut |&part| self.expand_term(part)))
    }

    fn intern_all(&mut self, conditions: &[Condition]) -> Box<[ConditionId]> {
        conditions.iter().map(|condition| self.intern(condition)).collect()
    }

    pub(super) fn intern_pattern(&mut self, pattern: &NodePattern) -> PatternId {
        let condition = self.intern(&pattern.condition);
        let (id, known) = self.patterns.intern((pattern.test.clone(), condition));
        if known {
            self.release(condition);
        }
        PatternId(id)
    }

    fn intern_path(&mut self, path: &[FirstStep]) -> Box<[SharedStep]> {
        path.iter()
            .map(|step| match step {
                FirstStep::Node(axis, pattern) => SharedStep::Node(*axis, self.intern_pattern(pattern)),
                FirstStep::Attribute(name, condition) => SharedStep::Attribute(*name, self.intern(condition)),
            })
            .collect()
    }

    fn intern_branch(&mut self, branch: &Branch) -> SharedBranch {
        match branch {
            Branch::Exists { min, exact, pattern } => {
                SharedBranch::Exists { min: *min, exact: *exact, pattern: self.intern_pattern(pattern) }
            }
            Branch::First(path, test) => SharedBranch::First(self.intern_path(path), test.clone()),
        }
    }

    /// Gives a condition back; the last one to do so takes it out.
    pub fn release(&mut self, id: ConditionId) {
        if let Some(shared) = self.conditions.release(id.0) {
            self.release_parts(&shared);
        }
    }

    fn release_parts(&mut self, shared: &Shared) {
        match shared {
            Shared::Constant(_) | Shared::Is(_) | Shared::Value(_) => {}
            Shared::And(parts) | Shared::Or(parts) => parts.iter().for_each(|&part| self.release(part)),
            Shared::Not(inner) | Shared::Attribute(_, inner) | Shared::Root(inner) => self.release(*inner),
            Shared::Exists(_, pattern) => self.release_pattern(*pattern),
            Shared::First(path, _) => self.release_path(path),
            Shared::Typed(term) => self.release_term(*term),
            Shared::Ordered(branches) => branches.iter().for_each(|branch| match branch {
                SharedBranch::Exists { pattern, .. } => self.release_pattern(*pattern),
                SharedBranch::First(path, _) => self.release_path(path),
            }),
        }
    }

    fn release_path(&mut self, path: &[SharedStep]) {
        for step in path {
            match step {
                SharedStep::Node(_, pattern) => self.release_pattern(*pattern),
                SharedStep::Attribute(_, condition) => self.release(*condition),
            }
        }
    }

    pub(super) fn release_pattern(&mut self, id: PatternId) {
        if let Some((_, condition)) = self.patterns.release(id.0) {
            self.release(condition);
        }
    }

    pub(super) fn condition(&self, id: ConditionId) -> &Shared {
        self.conditions.get(id.0)
    }

    pub(super) fn pattern(&self, id: PatternId) -> &(NodeTest, ConditionId) {
        self.patterns.get(id.0)
    }

    /// One more than the largest pattern number.
    pub(super) fn pattern_bound(&self) -> usize {
        self.patterns.bound()
    }

    /// How many distinct conditions and patterns there are.
    pub fn len(&self) -> usize {
        self.conditions.len() + self.patterns.len() + self.terms.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The condition behind a number, as a tree of its own.
    pub fn expand(&self, id: ConditionId) -> Condition {
        match self.condition(id) {
            Shared::Constant(true) => Condition::True,
            Shared::Constant(false) => Condition::False,
            Shared::And(parts) => Condition::And(parts.iter().map(|&part| self.expand(part)).collect()),
            Shared::Or(parts) => Condition::Or(parts.iter().map(|&part| self.expand(part)).collect()),
            Shared::Not(inner) => Condition::Not(Box::new(self.expand(*inner))),
            Shared::Exists(axis, pattern) => {
                Condition::Exists(*axis, Box::new(self.expand_pattern(*pattern)))
            }
            Shared::Is(test) => Condition::Is(test.clone()),
            Shared::Attribute(name, inner) => Condition::Attribute(*name, Box::new(self.expand(*inner))),
            Shared::Value(test) => Condition::Value(test.clone()),
            Shared::First(path, test) => Condition::First(self.expand_path(path), test.clone()),
            Shared::Root(inner) => Condition::Root(Box::new(self.expand(*inner))),
            Shared::Typed(term) => Condition::Typed(self.expand_term(*term)),
            Shared::Ordered(branches) => {
                let expand = |branch: &SharedBranch| match branch {
                    SharedBranch::Exists { min, exact, pattern } => {
                        Branch::Exists { min: *min, exact: *exact, pattern: self.expand_pattern(*pattern) }
                    }
                    SharedBranch::First(path, test) => Branch::First(self.expand_path(path), test.clone()),
                };
                Condition::Ordered(branches.iter().map(expand).collect())
            }
        }
    }

    fn expand_pattern(&self, id: PatternId) -> NodePattern {
        let (test, condition) = self.pattern(id);
        NodePattern { test: test.clone(), condition: self.expand(*condition) }
    }

    fn expand_path(&self, path: &[SharedStep]) -> Vec<FirstStep> {
        path.iter()
            .map(|step| match step {
                SharedStep::Node(axis, pattern) => FirstStep::Node(*axis, self.expand_pattern(*pattern)),
                SharedStep::Attribute(name, inner) => FirstStep::Attribute(*name, self.expand(*inner)),
            })
            .collect()
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        let parts: usize = self
            .conditions
            .values()
            .map(|shared| match shared {
                Shared::And(parts) | Shared::Or(parts) => parts.len() * size_of::<ConditionId>(),
                Shared::Value(test) => test.memory_bytes(),
                Shared::First(path, test) => path.len() * size_of::<SharedStep>() + test.memory_bytes(),
                Shared::Ordered(branches) => branches.len() * size_of::<SharedBranch>(),
                _ => 0,
            })
            .sum();
        let terms: usize = self.terms.values().map(term_bytes).sum();
        parts
            + terms
            + self.conditions.memory_bytes()
            + self.patterns.memory_bytes()
            + self.terms.memory_bytes()
            + self.facts.capacity() * size_of::<Facts>()
    }
}

/// Heap bytes of one term.
fn term_bytes(term: &Term<TermId>) -> usize {
    let mut parts = 0;
    term.parts(|_, _| parts += 1);
    let own = match term {
        Term::Number(_) | Term::Apply(..) => 0,
        Term::Text(text) => text.len(),
        Term::Path(_, steps) => steps.len() * size_of::<TermStep<TermId>>(),
    };
    own + parts * size_of::<TermId>()
}
