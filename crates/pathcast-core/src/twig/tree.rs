//! A document as a compact tree in document order.
//!
//! Nodes are numbered in document order, the document node is 0, so the descendants of `x` are `x + 1 ..= last(x)`.
//! All text lies in one buffer in document order, so an element's string-value is one slice of it.

use super::labels::Labels;
use crate::names::{NameId, Names, NamespaceId, Resolved};
use crate::pattern::{NameTest, NodeTest};
use crate::reader::{DocumentError, DocumentErrorKind, StartTag};

/// The number of a node in document order.
pub type NodeId = u32;

const NONE: NodeId = NodeId::MAX;

/// What kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Document,
    Element,
    Text,
    Comment,
    Instruction,
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    name: Resolved,
    parent: NodeId,
    /// The last descendant, or the node itself.
    last: NodeId,
    depth: u32,
    /// The string-value: in `text`, or for comments and instructions in `aside`.
    value: (u32, u32),
    attributes: (u32, u32),
    /// The next element of the same name.
    next_of_name: NodeId,
}

#[derive(Clone, Debug)]
struct Attribute {
    name: Resolved,
    value: (u32, u32),
}

/// The tree of one document; storage is reused for the next.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    text: String,
    aside: String,
    open: Vec<NodeId>,
    /// By name: its first and last element; emptied through `named`.
    by_name: Vec<(NodeId, NodeId)>,
    named: Vec<NameId>,
    /// Attributes that identify their elements, in document order.
    ids: Vec<(u32, NodeId)>,
    /// Whether the last event was text, which the next text continues.
    in_text: bool,
    overflow: bool,
    pub(super) labels: Labels,
}

impl Tree {
    /// Starts a document whose names are numbered below `names`; `labelled` if they are wanted as text.
    pub fn begin(&mut self, names: usize, labelled: bool) {
        self.labels.begin(labelled);
        for name in self.named.drain(..) {
            self.by_name[name.0 as usize] = (NONE, NONE);
        }
        self.by_name.resize(names, (NONE, NONE));
        self.nodes.clear();
        self.attributes.clear();
        self.ids.clear();
        self.text.clear();
        self.aside.clear();
        self.open.clear();
        self.in_text = false;
        self.overflow = false;
        self.push(Kind::Document, Resolved::OTHER);
        self.open.push(0);
    }

    /// A namespace URI before it is first used.
    pub fn namespace(&mut self, uri: &str) {
        self.labels.namespace(uri);
    }

    /// A start tag.
    pub fn start(&mut self, tag: &StartTag<'_>, element: Resolved, uris: &[NamespaceId], names: &Names) {
        self.in_text = false;
        let id = self.push(Kind::Element, element);
        self.labels.start(id, tag);
        let first = self.attributes.len() as u32;
        for attribute in tag.attributes() {
            let name = names.resolve(uris[attribute.uri.0 as usize], attribute.local);
            let value = put(&mut self.aside, attribute.value);
            if attribute.id {
                self.ids.push((self.attributes.len() as u32, id));
            }
            self.attributes.push(Attribute { name, value });
        }
        self.nodes[id as usize].attributes = (first, self.attributes.len() as u32);
        if element.name != NameId::OTHER {
            let (first, last) = &mut self.by_name[element.name.0 as usize];
            if *first == NONE {
                *first = id;
                self.named.push(element.name);
            } else {
                self.nodes[*last as usize].next_of_name = id;
            }
            *last = id;
        }
        self.open.push(id);
    }

    /// An end tag, and at last the end of the document.
    pub fn end(&mut self) {
        self.in_text = false;
        if let Some(id) = self.open.pop() {
            let last = (self.nodes.len() - 1) as NodeId;
            let node = &mut self.nodes[id as usize];
            node.last = last;
            node.value.1 = self.text.len() as u32;
        }
    }

    /// A piece of text.
    pub fn text(&mut self, piece: &str) {
        // White space outside the root element is no text node.
        if piece.is_empty() || self.open.len() < 2 {
            return;
        }
        if !self.in_text {
            self.push(Kind::Text, Resolved::OTHER);
            self.in_text = true;
        }
        let value = put(&mut self.text, piece);
        if let Some(node) = self.nodes.last_mut() {
            node.value.1 = value.1;
        }
    }

    /// A comment.
    pub fn comment(&mut self, text: &str) {
        self.in_text = false;
        let id = self.push(Kind::Comment, Resolved::OTHER);
        self.nodes[id as usize].value = put(&mut self.aside, text);
    }

    /// A processing instruction: its target is kept in the place of an attribute.
    pub fn instruction(&mut self, target: &str, data: &str) {
        self.in_text = false;
        let id = self.push(Kind::Instruction, Resolved::OTHER);
        let first = self.attributes.len() as u32;
        let value = put(&mut self.aside, target);
        self.attributes.push(Attribute { name: Resolved::OTHER, value });
        self.labels.instruction();
        let node = &mut self.nodes[id as usize];
        node.attributes = (first, first + 1);
        node.value = put(&mut self.aside, data);
    }

    fn push(&mut self, kind: Kind, name: Resolved) -> NodeId {
        // Positions are 32 bits: what is larger is refused by the caller, nothing wraps silently.
        self.overflow |= self.nodes.len() + 1 >= NONE as usize
            || self.text.len() >= u32::MAX as usize
            || self.aside.len() >= u32::MAX as usize;
        let id = self.nodes.len() as NodeId;
        let at = self.text.len() as u32;
        self.nodes.push(Node {
            kind,
            name,
            parent: self.open.last().copied().unwrap_or(NONE),
            last: id,
            depth: self.open.len() as u32,
            value: (at, at),
            attributes: (0, 0),
            next_of_name: NONE,
        });
        id
    }

