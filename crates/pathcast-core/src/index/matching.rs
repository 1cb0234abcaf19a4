//! One document against all subscriptions.

use std::sync::Arc;

use super::memo::{Memo, Remembered};
use super::roster::{ExpressionId, Id, Roster};
use super::schema::invalid;
use super::{Document, Expression, Index};
use crate::engine::{AnyRun, CacheStats, Engine, Found, Visitor};
use crate::names::{Names, NamespaceId, Resolved};
use crate::reader::{DocumentError, Reader, Sink, StartTag, UriId};
use crate::schema::{Graph, Guard};
use crate::twig::{Evaluator, Memory, Tree, look_up};
use crate::values::Passing;

/// The subscriptions that a document satisfies.
///
/// It keeps the distinct expressions and the roster of the moment; ids are built when asked for.
#[derive(Clone, Debug)]
pub struct Matches {
    roster: Arc<Roster>,
    expressions: Arc<[ExpressionId]>,
}

impl Matches {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.expressions.iter().map(|&expression| self.roster.count(expression)).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// How many distinct expressions they are.
    pub fn distinct(&self) -> usize {
        self.expressions.len()
    }

    /// Whether every subscription of the index, matched or not, has a number as id.
    pub fn all_numbers(&self) -> bool {
        !self.roster.has_texts()
    }

    /// Their places, in order of registration; `id` names them.
    pub fn slots(&self) -> Vec<u32> {
        self.roster.slots(&self.expressions)
    }

    /// The id at a place.
    pub fn id(&self, slot: u32) -> &Id {
        &self.roster.get(slot).id
    }

    /// Their ids, in order of registration.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.slots().into_iter().map(|slot| self.id(slot))
    }
}

/// All that changes while documents are matched, reused from one to the next; one for each thread.
pub struct Run {
    reader: Reader,
    cache_bytes: usize,
    engine: AnyRun,
    scratch: Scratch,
    memo: Memo,
}

/// What one document fills.
#[derive(Default)]
struct Scratch {
    found: Found,
    tree: Tree,
    memory: Memory,
    names: DocumentNames,
    guard: Guard,
    passing: Passing,
}

/// The names of the current document in terms of the subscriptions'.
#[derive(Debug, Default)]
struct DocumentNames {
    /// By the reader's number of a namespace: the subscriptions' number.
    uris: Vec<NamespaceId>,
    attributes: Vec<Resolved>,
    /// The namespaces as text, for a schema.
    texts: Vec<Box<str>>,
}

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// A run that one huge document made larger than this is not kept for the next.
const KEPT_BYTES: usize = 64 << 20;

/// A document on its way through whichever engine it is.
struct OneDocument<'r, 'd> {
    index: &'r Index,
    reader: &'r mut Reader,
    scratch: &'r mut Scratch,
    memo: &'r mut Memo,
    document: Document<'d>,
}

impl Visitor for OneDocument<'_, '_> {
    type Output = Result<Matches, DocumentError>;

    fn visit<E: Engine>(self, engine: &E, run: &mut E::Run) -> Self::Output {
        let Self { index, reader, scratch, memo, document } = self;
        engine.begin(run);
        scratch.found.clear(index.paths.bound());
        let xml = index.namespace_of(XML);
        scratch.names.uris.clear();
        scratch.names.uris.extend([NamespaceId::NONE, xml]);
        let with_tree = index.twigs.len() > index.taken;
        if with_tree {
            scratch.tree.begin(index.names.len());
        }
        scratch.guard.begin();
        scratch.names.texts.clear();
        scratch.names.texts.extend(["".into(), XML.into()]);
        let graph = index.schema().filter(|schema| schema.validate).map(|schema| &*schema.graph);
        let mut sink = Matcher {
            guard: graph.map(|graph| (graph, &mut scratch.guard)),
            index,
            engine,
            run,
            found: &mut scratch.found,
            names: &mut scratch.names,
            tree: with_tree.then_some(&mut scratch.tree),
            attributes: engine.wants_attributes(),
            text: index.text_twigs > 0 || engine.wants_text() || graph.is_some(),
        };
        document.read(reader, &mut sink)?;
        if let Some(fault) = scratch.guard.fault() {
            return Err(invalid(fault));
        }
        if with_tree {
            scratch.tree.end();
            scratch.tree.check_size()?;
        }
        let remembered = index.answer(engine, run, &mut scratch.found, memo);
        let expressions = index.decide(remembered, scratch);
        Ok(Matches { roster: index.roster.clone(), expressions })
    }
}

