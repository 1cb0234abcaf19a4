//! The index: what is subscribed, who subscribed and how a document is matched, put together.

use super::answer::Decided;
use super::batch;
use super::expression::{Expression, ExpressionId, Kind, VACANT};
use super::expressions::Expressions;
use super::hosted::Hosted;
use super::ids::Id;
use super::matches::Matches;
use super::matching::Subscribed;
use super::normal_form::NormalForm;
use super::places::Slot;
use super::reading::Reading;
use super::runs::{Run, Runs, room};
use super::schema::{SchemaOptions, SchemaUse};
use super::settings::{Refused, Settings, Subscription};
use super::sources::to_keep;
use super::stats::Stats;
use super::subscribers::Subscribers;
use crate::cancel::{self, Bulk, Pulse};
use crate::engine::Takes;
use crate::names::{Names, Namespaces};
use crate::pattern::Written;
use crate::reader::{Document, DocumentError};
use crate::xpath::XPathError;

/// What an id subscribed to: the expression in normal form, and as written if that is known.
type Before = (NormalForm, Option<Vec<u8>>);

/// What an addition that was ended early has left: the ids that it reached, and how many names there were before it.
struct Owed {
    before: Bulk<(Id, Option<Before>)>,
    names: usize,
}

/// A set of subscriptions.
pub struct Index {
    /// How expressions are read.
    pub(super) reading: Reading,
    /// What is subscribed.
    pub(super) expressions: Expressions,
    /// Who subscribed.
    pub(super) subscribers: Subscribers,
    /// Where the paths of the expressions are found.
    engine: Box<dyn Hosted>,
    /// How documents are matched.
    runs: Runs,
    owed: Option<Owed>,
}

impl Index {
    /// An empty set.
    pub fn new(settings: Settings) -> Self {
        let engine = (settings.engine.make)();
        Self::with_engine(settings, None, engine)
    }

    /// An empty set whose documents follow a schema.
    pub fn with_schema(settings: Settings, schema: SchemaOptions) -> Self {
        let engine = (settings.engine.make)();
        Self::with_engine(settings, Some(schema), engine)
    }

    /// An empty set around an empty engine, which may be built otherwise than its name says.
    pub fn with_engine(
        settings: Settings,
        schema: Option<SchemaOptions>,
        mut engine: Box<dyn Hosted>,
    ) -> Self {
        if let Takes::Filters(filters) = engine.takes() {
            filters.set_attribute_filters(settings.attribute_filters);
        }
        Self {
            reading: Reading::new(settings, schema),
            expressions: Expressions::default(),
            subscribers: Subscribers::default(),
            engine,
            runs: Runs::default(),
            owed: None,
        }
    }

    /// What holds for the whole set.
    pub fn settings(&self) -> &Settings {
        &self.reading.settings
    }

    /// The schema, if there is one.
    pub fn schema(&self) -> Option<&SchemaOptions> {
        self.reading.schema()
    }

    /// The engine.
    pub fn engine(&self) -> &dyn Hosted {
        &*self.engine
    }

    /// The names of all subscriptions.
    pub fn names(&self) -> &Names {
        &self.reading.names
    }

    /// How many subscriptions there are.
    pub fn len(&self) -> usize {
        self.subscribers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every subscription has a number as id.
    pub fn all_numbers(&self) -> bool {
        !self.subscribers.roster().has_texts()
    }

    /// Whether a subscription has this id.
    pub fn contains(&self, id: &Id) -> bool {
        self.subscribers.contains(id)
    }

    /// The ids in order of registration.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        let roster = self.subscribers.roster();
        roster.taken().map(|slot| roster.ids().get(slot))
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
        self.add_written(id, &Written::new(xpath, ordered, namespaces))
    }

    /// Adds a subscription that may have variables; see [`Index::add`].
    ///
    /// # Errors
    /// The expression is refused; nothing has changed.
    pub fn add_written(&mut self, id: Id, written: &Written) -> Result<Option<String>, XPathError> {
        let (form, warning) = self.reading.normal_form(written)?;
        let kept = to_keep(written, &form, self.names());
        self.subscribe(&id, &form, kept.as_deref());
        Ok(warning)
    }

    /// What an id subscribes to, as written; only the normal form if the index comes from a file that does not say.
    pub fn written(&self, id: &Id) -> Option<Written> {
        self.subscribers.find(id).map(|slot| self.written_at(slot))
    }

    /// All ids with what they subscribe to, in order of registration.
    pub fn items(&self) -> impl Iterator<Item = (Id, Written)> {
        let roster = self.subscribers.roster();
        roster.taken().map(|slot| (roster.ids().get(slot), self.written_at(slot)))
    }

