//! A document as a tree whose nodes can be shown to a person: what they are called and where they are.

use std::collections::HashMap;

use crate::cancel::Pulse;
use crate::index::Settings;
use crate::names::{Names, NamespaceId};
use crate::reader::{DocumentError, DocumentErrorKind, Offsets, Reader, Sink, StartTag, UriId};
use crate::twig::{Kind, NodeId, Ref, Tree};

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// A tree with the names of its nodes and their places.
#[derive(Debug)]
pub struct Picture {
    /// The tree.
    pub tree: Tree,
    /// By node and by attribute: from where to where in the clean text.
    spans: Vec<(usize, usize)>,
    attribute_spans: Vec<(usize, usize)>,
    /// By node: its number among siblings of its kind and name, from 1, and whether there are others.
    numbers: Vec<(u32, bool)>,
    text: String,
    offsets: Offsets,
    /// Where lines start in the clean text.
    lines: Vec<usize>,
}

impl Picture {
    /// Reads a document; names are numbered as `names` does.
    ///
    /// # Errors
    /// The document is refused or cannot be read.
    pub fn draw(document: &Given<'_>, settings: &Settings, names: &Names) -> Result<Self, DocumentError> {
        let ignore_namespaces = settings.ignore_namespaces;
        let xml = if ignore_namespaces { NamespaceId::NONE } else { names.namespace(XML) };
        let mut painter = Painter {
            tree: Tree::default(),
            spans: vec![(0, 0)],
            attribute_spans: Vec::new(),
            open: Vec::new(),
            names,
            uris: vec![NamespaceId::NONE, xml],
            ignore_namespaces,
            token: (0, 0),
        };
        painter.tree.begin(names.len(), true);
        let mut reader = Reader::with_entities(settings.limits.clone(), settings.entities.clone());
        let (text, offsets) = match document {
            Given::Bytes(bytes) => reader.read_placed(bytes, &mut painter)?,
            Given::Text(text) => reader.read_placed_str(text, &mut painter)?,
        };
        let Painter { mut tree, mut spans, attribute_spans, .. } = painter;
        tree.end();
        tree.check_size()?;
        if spans.len() != tree.len() {
            let reason = "the places of the document's nodes were lost".into();
            return Err(DocumentError { kind: DocumentErrorKind::Io, reason, line: 0, column: 0 });
        }
        spans[0] = (0, text.len());
        let lines = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let (numbers, lines) = (numbered(&tree)?, lines.collect());
        Ok(Self { tree, spans, attribute_spans, numbers, text, offsets, lines })
    }

    fn clean_span(&self, node: Ref) -> (usize, usize) {
        match node.as_attribute() {
            Some(attribute) => self.attribute_spans[attribute as usize],
            None => self.spans[node.owner() as usize],
        }
    }

    /// From where to where a node is in the bytes that were given.
    pub fn span(&self, node: Ref) -> (usize, usize) {
        let (start, end) = self.clean_span(node);
        (self.offsets.given(start), self.offsets.given(end))
    }

    /// The line and the column where a node starts, in characters from 1.
    pub fn position(&self, node: Ref) -> (usize, usize) {
        let (start, _) = self.clean_span(node);
        let line = self.lines.partition_point(|&first| first <= start);
        let first = self.lines[line.saturating_sub(1)];
        (line, self.text[first..start].chars().count() + 1)
    }

    /// The string-value of a node.
    pub fn text(&self, node: Ref) -> &str {
        match node.as_attribute() {
            Some(attribute) => self.tree.attribute_value(attribute),
            None => self.tree.value(node.owner()),
        }
    }

    /// The path that leads to a node and to no other.
    pub fn path(&self, node: Ref) -> String {
        self.written(node, true)
    }

    /// The same, with numbers only where there are several of a name.
    pub fn label(&self, node: Ref) -> String {
        self.written(node, false)
    }

