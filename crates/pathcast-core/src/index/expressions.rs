//! What is subscribed: the distinct expressions, each with a number.
//!
//! **Invariants.** Equal expressions have one number. A linear path is known to the engine while some expression looks
//! for it, and not longer. Taking out what was put in leaves nothing behind.

use hashbrown::{HashMap, HashTable};

use super::expression::{Expression, ExpressionId, Kind, Table};
use super::normal_form::NormalForm;
use super::paths::{Paths, filtered_key, path_condition};
use super::twigs::Twigs;
use crate::engine::{AnyEngine, Takes};
use crate::hashing::hash;
use crate::pattern::{Condition, PathId, decode_condition, encode_condition, or};
use crate::tree_automaton::gate;

/// The distinct expressions.
#[derive(Default)]
pub(super) struct Expressions {
    table: Table,
    pub(super) paths: Paths,
    pub(super) twigs: Twigs,
    /// Those that the tree automaton decides, by their bytes.
    decided: HashTable<ExpressionId>,
    /// By constant: the expression that is it.
    constants: [Option<ExpressionId>; 2],
    alternatives: HashMap<Box<[PathId]>, ExpressionId>,
    /// Counts changes, so that remembered answers are not outlived.
    changes: u64,
}

impl Expressions {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// How many are not linear.
    pub(super) fn twigs(&self) -> usize {
        let twig = |each: &Kind<&Expression>| {
            matches!(
                each,
                Kind::Other(Expression::Decided(_) | Expression::Twig { .. } | Expression::Taken { .. })
            )
        };
        self.table.iter().filter(twig).count()
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.table.bound()
    }

    #[inline]
    pub(super) fn get(&self, id: ExpressionId) -> Kind<&Expression> {
        self.table.get(id)
    }

    /// All numbers with what they stand for, those out of use included.
    pub(super) fn iter(&self) -> impl Iterator<Item = Kind<&Expression>> {
        self.table.iter()
    }

    /// The condition that an expression is.
    pub(super) fn condition(&self, id: ExpressionId) -> Condition {
        let path = |path: PathId| path_condition(self.paths.key(path));
        let expression = match self.get(id) {
            Kind::Free => return Condition::False,
            Kind::Linear(number) => return path(number),
            Kind::Other(expression) => expression,
        };
        match expression {
            Expression::Constant(value) => {
                if *value {
                    Condition::True
                } else {
                    Condition::False
                }
            }
            Expression::AnyOf(numbers) => or(numbers.iter().map(|&number| path(number))),
            Expression::Twig { condition, .. } => self.twigs.arena.expand(*condition),
            Expression::Decided(bytes) => {
                decode_condition(&mut &**bytes, usize::MAX).unwrap_or(Condition::False)
            }
            Expression::Taken { condition, .. } => self.twigs.arena.expand(*condition),
        }
    }

    /// The expression that every document satisfies, if somebody subscribed to it.
    pub(super) fn always_true(&self) -> Option<ExpressionId> {
        self.constants[1]
    }

    /// Changes whenever an expression comes or goes.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The distinct expression of a normal form; a new one is made known to whoever matches it.
    pub(super) fn intern(&mut self, form: &NormalForm, engine: &mut dyn AnyEngine) -> ExpressionId {
        match form {
            NormalForm::Linear(key) => self.intern_path(key, engine),
            NormalForm::AnyOf(keys) => self.intern_alternatives(keys, engine),
            NormalForm::Other(Condition::True) => self.constant(true),
            NormalForm::Other(Condition::False) => self.constant(false),
            NormalForm::Other(condition) => {
                if matches!(engine.takes(), Takes::Filters(_))
                    && let Some(key) = filtered_key(condition)
                {
                    return self.intern_path(&key, engine);
                }
                if matches!(engine.takes(), Takes::Paths)
                    && let Some(known) = self.intern_decided(condition)
                {
                    return known;
                }
                match self.twigs.find(condition) {
                    Ok(known) => known,
                    Err(shared) => {
                        let fresh = self.reserve();
                        let twig = self.twigs.place(condition, shared, fresh, &mut self.paths, engine);
                        self.table.set(fresh, twig);
                        fresh
                    }
                }
            }
        }
    }

