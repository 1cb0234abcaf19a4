//! One document on its way through whichever engine it is: from the reader to the expressions that hold.

use super::answer::{Decided, Decision, Knowledge, decide};
use super::expressions::Expressions;
use crate::engine::{Engine, Found};
use crate::limits::Limits;
use crate::names::{Names, NamespaceId, Resolved};
use crate::reader::{Document, DocumentError, DocumentErrorKind, Reader, Sink, StartTag, UriId};
use crate::schema::{Graph, Guard};
use crate::tree_automaton::{self, TreeAutomaton};
use crate::twig::Tree;

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// What documents are matched against.
#[derive(Clone, Copy)]
pub struct Subscribed<'i> {
    pub(super) expressions: &'i Expressions,
    pub(super) names: &'i Names,
    pub(super) ignore_namespaces: bool,
    /// The schema that documents are held to.
    pub(super) graph: Option<&'i Graph>,
    /// Bytes for remembered answers.
    pub(super) memo_bytes: usize,
    pub(super) limits: &'i Limits,
}

impl Subscribed<'_> {
    /// A namespace's number among those of the subscriptions.
    fn namespace_of(&self, uri: &str) -> NamespaceId {
        self.names.namespace(self.seen(uri))
    }

    /// A namespace as far as it matters.
    fn seen<'u>(&self, uri: &'u str) -> &'u str {
        if self.ignore_namespaces { "" } else { uri }
    }
}

/// All but the engine's part of a run: what one document fills, and the answers that are remembered.
pub struct Scratch {
    reader: Reader,
    found: Found,
    names: DocumentNames,
    guard: Guard,
    pub(super) decision: Decision,
    pub(super) knowledge: Knowledge,
}

impl Scratch {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            found: Found::default(),
            names: DocumentNames::default(),
            guard: Guard::default(),
            decision: Decision::default(),
            knowledge: Knowledge::default(),
        }
    }
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

impl DocumentNames {
    fn begin(&mut self, subscribed: &Subscribed<'_>) {
        self.uris.clear();
        self.uris.extend([NamespaceId::NONE, subscribed.namespace_of(XML)]);
        self.texts.clear();
        self.texts.extend(["".into(), subscribed.seen(XML).into()]);
    }

    fn resolve_attributes(&mut self, names: &Names, tag: &StartTag<'_>) {
        self.attributes.clear();
        let uris = &self.uris;
        self.attributes.extend(
            tag.attributes().map(|attribute| names.resolve(uris[attribute.uri.0 as usize], attribute.local)),
        );
    }
}

/// The expressions that a document satisfies.
pub(super) fn match_document<E: Engine>(
    subscribed: Subscribed<'_>,
    engine: &E,
    run: &mut E::Run,
    scratch: &mut Scratch,
    document: Document<'_>,
) -> Result<Decided, DocumentError> {
    let Scratch { reader, found, names, guard, decision, knowledge } = scratch;
    let Subscribed { expressions, graph, memo_bytes, .. } = subscribed;
    engine.begin(run);
    found.clear(expressions.paths.bound());
    names.begin(&subscribed);
    let with_tree = expressions.twigs.on_tree() > 0;
    if with_tree {
        decision.tree.begin(subscribed.names.len(), expressions.twigs.need_names());
    }
    let automaton = &expressions.twigs.automaton;
    if !automaton.is_empty() {
        decision.automaton.begin(automaton);
    }
    guard.begin();
    let reads_text = engine.capabilities().content.is_some_and(|content| content.wants_text());
    let mut sink = Matcher {
        subscribed,
        guard: graph.map(|graph| (graph, &mut *guard)),
        engine,
        run,
        found,
        names,
        automaton: (!automaton.is_empty()).then_some((automaton, &mut decision.automaton)),
        tree: with_tree.then_some(&mut decision.tree),
        attributes: engine.wants_attributes() || !automaton.is_empty(),
        text: expressions.twigs.need_text() || reads_text || graph.is_some(),
    };
    document.read(reader, &mut sink)?;
    if let Some(reason) = guard.fault() {
        return Err(DocumentError { kind: DocumentErrorKind::Invalid, reason, line: 0, column: 0 });
    }
    if decision.automaton.overflows() {
        return Err(too_many_elements());
    }
    if with_tree {
        decision.tree.end();
        decision.tree.check_size()?;
    }
    let answer = knowledge.answer(expressions, engine, run, found, memo_bytes);
    decide(expressions, answer, decision, subscribed.limits)
}

