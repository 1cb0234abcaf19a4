//! Subscriptions, their distinct expressions, and matching documents against them.
//!
//! An expression is brought into normal form; equal ones are one *distinct expression* with a list of subscribers. A
//! distinct expression that is a linear path goes to the engine; any other waits for a linear path it cannot do
//! without and is then decided by [`crate::twig`]. Adding and removing touches only what changes; removing what was
//! added leaves nothing behind but the numbers of names.

mod batch;
mod file;
mod matching;
mod memo;
mod paths;
mod room;
mod roster;
mod schema;
mod triggers;
mod twigs;

pub use batch::Document;
pub use file::IndexFormatError;
pub use matching::{Matches, Run};
pub use roster::Id;
pub use schema::SchemaOptions;

use std::sync::{Arc, Mutex};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::auto::{Choice, Profile};
use crate::engine::{AnyEngine, AttributeFilters, CacheStats, EngineName, PathId};
use crate::hashing::hash;
use crate::limits::Limits;
use crate::names::Names;
use crate::pattern::{Condition, LinearPath, Scope, as_linear, normalise};
use crate::twig::{Arena, ConditionId};
use crate::values::ValueIndex;
use crate::xpath::{self, XPathError};
use paths::{Paths, filtered_key};
use roster::{ExpressionId, Roster, Slot, VACANT};
use schema::SchemaUse;
use twigs::Twig;

/// Prefixes to namespace URIs.
pub type Namespaces = Vec<(Box<str>, Box<str>)>;

/// What holds for the whole set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The engine asked for.
    pub engine: EngineName,
    /// Whether expressions are ordered unless they say otherwise.
    pub ordered: bool,
    /// Bytes that the caches of one thread may hold; if not told, it follows from the number of subscriptions.
    pub cache_bytes: Option<usize>,
    /// When an engine that takes filters on attributes decides them.
    pub attribute_filters: AttributeFilters,
    /// Bounds on documents and expressions.
    pub limits: Limits,
    /// Namespaces of every expression, after its own.
    pub namespaces: Namespaces,
    /// Whether only local names count.
    pub ignore_namespaces: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            engine: EngineName::Auto,
            ordered: false,
            cache_bytes: None,
            attribute_filters: AttributeFilters::default(),
            limits: Limits::default(),
            namespaces: Vec::new(),
            ignore_namespaces: false,
        }
    }
}

/// A subscription to be added.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Subscription {
    pub id: Id,
    pub xpath: String,
    pub ordered: bool,
    pub namespaces: Namespaces,
}

/// What was refused of many subscriptions, by their number in the order given.
pub type Refused = Vec<(usize, XPathError)>;

/// An expression in normal form, as small as it gets: most are linear paths.
enum NormalForm {
    /// A linear path as bytes.
    Linear(Box<[u8]>),
    /// Any of two or more linear paths.
    AnyOf(Vec<Box<[u8]>>),
    /// Anything else.
    Other(Condition),
}

impl NormalForm {
    fn new(condition: Condition) -> Self {
        if let Some(path) = as_linear(&condition) {
            return Self::Linear(path.to_bytes());
        }
        if let Condition::Or(terms) = &condition
            && let Some(paths) = terms.iter().map(as_linear).collect::<Option<Vec<_>>>()
        {
            return Self::AnyOf(paths.iter().map(LinearPath::to_bytes).collect());
        }
        Self::Other(condition)
    }
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
    /// Any of some linear paths, their numbers sorted.
    AnyOf(Box<[PathId]>),
    /// Decided on a tree.
    Twig(Box<Twig>),
    /// Decided by the engine as a whole.
    Taken { condition: ConditionId, path: PathId },
}

/// Counts and sizes of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stats {
    pub subscriptions: usize,
    pub distinct: usize,
    pub linear: usize,
    pub twigs: usize,
    /// Twigs that the engine decides as a whole.
    pub native: usize,
    pub always: usize,
    pub looked_up: usize,
    pub shared_conditions: usize,
    pub names: usize,
    pub memory_bytes: usize,
    /// The engine at work: the one asked for, or the one that `auto` chose.
    pub engine: &'static str,
    /// Why `auto` chose it, and what its paths are like.
    pub choice: Option<(Choice, Profile)>,
    /// Paths that are not for the engine and run on the shared automaton inside it.
    pub unsuited: usize,
    /// The caches of all threads that are not at work now.
    pub cache: CacheStats,
    pub remembered_bytes: usize,
}