    fn written_at(&self, slot: Slot) -> Written {
        let roster = self.subscribers.roster();
        self.subscribers.sources.get(roster.source(slot)).unwrap_or_else(|| {
            let condition = self.expressions.condition(roster.expression(slot));
            let xpath = self.reading.printer(&Namespaces::new()).alternatives(&condition).join(" or ");
            Written { xpath: xpath.into(), ..Written::default() }
        })
    }

    /// Adds many subscriptions, all or none. Answers with the warnings, by their number in the order given.
    ///
    /// # Errors
    /// All that are refused, by their number in the order given, or none if the caller no longer waits; nothing has
    /// changed, or will have once [`Self::settle`] was called.
    pub fn add_all(&mut self, subscriptions: &[Subscription]) -> Result<Vec<(usize, String)>, Refused> {
        let names = self.names().len();
        let mut forms = Bulk::with_capacity(subscriptions.len());
        let (mut refused, mut warnings) = (Vec::new(), Vec::new());
        let mut pulse = Pulse::default();
        for (at, each) in subscriptions.iter().enumerate() {
            if pulse.requested() {
                self.reading.forget_names(names);
                return Err(Vec::new());
            }
            match self.reading.normal_form(&each.written) {
                Ok((form, warning)) => {
                    forms.push(form);
                    warnings.extend(warning.map(|warning| (at, warning)));
                }
                Err(error) => refused.push((at, error)),
            }
        }
        if !refused.is_empty() {
            self.reading.forget_names(names);
            return Err(refused);
        }
        self.subscribers.reserve(forms.len());
        let paths = forms.iter().filter(|form| matches!(form, NormalForm::Linear(_))).count();
        self.expressions.paths.reserve(paths);
        let was_empty = self.is_empty();
        let mut before = Bulk::with_capacity(if was_empty { 0 } else { forms.len() });
        for (each, form) in subscriptions.iter().zip(forms.iter()) {
            if pulse.requested() {
                if was_empty {
                    cancel::discard(self.emptied());
                } else {
                    self.owed = Some(Owed { before, names });
                }
                return Err(Vec::new());
            }
            if !was_empty {
                before.push((each.id.clone(), self.subscription(&each.id)));
            }
            let kept = to_keep(&each.written, form, self.names());
            self.subscribe(&each.id, form, kept.as_deref());
        }
        // A set that is added in small pieces would be copied with every piece.
        if 2 * subscriptions.len() >= self.len() {
            self.give_back();
        }
        Ok(warnings)
    }

    /// Gives back room that was kept for growth.
    pub(super) fn give_back(&mut self) {
        self.engine.settle();
        self.expressions.settle();
        self.subscribers.settle();
    }

    /// The normal form of an expression that would be accepted, as text, and the warning that there would be.
    ///
    /// # Errors
    /// It would not be accepted.
    pub fn check(&mut self, written: &Written) -> Result<(String, Option<String>), XPathError> {
        self.reading.check(written)
    }

    /// What an expression is under the schema, as expressions of which a valid document satisfies one exactly when it
    /// satisfies the original; none when it can never match.
    ///
    /// # Errors
    /// The expression is refused.
    pub fn pruned(&mut self, written: &Written) -> Result<Vec<String>, XPathError> {
        self.reading.pruned(written)
    }

    /// The number of an expression, to which nobody may subscribe yet.
    pub(super) fn intern(&mut self, form: &NormalForm) -> ExpressionId {
        self.expressions.intern(form, &mut *self.engine)
    }

    fn subscribe(&mut self, id: &Id, form: &NormalForm, written: Option<&[u8]>) {
        let expression = self.intern(form);
        if let Some(before) = self.subscribers.join(id, expression, written) {
            self.release(before);
        }
    }

    /// An id's expression in normal form, and as written.
    fn subscription(&self, id: &Id) -> Option<Before> {
        let (roster, slot) = (self.subscribers.roster(), self.subscribers.find(id)?);
        let form = NormalForm::new(self.expressions.condition(roster.expression(slot)));
        Some((form, self.subscribers.sources.bytes(roster.source(slot)).map(<[u8]>::to_vec)))
    }

    /// Whether nothing is left of an addition that was ended early.
    pub fn is_settled(&self) -> bool {
        self.owed.is_none()
    }