fn too_many_elements() -> DocumentError {
    let reason = "more elements than can be numbered".into();
    DocumentError { kind: DocumentErrorKind::Limit, reason, line: 0, column: 0 }
}

/// Listens to the reader on behalf of the engine and, if there are twigs, of the automaton and the tree.
struct Matcher<'a, E: Engine> {
    subscribed: Subscribed<'a>,
    engine: &'a E,
    run: &'a mut E::Run,
    found: &'a mut Found,
    names: &'a mut DocumentNames,
    automaton: Option<(&'a TreeAutomaton, &'a mut tree_automaton::Run)>,
    tree: Option<&'a mut Tree>,
    attributes: bool,
    text: bool,
    /// The schema that documents are held to.
    guard: Option<(&'a Graph, &'a mut Guard)>,
}

impl<E: Engine> Matcher<'_, E> {
    /// A comment or an instruction separates text nodes.
    fn aside(&mut self) {
        if let Some(content) = self.engine.capabilities().content {
            content.aside(self.run);
        }
        if let Some((automaton, run)) = &mut self.automaton {
            run.aside(automaton);
        }
    }
}

impl<E: Engine> Sink for Matcher<'_, E> {
    fn wants_text(&self) -> bool {
        self.text
    }

    fn namespace(&mut self, id: UriId, uri: &str) {
        debug_assert_eq!(id.0 as usize, self.names.uris.len());
        self.names.uris.push(self.subscribed.namespace_of(uri));
        if let Some(tree) = &mut self.tree {
            tree.namespace(uri);
        }
        if self.guard.is_some() {
            self.names.texts.push(self.subscribed.seen(uri).into());
        }
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        if let Some((graph, guard)) = &mut self.guard {
            let texts = &self.names.texts;
            let attributes =
                tag.attributes().map(|each| (&*texts[each.uri.0 as usize], each.local, each.value));
            guard.start(graph, &texts[tag.uri.0 as usize], tag.local, attributes);
        }
        let names = self.subscribed.names;
        let element = names.resolve(self.names.uris[tag.uri.0 as usize], tag.local);
        if self.attributes {
            self.names.resolve_attributes(names, tag);
        }
        let attributes = &self.names.attributes;
        match self.engine.capabilities().content {
            Some(content) => content.start_tag(self.run, element, attributes, tag, self.found),
            None => self.engine.start(self.run, element, attributes, self.found),
        }
        if let Some((automaton, run)) = &mut self.automaton {
            run.start(automaton, element, attributes, |at| tag.value(at));
        }
        if let Some(tree) = &mut self.tree {
            tree.start(tag, element, &self.names.uris, names);
        }
    }

    fn refusal(&mut self) -> Option<String> {
        self.guard.as_mut().and_then(|(_, guard)| guard.fault())
    }

    fn end(&mut self) {
        if let Some((graph, guard)) = &mut self.guard {
            guard.end(graph);
        }
        self.engine.end(self.run);
        if let Some((automaton, run)) = &mut self.automaton {
            run.end(automaton);
        }
        if let Some(tree) = &mut self.tree {
            tree.end();
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((graph, guard)) = &mut self.guard {
            guard.text(graph, text);
        }
        if let Some(content) = self.engine.capabilities().content {
            content.text(self.run, text);
        }
        if let Some((_, run)) = &mut self.automaton {
            run.text(text);
        }
        if let Some(tree) = &mut self.tree {
            tree.text(text);
        }
    }

    fn comment(&mut self, text: &str) {
        self.aside();
        if let Some(tree) = &mut self.tree {
            tree.comment(text);
        }
    }

    fn instruction(&mut self, target: &str, data: &str) {
        self.aside();
        if let Some(tree) = &mut self.tree {
            tree.instruction(target, data);
        }
    }
}
