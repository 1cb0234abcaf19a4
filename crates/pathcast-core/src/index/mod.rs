//! Subscriptions, their distinct expressions, and matching documents against them.
//!
//! An expression is brought into normal form; equal ones are one *distinct expression* with a list of subscribers. A
//! distinct expression that is a linear path goes to the engine; any other waits for a linear path it cannot do
//! without and is then decided by [`crate::twig`]. Adding and removing touches only what changes; removing what was
//! added leaves nothing behind but the numbers of names.

mod batch;
mod file;
mod matching;
mod paths;
mod roster;

pub use batch::Document;
pub use file::IndexFormatError;
pub use matching::{Matches, Run};
pub use roster::Id;

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::yfilter::YFilter;
use crate::engine::{Engine, PathId};
use crate::limits::Limits;
use crate::names::Names;
use crate::pattern::{Condition, Scope, Trigger, as_linear, normalise, trigger};
use crate::twig::{Arena, ConditionId};
use crate::xpath::{self, XPathError};
use paths::Paths;
use roster::{ExpressionId, Roster, Slot, VACANT};

/// The engines by name; `auto` chooses.
pub const ENGINES: [&str; 2] = ["auto", "yfilter"];

/// Prefixes to namespace URIs.
pub type Namespaces = Vec<(Box<str>, Box<str>)>;

/// What holds for the whole set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Bounds on documents and expressions.
    pub limits: Limits,
    /// Namespaces of every expression, after its own.
    pub namespaces: Namespaces,
    /// Whether only local names count.
    pub ignore_namespaces: bool,
    /// The mode of subscriptions that do not say theirs, for whoever adds them: `add` is always told.
    pub ordered: bool,
}

/// How a distinct expression is matched.
#[derive(Clone, Debug)]
enum Expression {
    /// Nobody subscribes to it any more.
    Free,
    /// True or false for every document.
    Constant(bool),
    /// A linear path.
    Linear(PathId),
    /// Decided on a tree, when one of these paths was found; without any, on every document.
    Twig { condition: ConditionId, triggers: Box<[PathId]>, text: bool },
}

/// Counts and sizes of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stats {
    pub subscriptions: usize,
    pub distinct: usize,
    pub linear: usize,
    pub twigs: usize,
    pub always: usize,
    pub shared_conditions: usize,
    pub names: usize,
    pub memory_bytes: usize,
}

/// A set of subscriptions.
pub struct Index {
    settings: Settings,
    names: Names,
    engine: YFilter,
    paths: Paths,
    arena: Arena,
    expressions: Vec<Expression>,
    free: Vec<ExpressionId>,
    /// By constant: the expression that is it.
    constants: [Option<ExpressionId>; 2],
    twigs: FxHashMap<ConditionId, ExpressionId>,
    /// Twigs that any document may satisfy.
    always: FxHashSet<ExpressionId>,
    /// Twigs that look at text, comments or instructions.
    text_twigs: usize,
    roster: Arc<Roster>,
    ids: HashTable<Slot>,
    /// Ids are strangers' choice: with a known hash, 40,000 chosen ones took 5.4 s to add instead of 0.1 s.
    hasher: RandomState,
    runs: Mutex<Vec<Run>>,
}

