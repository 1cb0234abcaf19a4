//! What is subscribed: the distinct expressions, each with a number.
//!
//! **Invariants.** Equal expressions have one number. A linear path is known to the engine while some expression looks
//! for it, and not longer. Taking out what was put in leaves nothing behind.

use std::io;

use hashbrown::HashTable;

use super::expression::{Expression, ExpressionId, Kind, Table, VACANT};
use super::normal_form::NormalForm;
use super::paths::{Paths, filtered_key, path_condition};
use super::twigs::Twigs;
use crate::engine::{AnyEngine, Takes};
use crate::hashing::hash;
use crate::image::{ImageError, Reader, Writer};
use crate::packed::{Finder, Packed};
use crate::pattern::{Condition, PathId, decode_condition, encode_condition, or};
use crate::tree_automaton::gate;
use crate::twig::Arena;

/// The distinct expressions.
#[derive(Default)]
pub(super) struct Expressions {
    table: Table,
    pub(super) paths: Paths,
    pub(super) twigs: Twigs,
    /// The conditions of those that the tree automaton decides, and these by them.
    decided: Packed,
    finder: Finder,
    /// By constant: the expression that is it.
    constants: [Option<ExpressionId>; 2],
    /// Those that are any of some paths, by them.
    alternatives: Finder,
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
            matches!(each, Kind::Decided(_) | Kind::Other(Expression::Twig { .. } | Expression::Taken { .. }))
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
            Kind::Decided(key) => {
                return decode_condition(&mut self.decided.get(key), usize::MAX).unwrap_or(Condition::False);
            }
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
        let place = hash(&*key);
        if let Some(&known) = self.finder.table(|| self.make()).find(place, same) {
            return Some(known);
        }
        let gate = gate(condition);
        if !gate.exact {
            return None;
        }
        let fresh = self.reserve();
        self.table.set_decided(fresh, self.decided.insert(&key));
        self.twigs.automaton.insert(&gate.necessary, fresh);
        let Self { table, decided, .. } = self;
        if let Some(all) = self.finder.made() {
            all.insert_unique(place, fresh, |&id| match table.get(id) {
                Kind::Decided(key) => hash(decided.get(key)),
                _ => 0,
            });
        }
        Some(fresh)
    }

    #[cold]
    fn make(&self) -> HashTable<ExpressionId> {
        let decided = (0..).zip(self.table.iter()).filter(|(_, each)| matches!(each, Kind::Decided(_)));
        Finder::of(self.decided.len(), decided.map(|(id, _)| id), |id| {
            hash(self.decided_key(id).unwrap_or_default())
        })
    }

    /// The condition that the tree automaton decides under a number, as bytes.
    pub(super) fn decided_bytes(&self, key: u32) -> &[u8] {
        self.decided.get(key)
    }

    /// The bytes of an expression that the tree automaton decides.
    fn decided_key(&self, id: ExpressionId) -> Option<&[u8]> {
        if let Kind::Decided(key) = self.get(id) { Some(self.decided.get(key)) } else { None }
    }

    fn intern_alternatives(&mut self, keys: &[Box<[u8]>], engine: &mut dyn AnyEngine) -> ExpressionId {
        let mut paths: Vec<PathId> = keys.iter().map(|key| self.paths.intern(key, engine)).collect();
        paths.sort_unstable();
        let (place, table) = (hash(&*paths), self.alternatives.table(|| self.make_alternatives()));
        if let Some(&known) = table.find(place, |&id| self.alternatives_of(id) == paths) {
            paths.iter().for_each(|&path| self.paths.release_user(path));
            return known;
        }
        let fresh = self.place(Expression::AnyOf(paths.as_slice().into()));
        paths.iter().for_each(|&path| self.paths.wait(path, fresh));
        let table = &self.table;
        if let Some(all) = self.alternatives.made() {
            all.insert_unique(place, fresh, |&id| hash(alternatives_of(table, id)));
        }
        fresh
    }

    /// The paths that an expression is any of; none if it is something else.
    fn alternatives_of(&self, id: ExpressionId) -> &[PathId] {
        alternatives_of(&self.table, id)
    }

    #[cold]
    fn make_alternatives(&self) -> HashTable<ExpressionId> {
        let ids = (0..self.table.bound() as u32).filter(|&id| !self.alternatives_of(id).is_empty());
        Finder::of(0, ids, |id| hash(self.alternatives_of(id)))
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
            Kind::Decided(key) => {
                self.twigs.automaton.remove(id);
                self.finder.remove(|| hash(self.decided.get(key)), id);
                return self.decided.remove(key);
            }
            Kind::Other(expression) => expression,
        };
        match expression {
            Expression::Constant(constant) => self.constants[usize::from(constant)] = None,
            Expression::AnyOf(paths) => {
                self.alternatives.remove(|| hash(&*paths), id);
                for &path in &paths {
                    self.paths.release_waiting(path, id, engine);
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

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.table.store(&self.twigs.arena, image)?;
        self.paths.store(image)?;
        self.decided.store(image)?;
        image.each(self.constants.iter().map(|constant| constant.unwrap_or(VACANT)))?;
        self.twigs.store(image)
    }

    /// Those of an image that knows so many names.
    pub(super) fn opened(image: &mut Reader<'_>, names: usize) -> Result<Self, ImageError> {
        let mut arena = Arena::default();
        let (table, paths) = (Table::opened(image, &mut arena)?, Paths::opened(image)?);
        let decided = Packed::opened(image)?;
        let constants: [u32; 2] = image.one()?;
        let on_tree = (0..).zip(table.iter()).filter_map(|(id, each)| match each {
            Kind::Other(Expression::Twig { condition, .. }) => Some((*condition, id)),
            _ => None,
        });
        let twigs = Twigs::opened(image, arena, on_tree.collect(), names)?;
        Ok(Self {
            table,
            paths,
            twigs,
            decided,
            finder: Finder::later(),
            constants: constants.map(|constant| (constant != VACANT).then_some(constant)),
            alternatives: Finder::later(),
            changes: 0,
        })
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        self.paths.settle();
        self.twigs.automaton.settle();
        self.table.settle();
        self.decided.settle();
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
            + self.decided.memory_bytes()
            + self.finder.memory_bytes()
            + self.alternatives.memory_bytes()
            + self.paths.memory_bytes()
            + self.twigs.memory_bytes()
    }
}

fn alternatives_of(table: &Table, id: ExpressionId) -> &[PathId] {
    if let Kind::Other(Expression::AnyOf(paths)) = table.get(id) { paths } else { &[] }
}