    fn written(&self, node: Ref, always: bool) -> String {
        if node == Ref::ROOT {
            return "/".to_owned();
        }
        let mut steps = Vec::new();
        if node.as_attribute().is_some() {
            steps.push(format!("@{}", self.tree.label(node).name));
        }
        let mut at = Some(node.owner()).filter(|&owner| owner != 0);
        while let Some(owner) = at {
            let name = match self.tree.kind(owner) {
                Kind::Text => "text()",
                Kind::Comment => "comment()",
                Kind::Instruction => "processing-instruction()",
                Kind::Element | Kind::Document => self.tree.label(Ref::node(owner)).name,
            };
            let (number, several) = self.numbers[owner as usize];
            steps.push(if always || several { format!("{name}[{number}]") } else { name.to_owned() });
            at = self.tree.parent(owner).filter(|&parent| parent != 0);
        }
        steps.iter().rev().fold(String::new(), |path, step| path + "/" + step)
    }
}

/// By node: its number among siblings of its kind and name, and whether there are others.
fn numbered(tree: &Tree) -> Result<Vec<(u32, bool)>, DocumentError> {
    // Strangers choose the names: a seeded hash.
    let mut counts: HashMap<(NodeId, &str, bool), u32> = HashMap::default();
    let key = |node: NodeId| {
        let label = match tree.kind(node) {
            Kind::Text => ("text", false),
            Kind::Comment => ("comment", false),
            Kind::Instruction => ("instruction", false),
            Kind::Element | Kind::Document => (tree.label(Ref::node(node)).name, true),
        };
        (tree.parent(node).unwrap_or(0), label.0, label.1)
    };
    let mut numbers = vec![(1, false)];
    let mut pulse = Pulse::default();
    for node in 1..tree.len() as NodeId {
        let count = counts.entry(key(node)).or_default();
        *count += 1;
        numbers.push((*count, false));
        if pulse.requested() {
            return Err(DocumentError::cancelled());
        }
    }
    for node in 1..tree.len() as NodeId {
        numbers[node as usize].1 = counts.get(&key(node)).is_some_and(|&count| count > 1);
        if pulse.requested() {
            return Err(DocumentError::cancelled());
        }
    }
    Ok(numbers)
}

/// A document as it was given, all of it.
pub enum Given<'a> {
    /// Bytes in an encoding that they name themselves.
    Bytes(std::borrow::Cow<'a, [u8]>),
    /// Text that is decoded already.
    Text(&'a str),
}

struct Painter<'a> {
    tree: Tree,
    spans: Vec<(usize, usize)>,
    attribute_spans: Vec<(usize, usize)>,
    open: Vec<usize>,
    names: &'a Names,
    uris: Vec<NamespaceId>,
    ignore_namespaces: bool,
    /// Where the current event is.
    token: (usize, usize),
}

impl Painter<'_> {
    /// Notes the place of the nodes that the current event has made, or made longer.
    fn note(&mut self) {
        if self.spans.len() < self.tree.len() {
            self.spans.push(self.token);
        } else if let Some(last) = self.spans.last_mut() {
            last.1 = self.token.1;
        }
    }
}

impl Sink for Painter<'_> {
    fn wants_text(&self) -> bool {
        true
    }

    fn token(&mut self, start: u64, end: u64) {
        self.token = (start as usize, end as usize);
    }

    fn namespace(&mut self, _: UriId, uri: &str) {
        self.tree.namespace(uri);
        let known = if self.ignore_namespaces { NamespaceId::NONE } else { self.names.namespace(uri) };
        self.uris.push(known);
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        let element = self.names.resolve(self.uris[tag.uri.0 as usize], tag.local);
        self.tree.start(tag, element, &self.uris, self.names);
        self.open.push(self.spans.len());
        self.note();
        // The name stands behind the `<`.
        let name = self.token.0 + 1;
        let token = self.token;
        self.attribute_spans
            .extend(tag.spans().map(|span| span.map_or(token, |(start, end)| (name + start, name + end))));
    }

    fn end(&mut self) {
        self.tree.end();
        if let Some(node) = self.open.pop() {
            self.spans[node].1 = self.token.1;
        }
    }

    fn text(&mut self, text: &str) {
        self.tree.text(text);
        self.note();
    }

    fn comment(&mut self, text: &str) {
        self.tree.comment(text);
        self.note();
    }

    fn instruction(&mut self, target: &str, data: &str) {
        self.tree.instruction(target, data);
        self.note();
        // Its target has a place among the attributes.
        self.attribute_spans.push(self.token);
    }
}