    /// Refuses a document too large for 32-bit positions.
    ///
    /// # Errors
    /// It is.
    pub fn check_size(&self) -> Result<(), DocumentError> {
        let most = u32::MAX as usize;
        let texts = [self.text.len(), self.aside.len(), self.labels.len()];
        if !self.overflow && texts.iter().all(|&bytes| bytes < most) {
            return Ok(());
        }
        Err(DocumentError {
            kind: DocumentErrorKind::Limit,
            reason: "more than 4 GiB of text or nodes, too large for subscriptions that look back".into(),
            line: 0,
            column: 0,
        })
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no document was begun.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What kind of node it is.
    pub fn kind(&self, node: NodeId) -> Kind {
        self.nodes[node as usize].kind
    }

    /// The parent; the document node has none.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes[node as usize].parent;
        (parent != NONE).then_some(parent)
    }

    /// The last descendant, or the node itself.
    #[inline]
    pub fn last(&self, node: NodeId) -> NodeId {
        self.nodes[node as usize].last
    }

    /// Levels below the document node.
    #[inline]
    pub fn depth(&self, node: NodeId) -> u32 {
        self.nodes[node as usize].depth
    }

    /// The ancestor so many levels up.
    pub fn ancestor(&self, mut node: NodeId, levels: u32) -> Option<NodeId> {
        for _ in 0..levels {
            node = self.parent(node)?;
        }
        Some(node)
    }

    /// The string-value.
    pub fn value(&self, node: NodeId) -> &str {
        let node = &self.nodes[node as usize];
        let buffer =
            if matches!(node.kind, Kind::Comment | Kind::Instruction) { &self.aside } else { &self.text };
        &buffer[node.value.0 as usize..node.value.1 as usize]
    }

    /// The values of an element's attributes that have such a name, in document order.
    pub fn attributes(&self, node: NodeId, name: NameTest) -> impl Iterator<Item = &str> {
        let node = &self.nodes[node as usize];
        let range = if node.kind == Kind::Element { node.attributes } else { (0, 0) };
        self.attributes[range.0 as usize..range.1 as usize]
            .iter()
            .filter(move |attribute| name.admits(attribute.name))
            .map(|attribute| &self.aside[attribute.value.0 as usize..attribute.value.1 as usize])
    }

    /// The name of an element, as a number.
    pub fn name(&self, node: NodeId) -> NameId {
        self.nodes[node as usize].name.name
    }

    /// The attributes of an element, by number of the name and value.
    pub fn all_attributes(&self, node: NodeId) -> impl Iterator<Item = (NameId, &str)> {
        let (from, to) = self.nodes[node as usize].attributes;
        self.attributes[from as usize..to as usize].iter().map(|attribute| {
            let (from, to) = attribute.value;
            (attribute.name.name, &self.aside[from as usize..to as usize])
        })
    }

    /// The numbers of an element's attributes: from the first to before the second.
    pub(super) fn attribute_range(&self, node: NodeId) -> (u32, u32) {
        let node = &self.nodes[node as usize];
        if node.kind == Kind::Element { node.attributes } else { (0, 0) }
    }

    /// The value of an attribute.
    pub fn attribute_value(&self, attribute: u32) -> &str {
        let (from, to) = self.attributes[attribute as usize].value;
        &self.aside[from as usize..to as usize]
    }

    /// The values that identify elements, in document order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = (&str, NodeId)> {
        self.ids.iter().map(|&(attribute, element)| (self.attribute_value(attribute), element))
    }

    /// Whether an attribute has such a name.
    pub(super) fn attribute_named(&self, attribute: u32, name: NameTest) -> bool {
        name.admits(self.attributes[attribute as usize].name)
    }

    /// The target of a processing instruction.
    pub fn target(&self, node: NodeId) -> &str {
        let attribute = &self.attributes[self.nodes[node as usize].attributes.0 as usize];
        &self.aside[attribute.value.0 as usize..attribute.value.1 as usize]
    }

    /// Whether a node passes a test.
    pub fn passes(&self, node: NodeId, test: &NodeTest) -> bool {
        let kind = self.kind(node);
        match test {
            NodeTest::Node => true,
            NodeTest::Element(name) => kind == Kind::Element && name.admits(self.nodes[node as usize].name),
            NodeTest::Text => kind == Kind::Text,
            NodeTest::Comment => kind == Kind::Comment,
            NodeTest::Instruction(target) => {
                kind == Kind::Instruction
                    && target.as_ref().is_none_or(|target| **target == *self.target(node))
            }
        }
    }

    /// All nodes that pass a test, in document order.
    pub fn all(&self, test: &NodeTest) -> Vec<NodeId> {
        if let NodeTest::Element(NameTest::Name(name)) = test {
            let first = self.by_name.get(name.0 as usize).map_or(NONE, |ends| ends.0);
            let next = |&node: &NodeId| {
                let next = self.nodes[node as usize].next_of_name;
                (next != NONE).then_some(next)
            };
            return std::iter::successors((first != NONE).then_some(first), next).collect();
        }
        (0..self.nodes.len() as NodeId).filter(|&node| self.passes(node, test)).collect()
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.attributes.capacity() * size_of::<Attribute>()
            + self.ids.capacity() * size_of::<(u32, NodeId)>()
            + self.text.capacity()
            + self.aside.capacity()
            + self.by_name.capacity() * size_of::<(NodeId, NodeId)>()
            + self.labels.memory_bytes()
    }
}

fn put(buffer: &mut String, text: &str) -> (u32, u32) {
    let start = buffer.len() as u32;
    buffer.push_str(text);
    (start, buffer.len() as u32)
}