impl Index {
    /// An empty set.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            names: Names::default(),
            engine: YFilter::default(),
            paths: Paths::default(),
            arena: Arena::default(),
            expressions: Vec::new(),
            free: Vec::new(),
            constants: [None, None],
            twigs: FxHashMap::default(),
            always: FxHashSet::default(),
            text_twigs: 0,
            roster: Arc::default(),
            ids: HashTable::new(),
            hasher: RandomState::new(),
            runs: Mutex::default(),
        }
    }

    /// What holds for the whole set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many subscriptions there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether every subscription has a number as id.
    pub fn all_numbers(&self) -> bool {
        !self.roster.has_texts()
    }

    /// Whether a subscription has this id.
    pub fn contains(&self, id: &Id) -> bool {
        self.slot(id).is_some()
    }

    /// The ids in order of registration.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.roster.seats().map(|(_, seat)| &seat.id)
    }

    fn slot(&self, id: &Id) -> Option<Slot> {
        self.ids.find(self.hasher.hash_one(id), |&slot| self.roster.get(slot).id == *id).copied()
    }

    /// Adds a subscription, or replaces the expression of a known id, which keeps its place.
    ///
    /// # Errors
    /// The expression is refused; nothing has changed.
    pub fn add(
        &mut self,
        id: Id,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<(), XPathError> {
        let condition = self.normal_form(xpath, ordered, namespaces)?;
        self.subscribe(id, &condition);
        Ok(())
    }

    /// Whether an expression would be accepted.
    ///
    /// # Errors
    /// It would not.
    pub fn check(&mut self, xpath: &str, ordered: bool, namespaces: &Namespaces) -> Result<(), XPathError> {
        self.normal_form(xpath, ordered, namespaces).map(|_| ())
    }

    fn normal_form(
        &mut self,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<Condition, XPathError> {
        let expression = xpath::parse(xpath, &self.settings.limits)?;
        let mut scope = Scope {
            names: &mut self.names,
            namespaces: &[namespaces, &self.settings.namespaces],
            ignore_namespaces: self.settings.ignore_namespaces,
        };
        normalise(&expression, ordered, &mut scope)
    }

    fn subscribe(&mut self, id: Id, condition: &Condition) {
        let expression = self.intern(condition);
        let roster = Arc::make_mut(&mut self.roster);
        roster.reserve(expression);
        let key = self.hasher.hash_one(&id);
        let known = self.ids.find(key, |&slot| roster.get(slot).id == id).copied();
        let Some(slot) = known else {
            let slot = roster.seat(id, expression);
            self.ids.insert_unique(key, slot, |&slot| self.hasher.hash_one(&roster.get(slot).id));
            return;
        };
        if roster.get(slot).expression != expression {
            let before = roster.leave(slot);
            roster.join(slot, expression);
            self.release(before);
        }
    }

    /// Removes a subscription; false if there is none with this id.
    pub fn remove(&mut self, id: &Id) -> bool {
        let roster = Arc::make_mut(&mut self.roster);
        let Ok(entry) = self.ids.find_entry(self.hasher.hash_one(id), |&slot| roster.get(slot).id == *id)
        else {
            return false;
        };
        let (slot, _) = entry.remove();
        let expression = roster.leave(slot);
        self.release(expression);
        self.compact();
        true
    }

    /// Closes the gaps that removed subscriptions leave in the order of registration, once they are most of it.
    fn compact(&mut self) {
        if self.roster.places() < 2 * self.ids.len() + 1024 {
            return;
        }
        let fresh = self.roster.compacted();
        self.ids.clear();
        for (slot, seat) in fresh.seats() {
            let hash = |id: &Id| self.hasher.hash_one(id);
            self.ids.insert_unique(hash(&seat.id), slot, |&slot| hash(&fresh.get(slot).id));
        }
        self.roster = Arc::new(fresh);
    }

    /// The distinct expression of a condition; a new one is made known to whoever matches it.
    fn intern(&mut self, condition: &Condition) -> ExpressionId {
        if let Condition::True | Condition::False = condition {
            let constant = *condition == Condition::True;
            return match self.constants[usize::from(constant)] {
                Some(known) => known,
                None => {
                    let fresh = self.place(Expression::Constant(constant));
                    self.constants[usize::from(constant)] = Some(fresh);
                    fresh
                }
            };
        }
        if let Some(linear) = as_linear(condition) {
            let path = self.paths.intern(&linear, &mut self.engine);
            if let Some(known) = self.paths.expression(path) {
                self.paths.release_user(path);
                return known;
            }
            let fresh = self.place(Expression::Linear(path));
            self.paths.set_expression(path, fresh);
            return fresh;
        }
        let shared = self.arena.intern(condition);
        if let Some(&known) = self.twigs.get(&shared) {
            self.arena.release(shared);
            return known;
        }
        self.place_twig(condition, shared)
    }

    fn place_twig(&mut self, condition: &Condition, shared: ConditionId) -> ExpressionId {
        let (triggers, always) = match trigger(condition) {
            Trigger::Always => (Vec::new(), true),
            Trigger::AnyOf(paths) => {
                (paths.iter().map(|path| self.paths.intern(path, &mut self.engine)).collect(), false)
            }
        };
        let text = condition.looks_at_text();
        let fresh = self.place(Expression::Free);
        for &path in &triggers {
            self.paths.wait(path, fresh);
        }
        if always {
            self.always.insert(fresh);
        }
        self.text_twigs += usize::from(text);
        self.expressions[fresh as usize] =
            Expression::Twig { condition: shared, triggers: triggers.into(), text };
        self.twigs.insert(shared, fresh);
        fresh
    }

    fn place(&mut self, expression: Expression) -> ExpressionId {
        match self.free.pop() {
            Some(id) => {
                self.expressions[id as usize] = expression;
                id
            }
            None => {
                self.expressions.push(expression);
                (self.expressions.len() - 1) as ExpressionId
            }
        }
    }

    /// Takes out an expression that nobody subscribes to any more.
    fn release(&mut self, id: ExpressionId) {
        if id == VACANT || self.roster.count(id) > 0 {
            return;
        }
        match std::mem::replace(&mut self.expressions[id as usize], Expression::Free) {
            Expression::Free => return,
            Expression::Constant(constant) => self.constants[usize::from(constant)] = None,
            Expression::Linear(path) => self.paths.release_expression(path, &mut self.engine),
            Expression::Twig { condition, triggers, text, .. } => {
                self.always.remove(&id);
                self.twigs.remove(&condition);
                self.text_twigs -= usize::from(text);
                self.arena.release(condition);
                for &path in &triggers {
                    self.paths.release_waiting(path, id, &mut self.engine);
                }
            }
        }
        self.free.push(id);
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let linear = |expression: &&Expression| matches!(expression, Expression::Linear(_));
        Stats {
            subscriptions: self.len(),
            distinct: self.expressions.len() - self.free.len(),
            linear: self.expressions.iter().filter(linear).count(),
            twigs: self.twigs.len(),
            always: self.always.len(),
            shared_conditions: self.arena.len(),
            names: self.names.len() - 1,
            memory_bytes: self.memory_bytes(),
        }
    }

    fn memory_bytes(&self) -> usize {
        let triggers: usize = self
            .expressions
            .iter()
            .map(|expression| match expression {
                Expression::Twig { triggers, .. } => triggers.len() * size_of::<PathId>(),
                _ => 0,
            })
            .sum();
        size_of::<Self>()
            + triggers
            + self.expressions.capacity() * size_of::<Expression>()
            + self.free.capacity() * size_of::<ExpressionId>()
            + self.twigs.capacity() * 12
            + self.ids.allocation_size()
            + self.names.memory_bytes()
            + self.engine.memory_bytes()
            + self.paths.memory_bytes()
            + self.arena.memory_bytes()
            + self.roster.memory_bytes()
    }
}