/// A set of subscriptions.
pub struct Index {
    settings: Settings,
    schema: Option<SchemaUse>,
    names: Names,
    engine: AnyEngine,
    paths: Paths,
    arena: Arena,
    expressions: Vec<Expression>,
    free: Vec<ExpressionId>,
    /// By constant: the expression that is it.
    constants: [Option<ExpressionId>; 2],
    twigs: FxHashMap<ConditionId, ExpressionId>,
    alternatives: FxHashMap<Box<[PathId]>, ExpressionId>,
    /// Twigs that any document may satisfy.
    always: FxHashSet<ExpressionId>,
    /// Twigs that are looked up by a value.
    values: ValueIndex,
    /// Those of them that need no path.
    unguarded: usize,
    /// Twigs that the engine decides.
    taken: usize,
    /// Other twigs that look at text, comments or instructions.
    text_twigs: usize,
    /// Counts changes of expressions, so that remembered answers are not outlived.
    changes: u64,
    roster: Arc<Roster>,
    ids: HashTable<Slot>,
    runs: Mutex<Vec<Run>>,
}

impl Index {
    /// An empty set.
    pub fn new(settings: Settings) -> Self {
        let mut engine = AnyEngine::new(settings.engine);
        engine.set_attribute_filters(settings.attribute_filters);
        Self::with_engine(settings, engine)
    }

    /// An empty set around an empty engine, which may be built otherwise than its name says.
    pub fn with_engine(settings: Settings, engine: AnyEngine) -> Self {
        Self {
            names: Names::default(),
            engine,
            settings,
            schema: None,
            paths: Paths::default(),
            arena: Arena::default(),
            expressions: Vec::new(),
            free: Vec::new(),
            constants: [None, None],
            twigs: FxHashMap::default(),
            alternatives: FxHashMap::default(),
            always: FxHashSet::default(),
            values: ValueIndex::default(),
            unguarded: 0,
            taken: 0,
            text_twigs: 0,
            changes: 0,
            roster: Arc::default(),
            ids: HashTable::new(),
            runs: Mutex::default(),
        }
    }

    /// What holds for the whole set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The engine.
    pub fn engine(&self) -> &AnyEngine {
        &self.engine
    }

    /// The names of all subscriptions.
    pub fn names(&self) -> &Names {
        &self.names
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
        self.ids.find(hash(id), |&slot| self.roster.get(slot).id == *id).copied()
    }