    /// Makes ids subscribe to what they subscribed to before an addition that was ended early. Taking back takes as long as
    /// adding, so this can be ended early too, and called again.
    pub fn settle(&mut self) {
        let Some(mut owed) = self.owed.take() else { return };
        let mut pulse = Pulse::default();
        while let Some((id, before)) = owed.before.pop() {
            match before {
                Some((form, written)) => self.subscribe(&id, &form, written.as_deref()),
                None => {
                    self.remove(&id);
                }
            }
            if pulse.requested() {
                self.owed = Some(owed);
                return;
            }
        }
        self.reading.forget_names(owed.names);
    }

    /// Removes all subscriptions.
    pub fn clear(&mut self) {
        cancel::discard(self.emptied());
    }

    /// Removes all subscriptions; what held them.
    fn emptied(&mut self) -> Self {
        let (settings, schema) = (self.settings().clone(), self.schema().map(SchemaUse::fresh));
        let engine = (settings.engine.make)();
        let subscribers = self.subscribers.emptied();
        let empty = Self { subscribers, ..Self::with_engine(settings, schema, engine) };
        std::mem::replace(self, empty)
    }

    /// Removes a subscription; false if there is none with this id.
    pub fn remove(&mut self, id: &Id) -> bool {
        let left = self.subscribers.leave(id);
        left.inspect(|&expression| self.release(expression)).is_some()
    }

    /// Takes out an expression if nobody subscribes to it any more.
    pub(super) fn release(&mut self, expression: ExpressionId) {
        if expression != VACANT && self.subscribers.roster().count(expression) == 0 {
            self.expressions.release(expression, &mut *self.engine);
        }
    }

    /// The subscriptions that a document satisfies, in order of registration.
    ///
    /// # Errors
    /// The document is not well-formed, or crosses a limit, or cannot be read.
    pub fn matches(&self, document: Document<'_>) -> Result<Matches, DocumentError> {
        let mut run = self.run();
        let result = self.matches_with(&mut run, document);
        self.runs.put_back(run);
        result
    }

    /// One result for each document, in order; a bad one does not affect its neighbours.
    pub fn match_many(
        &self,
        documents: Vec<Document<'_>>,
        threads: usize,
    ) -> Vec<Result<Matches, DocumentError>> {
        batch::match_many(
            documents,
            threads,
            || self.run(),
            |run, document| self.matches_with(run, document),
            |run| self.runs.put_back(run),
        )
    }

    fn run(&self) -> Run {
        self.runs.take(&*self.engine, self.settings(), self.cache_bytes())
    }

    fn matches_with(&self, run: &mut Run, document: Document<'_>) -> Result<Matches, DocumentError> {
        let subscribed = Subscribed {
            expressions: &self.expressions,
            names: self.names(),
            ignore_namespaces: self.settings().ignore_namespaces,
            graph: self.schema().filter(|schema| schema.validate.holds()).map(|schema| &*schema.graph),
            memo_bytes: self.cache_bytes() / 4,
            limits: &self.settings().limits,
        };
        let found = self.engine.match_document(&mut *run.engine, &mut run.scratch, subscribed, document);
        let Decided { matched, undecided } = found?;
        Ok(Matches { roster: self.subscribers.roster().clone(), expressions: matched, undecided })
    }

    /// Bytes that the caches of one thread may hold.
    fn cache_bytes(&self) -> usize {
        self.settings().cache_bytes.unwrap_or_else(|| room(self.expressions.len()))
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let (cache, remembered_bytes, run_bytes) = self.runs.cache_stats(&*self.engine);
        let choice = self.engine.choice(self.cache_bytes());
        let linear =
            |each: &Kind<&Expression>| matches!(each, Kind::Linear(_) | Kind::Other(Expression::AnyOf(_)));
        let twigs = &self.expressions.twigs;
        Stats {
            subscriptions: self.len(),
            distinct: self.expressions.len(),
            linear: self.expressions.iter().filter(linear).count(),
            twigs: self.expressions.twigs(),
            native: twigs.taken(),
            always: twigs.always(),
            on_tree: twigs.on_tree(),
            shared_conditions: twigs.arena.len() + twigs.automaton.shared(),
            typed: twigs.typed(),
            names: self.names().len() - 1,
            memory_bytes: self.memory_bytes(),
            engine: choice.map_or(self.settings().engine.name, |(choice, _)| choice.way.engine()),
            pruning: self.schema().and_then(SchemaOptions::pruning),
            choice,
            unsuited: self.engine.unsuited(),
            cache,
            remembered_bytes,
            run_bytes,
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.names().memory_bytes()
            + self.engine.memory_bytes()
            + self.expressions.memory_bytes()
            + self.subscribers.memory_bytes()
    }
}