    /// The expression that is just a path.
    fn intern_path(&mut self, key: &[u8], engine: &mut dyn AnyEngine) -> ExpressionId {
        let path = self.paths.intern(key, engine);
        if let Some(known) = self.paths.expression(path) {
            self.paths.release_user(path);
            return known;
        }
        let fresh = self.reserve();
        self.table.set_path(fresh, path);
        self.paths.set_expression(path, fresh);
        fresh
    }

    /// The expression that the tree automaton decides alone, if it can.
    fn intern_decided(&mut self, condition: &Condition) -> Option<ExpressionId> {
        let mut key = Vec::new();
        encode_condition(condition, &mut key);
        let same = |&id: &ExpressionId| self.decided_key(id) == Some(&*key);
        if let Some(&known) = self.decided.find(hash(&*key), same) {
            return Some(known);
        }
        let gate = gate(condition);
        if !gate.exact {
            return None;
        }
        let place = hash(&*key);
        let fresh = self.place(Expression::Decided(key.into()));
        self.twigs.automaton.insert(&gate.necessary, fresh);
        let table = &self.table;
        self.decided.insert_unique(place, fresh, |&id| match table.get(id) {
            Kind::Other(Expression::Decided(key)) => hash(&**key),
            _ => 0,
        });
        Some(fresh)
    }

    /// The bytes of an expression that the tree automaton decides.
    fn decided_key(&self, id: ExpressionId) -> Option<&[u8]> {
        if let Kind::Other(Expression::Decided(key)) = self.get(id) { Some(key) } else { None }
    }

    fn intern_alternatives(&mut self, keys: &[Box<[u8]>], engine: &mut dyn AnyEngine) -> ExpressionId {
        let mut paths: Vec<PathId> = keys.iter().map(|key| self.paths.intern(key, engine)).collect();
        paths.sort_unstable();
        if let Some(&known) = self.alternatives.get(paths.as_slice()) {
            paths.iter().for_each(|&path| self.paths.release_user(path));
            return known;
        }
        let fresh = self.place(Expression::AnyOf(paths.as_slice().into()));
        paths.iter().for_each(|&path| self.paths.wait(path, fresh));
        self.alternatives.insert(paths.into(), fresh);
        fresh
    }

    fn constant(&mut self, value: bool) -> ExpressionId {
        if let Some(known) = self.constants[usize::from(value)] {
            return known;
        }
        let fresh = self.place(Expression::Constant(value));
        self.constants[usize::from(value)] = Some(fresh);
        fresh
    }

    fn place(&mut self, expression: Expression) -> ExpressionId {
        let fresh = self.reserve();
        self.table.set(fresh, expression);
        fresh
    }

    fn reserve(&mut self) -> ExpressionId {
        self.changes += 1;
        self.table.reserve()
    }

    /// Takes out an expression that nobody subscribes to any more.
    pub(super) fn release(&mut self, id: ExpressionId, engine: &mut dyn AnyEngine) {
        self.changes += 1;
        let expression = match self.table.remove(id) {
            Kind::Free => return,
            Kind::Linear(path) => return self.paths.release_expression(path, engine),
            Kind::Other(expression) => expression,
        };
        match expression {
            Expression::Constant(constant) => self.constants[usize::from(constant)] = None,
            Expression::AnyOf(paths) => {
                self.alternatives.remove(&paths);
                for &path in &paths {
                    self.paths.release_waiting(path, id, engine);
                }
            }
            Expression::Decided(key) => {
                self.twigs.automaton.remove(id);
                if let Ok(entry) = self.decided.find_entry(hash(&*key), |&other| other == id) {
                    entry.remove();
                }
            }
            Expression::Twig { condition, required, exact } => {
                self.twigs.release(id, (condition, &required, exact), &mut self.paths, engine);
            }
            Expression::Taken { condition, path } => {
                self.paths.release_taken(path, engine);
                self.twigs.release_taken(condition);
            }
        }
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        self.paths.settle();
        self.twigs.automaton.settle();
        self.table.settle();
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
            + self.decided.allocation_size()
            + self.paths.memory_bytes()
            + self.twigs.memory_bytes()
    }
}