    /// Adds a subscription, or replaces the expression of a known id, which keeps its place.
    ///
    /// Answers with a warning if the schema says that it can never match.
    ///
    /// # Errors
    /// The expression is refused; nothing has changed.
    pub fn add(
        &mut self,
        id: Id,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<Option<String>, XPathError> {
        let (form, warning) = self.normal_form(xpath, ordered, namespaces)?;
        self.subscribe(id, &form);
        Ok(warning)
    }

    /// Adds many subscriptions, all or none. Answers with the warnings, by their number in the order given.
    ///
    /// # Errors
    /// All that are refused, by their number in the order given; nothing has changed.
    pub fn add_all(&mut self, subscriptions: &[Subscription]) -> Result<Vec<(usize, String)>, Refused> {
        let names = self.names.len();
        let mut forms = Vec::with_capacity(subscriptions.len());
        let (mut refused, mut warnings) = (Vec::new(), Vec::new());
        for (at, each) in subscriptions.iter().enumerate() {
            match self.normal_form(&each.xpath, each.ordered, &each.namespaces) {
                Ok((form, warning)) => {
                    forms.push(form);
                    warnings.extend(warning.map(|warning| (at, warning)));
                }
                Err(error) => refused.push((at, error)),
            }
        }
        if !refused.is_empty() {
            self.forget_names(names);
            return Err(refused);
        }
        for (each, form) in subscriptions.iter().zip(&forms) {
            self.subscribe(each.id.clone(), form);
        }
        // A set that is added in small pieces would be copied with every piece.
        if 2 * subscriptions.len() >= self.len() {
            self.engine.settle();
            self.paths.settle();
            self.expressions.shrink_to_fit();
        }
        Ok(warnings)
    }

    /// Whether an expression would be accepted, and with which warning.
    ///
    /// # Errors
    /// It would not.
    pub fn check(
        &mut self,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<Option<String>, XPathError> {
        let names = self.names.len();
        let checked = self.normal_form(xpath, ordered, namespaces);
        self.forget_names(names);
        checked.map(|(_, warning)| warning)
    }

    fn normal_form(
        &mut self,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<(NormalForm, Option<String>), XPathError> {
        let (condition, warning) = self.condition(xpath, ordered, namespaces)?;
        Ok((NormalForm::new(condition), warning))
    }

    /// Forgets names that only refused expressions used. A pruner remembers numbers of names, so with one they stay.
    fn forget_names(&mut self, known: usize) {
        if self.schema.as_ref().is_none_or(|schema| schema.options.prune.is_none()) {
            self.names.truncate(known);
        }
    }

    /// The condition that an expression is, under the schema if there is one.
    fn condition(
        &mut self,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<(Condition, Option<String>), XPathError> {
        let expression = xpath::parse(xpath, &self.settings.limits)?;
        let mut scope = Scope {
            names: &mut self.names,
            namespaces: &[namespaces, &self.settings.namespaces],
            ignore_namespaces: self.settings.ignore_namespaces,
        };
        let known = scope.names.len();
        let normal = normalise(&expression, ordered, &mut scope);
        let normal = normal.and_then(|condition| self.under_schema(condition));
        if normal.is_err() {
            self.forget_names(known);
        }
        normal
    }

    fn subscribe(&mut self, id: Id, form: &NormalForm) {
        let expression = self.intern(form);
        let roster = Arc::make_mut(&mut self.roster);
        roster.reserve(expression);
        let key = hash(&id);
        let known = self.ids.find(key, |&slot| roster.get(slot).id == id).copied();
        let Some(slot) = known else {
            let slot = roster.seat(id, expression);
            self.ids.insert_unique(key, slot, |&slot| hash(&roster.get(slot).id));
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
        let Ok(entry) = self.ids.find_entry(hash(id), |&slot| roster.get(slot).id == *id) else {
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
            self.ids.insert_unique(hash(&seat.id), slot, |&slot| hash(&fresh.get(slot).id));
        }
        self.roster = Arc::new(fresh);
    }

    /// The distinct expression of a normal form; a new one is made known to whoever matches it.
    fn intern(&mut self, form: &NormalForm) -> ExpressionId {
        match form {
            NormalForm::Linear(key) => self.intern_path(key),
            NormalForm::AnyOf(keys) => self.intern_alternatives(keys),
            NormalForm::Other(Condition::True) => self.constant(true),
            NormalForm::Other(Condition::False) => self.constant(false),
            NormalForm::Other(condition) => {
                if self.engine.takes_filters()
                    && let Some(key) = filtered_key(condition)
                {
                    return self.intern_path(&key);
                }
                let shared = self.arena.intern(condition);
                if let Some(&known) = self.twigs.get(&shared) {
                    self.arena.release(shared);
                    return known;
                }
                self.place_twig(condition, shared)
            }
        }
    }

    /// The expression that is just a path.
    fn intern_path(&mut self, key: &[u8]) -> ExpressionId {
        let path = self.paths.intern(key, &mut self.engine);
        if let Some(known) = self.paths.expression(path) {
            self.paths.release_user(path);
            return known;
        }
        let fresh = self.place(Expression::Linear(path));
        self.paths.set_expression(path, fresh);
        fresh
    }

    fn intern_alternatives(&mut self, keys: &[Box<[u8]>]) -> ExpressionId {
        let mut paths: Vec<PathId> =
            keys.iter().map(|key| self.paths.intern(key, &mut self.engine)).collect();
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
        self.changes += 1;
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
        self.changes += 1;
        match std::mem::replace(&mut self.expressions[id as usize], Expression::Free) {
            Expression::Free => return,
            Expression::Constant(constant) => self.constants[usize::from(constant)] = None,
            Expression::Linear(path) => self.paths.release_expression(path, &mut self.engine),
            Expression::AnyOf(paths) => {
                self.alternatives.remove(&paths);
                for &path in &paths {
                    self.paths.release_waiting(path, id, &mut self.engine);
                }
            }
            Expression::Twig(twig) => self.release_twig(id, *twig),
            Expression::Taken { condition, path } => {
                self.paths.release_taken(path, &mut self.engine);
                self.taken -= 1;
                self.twigs.remove(&condition);
                self.arena.release(condition);
            }
        }
        self.free.push(id);
    }

    fn distinct(&self) -> usize {
        self.expressions.len() - self.free.len()
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let (cache, remembered_bytes) = self.cache_stats();
        let choice = self.engine.choice(self.cache_bytes());
        let linear = |each: &&Expression| matches!(each, Expression::Linear(_) | Expression::AnyOf(_));
        Stats {
            subscriptions: self.len(),
            distinct: self.distinct(),
            linear: self.expressions.iter().filter(linear).count(),
            twigs: self.twigs.len(),
            native: self.taken,
            always: self.always.len(),
            looked_up: self.values.len(),
            shared_conditions: self.arena.len(),
            names: self.names.len() - 1,
            memory_bytes: self.memory_bytes(),
            engine: choice.map_or(self.engine.name().as_str(), |(choice, _)| choice.way.engine()),
            choice,
            unsuited: self.engine.unsuited(),
            cache,
            remembered_bytes,
        }
    }

    fn memory_bytes(&self) -> usize {
        let triggers: usize = self
            .expressions
            .iter()
            .map(|expression| match expression {
                Expression::Twig(twig) => twig.memory_bytes(),
                Expression::AnyOf(paths) => 2 * paths.len() * size_of::<PathId>(),
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
            + self.values.memory_bytes()
            + self.roster.memory_bytes()
    }
}
