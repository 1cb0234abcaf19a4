//! One document against all subscriptions.

use std::sync::Arc;

use super::roster::{ExpressionId, Id, Roster};
use super::{Document, Expression, Index};
use crate::engine::{Engine, Found, yfilter};
use crate::names::{Names, NamespaceId, Resolved};
use crate::reader::{DocumentError, DocumentErrorKind, Reader, Sink, StartTag, UriId};
use crate::twig::{Evaluator, Memory, Tree};

/// The subscriptions that a document satisfies.
///
/// It keeps the distinct expressions and the roster of the moment; ids are built when asked for.
#[derive(Clone, Debug)]
pub struct Matches {
    roster: Arc<Roster>,
    expressions: Box<[ExpressionId]>,
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
    engine: yfilter::Run,
    found: Found,
    tree: Tree,
    memory: Memory,
    names: DocumentNames,
    candidates: Vec<ExpressionId>,
}

/// The names of the current document in terms of the subscriptions'.
#[derive(Debug, Default)]
struct DocumentNames {
    /// By the reader's number of a namespace: the subscriptions' number.
    uris: Vec<NamespaceId>,
    attributes: Vec<Resolved>,
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
        pooled.unwrap_or_else(|| Run {
            reader: Reader::new(self.settings.limits.clone()),
            engine: yfilter::Run::default(),
            found: Found::default(),
            tree: Tree::default(),
            memory: Memory::default(),
            names: DocumentNames::default(),
            candidates: Vec::new(),
        })
    }

    pub(super) fn put_back(&self, run: Run) {
        if let Ok(mut runs) = self.runs.lock() {
            runs.push(run);
        }
    }

    pub(super) fn matches_with(
        &self,
        run: &mut Run,
        document: Document<'_>,
    ) -> Result<Matches, DocumentError> {
        self.engine.begin(&mut run.engine);
        run.found.clear(self.paths.bound());
        let xml = self.namespace_of("http://www.w3.org/XML/1998/namespace");
        run.names.uris.clear();
        run.names.uris.extend([NamespaceId::NONE, xml]);
        let with_tree = !self.twigs.is_empty();
        if with_tree {
            run.tree.begin(self.names.len());
        }
        let mut sink = Matcher {
            index: self,
            engine: &mut run.engine,
            found: &mut run.found,
            names: &mut run.names,
            tree: with_tree.then_some(&mut run.tree),
            attributes: self.engine.wants_attributes(),
            text: self.text_twigs > 0,
        };
        document.read(&mut run.reader, &mut sink)?;
        if with_tree {
            run.tree.end();
            if run.tree.overflowed() {
                return Err(DocumentError {
                    kind: DocumentErrorKind::Limit,
                    reason: "more than 4 GiB of text or nodes, too large for subscriptions that look back"
                        .into(),
                    line: 1,
                    column: 1,
                });
            }
        }
        Ok(Matches { roster: self.roster.clone(), expressions: self.collect(run) })
    }

    /// The expressions that hold, once the document is read.
    fn collect(&self, run: &mut Run) -> Box<[ExpressionId]> {
        let mut matched: Vec<ExpressionId> = self.constants[1].into_iter().collect();
        run.candidates.clear();
        for &path in run.found.paths() {
            matched.extend(self.paths.expression(path));
            run.candidates.extend(self.paths.waiting(path));
        }
        run.candidates.extend(&self.always);
        if !run.candidates.is_empty() {
            run.candidates.sort_unstable();
            run.candidates.dedup();
            let mut evaluator = Evaluator::new(&self.arena, &run.tree, &mut run.memory);
            matched.extend(run.candidates.iter().filter(|&&id| match &self.expressions[id as usize] {
                Expression::Twig { condition, .. } => evaluator.holds(*condition),
                _ => false,
            }));
        }
        matched.into()
    }

    fn namespace_of(&self, uri: &str) -> NamespaceId {
        if self.settings.ignore_namespaces { NamespaceId::NONE } else { self.names.namespace(uri) }
    }
}

/// Listens to the reader on behalf of the engine and, if there are twigs, the tree.
struct Matcher<'a> {
    index: &'a Index,
    engine: &'a mut yfilter::Run,
    found: &'a mut Found,
    names: &'a mut DocumentNames,
    tree: Option<&'a mut Tree>,
    attributes: bool,
    text: bool,
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

impl Sink for Matcher<'_> {
    fn wants_text(&self) -> bool {
        self.text
    }

    fn namespace(&mut self, id: UriId, uri: &str) {
        debug_assert_eq!(id.0 as usize, self.names.uris.len());
        self.names.uris.push(self.index.namespace_of(uri));
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        let names = &self.index.names;
        let element = names.resolve(self.names.uris[tag.uri.0 as usize], tag.local);
        if self.attributes {
            self.names.resolve_attributes(names, tag);
        }
        self.index.engine.start(self.engine, element, &self.names.attributes, self.found);
        if let Some(tree) = &mut self.tree {
            tree.start(tag, element, &self.names.uris, names);
        }
    }

    fn end(&mut self) {
        self.index.engine.end(self.engine);
        if let Some(tree) = &mut self.tree {
            tree.end();
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(tree) = &mut self.tree {
            tree.text(text);
        }
    }

    fn comment(&mut self, text: &str) {
        if let Some(tree) = &mut self.tree {
            tree.comment(text);
        }
    }

    fn instruction(&mut self, target: &str, data: &str) {
        if let Some(tree) = &mut self.tree {
            tree.instruction(target, data);
        }
    }
}