impl Index {
    /// The subscriptions that a document satisfies, in order of registration.
    ///
    /// # Errors
    /// The document is not well-formed, or crosses a limit, or cannot be read.
    pub fn matches(&self, document: Document<'_>) -> Result<Matches, DocumentError> {
        let mut run = self.run();
        let result = self.matches_with(&mut run, document);
        self.put_back(run);
        result
    }

    pub(super) fn run(&self) -> Run {
        let pooled = self.runs.lock().ok().and_then(|mut runs| runs.pop());
        let cache_bytes = self.cache_bytes();
        pooled.filter(|run| run.cache_bytes == cache_bytes).unwrap_or_else(|| Run {
            reader: Reader::new(self.settings.limits.clone()),
            cache_bytes,
            engine: self.engine.new_run(cache_bytes),
            scratch: Scratch::default(),
            memo: Memo::default(),
        })
    }

    pub(super) fn put_back(&self, mut run: Run) {
        if run.scratch.tree.memory_bytes() + run.scratch.memory.memory_bytes() > KEPT_BYTES {
            run.scratch = Scratch::default();
        }
        if let Ok(mut runs) = self.runs.lock() {
            runs.push(run);
        }
    }

    pub(super) fn matches_with(
        &self,
        run: &mut Run,
        document: Document<'_>,
    ) -> Result<Matches, DocumentError> {
        let Run { reader, cache_bytes, engine, scratch, memo } = run;
        let one = OneDocument { index: self, reader, scratch, memo, document };
        self.engine.visit(engine, *cache_bytes, one)
    }

    /// What follows from the paths alone, remembered or found out.
    fn answer<E: Engine>(
        &self,
        engine: &E,
        run: &mut E::Run,
        found: &mut Found,
        memo: &mut Memo,
    ) -> Remembered {
        memo.revise(engine.cache_stats(run).generation, self.changes);
        if let Some(signature) = engine.signature(run)
            && let Some(known) = memo.get(signature)
        {
            return known.clone();
        }
        engine.finish(run, found);
        let mut matched: Vec<ExpressionId> = self.constants[1].into_iter().collect();
        let mut alternatives: Vec<ExpressionId> = Vec::new();
        let mut candidates: Vec<ExpressionId> = self.always.iter().copied().collect();
        let mut guards = Vec::new();
        for &path in found.paths() {
            if self.paths.is_guard(path) {
                guards.push(path);
            }
            matched.extend(self.paths.expression(path));
            for &waiting in self.paths.waiting(path) {
                let decided = matches!(self.expressions[waiting as usize], Expression::AnyOf(_));
                if decided { &mut alternatives } else { &mut candidates }.push(waiting);
            }
        }
        alternatives.sort_unstable();
        alternatives.dedup();
        matched.extend(alternatives);
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|&id| match &self.expressions[id as usize] {
            Expression::Twig(twig) => twig.required.iter().all(|&path| found.contains(path)),
            _ => true,
        });
        guards.sort_unstable();
        let answer =
            Remembered { matched: matched.into(), candidates: candidates.into(), guards: guards.into() };
        if let Some(signature) = engine.signature(run)
            && memo.seen(signature)
        {
            memo.put(signature, answer.clone(), self.cache_bytes() / 4);
        }
        answer
    }

    /// Adds the candidates that hold, and those that some value calls for.
    fn decide(&self, answer: Remembered, scratch: &mut Scratch) -> Arc<[ExpressionId]> {
        let by_value = !self.values.is_empty() && (self.unguarded > 0 || !answer.guards.is_empty());
        if answer.candidates.is_empty() && !by_value {
            return answer.matched;
        }
        let Scratch { tree, memory, passing, .. } = scratch;
        let mut evaluator = Evaluator::new(&self.arena, tree, memory);
        let mut matched = answer.matched.to_vec();
        if by_value {
            look_up(&self.values, tree, passing);
            for id in self.values.passed(&answer.guards, passing) {
                if let Expression::Twig(twig) = &self.expressions[id as usize]
                    && (twig.triggers.len() < 2
                        || twig.triggers.iter().any(|path| answer.guards.binary_search(path).is_ok()))
                    && evaluator.has(&twig.necessary)
                    && evaluator.holds(twig.condition)
                {
                    matched.push(id);
                }
            }
        }
        let holds = |id: &ExpressionId| match &self.expressions[*id as usize] {
            Expression::Twig(twig) => evaluator.has(&twig.necessary) && evaluator.holds(twig.condition),
            _ => false,
        };
        matched.extend(answer.candidates.iter().copied().filter(holds));
        matched.into()
    }

    /// What the runs that are not at work keep: the engine's caches and the remembered answers.
    pub(super) fn cache_stats(&self) -> (CacheStats, usize) {
        let mut total = CacheStats::default();
        let mut remembered = 0;
        if let Ok(runs) = self.runs.lock() {
            for run in runs.iter() {
                let stats = self.engine.cache_stats(&run.engine);
                total.states += stats.states;
                total.bytes += stats.bytes;
                total.clears += stats.clears;
                total.loose_steps += stats.loose_steps;
                total.cached_documents += stats.cached_documents;
                total.shared_documents += stats.shared_documents;
                total.rests += stats.rests;
                remembered += run.memo.bytes();
            }
        }
        (total, remembered)
    }

    fn namespace_of(&self, uri: &str) -> NamespaceId {
        if self.settings.ignore_namespaces { NamespaceId::NONE } else { self.names.namespace(uri) }
    }
}

/// Listens to the reader on behalf of the engine and, if there are twigs, the tree.
struct Matcher<'a, E: Engine> {
    index: &'a Index,
    engine: &'a E,
    run: &'a mut E::Run,
    found: &'a mut Found,
    names: &'a mut DocumentNames,
    tree: Option<&'a mut Tree>,
    attributes: bool,
    text: bool,
    /// The schema that documents are held to.
    guard: Option<(&'a Graph, &'a mut Guard)>,
}

impl DocumentNames {
    fn resolve_attributes(&mut self, names: &Names, tag: &StartTag<'_>) {
        self.attributes.clear();
        let uris = &self.uris;
        self.attributes.extend(
            tag.attributes().map(|attribute| names.resolve(uris[attribute.uri.0 as usize], attribute.local)),
        );
    }
}

impl<E: Engine> Sink for Matcher<'_, E> {
    fn wants_text(&self) -> bool {
        self.text
    }

    fn namespace(&mut self, id: UriId, uri: &str) {
        debug_assert_eq!(id.0 as usize, self.names.uris.len());
        self.names.uris.push(self.index.namespace_of(uri));
        if self.guard.is_some() {
            let text = if self.index.settings.ignore_namespaces { "" } else { uri };
            self.names.texts.push(text.into());
        }
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        if let Some((graph, guard)) = &mut self.guard {
            let texts = &self.names.texts;
            let attributes =
                tag.attributes().map(|each| (&*texts[each.uri.0 as usize], each.local, each.value));
            guard.start(graph, &texts[tag.uri.0 as usize], tag.local, attributes);
        }
        let names = &self.index.names;
        let element = names.resolve(self.names.uris[tag.uri.0 as usize], tag.local);
        if self.attributes {
            self.names.resolve_attributes(names, tag);
        }
        self.engine.start_tag(self.run, element, &self.names.attributes, tag, self.found);
        if let Some(tree) = &mut self.tree {
            tree.start(tag, element, &self.names.uris, names);
        }
    }

    fn refusal(&mut self) -> Option<String> {
        self.guard.as_mut().and_then(|(_, guard)| guard.fault())
    }

    fn end(&mut self) {
        if let Some((_, guard)) = &mut self.guard {
            guard.end();
        }
        self.engine.end(self.run);
        if let Some(tree) = &mut self.tree {
            tree.end();
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((graph, guard)) = &mut self.guard {
            guard.text(graph, text);
        }
        self.engine.text(self.run, text);
        if let Some(tree) = &mut self.tree {
            tree.text(text);
        }
    }

    fn comment(&mut self, text: &str) {
        self.engine.aside(self.run);
        if let Some(tree) = &mut self.tree {
            tree.comment(text);
        }
    }

    fn instruction(&mut self, target: &str, data: &str) {
        self.engine.aside(self.run);
        if let Some(tree) = &mut self.tree {
            tree.instruction(target, data);
        }
    }
}
