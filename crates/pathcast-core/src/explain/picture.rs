//! The document as a tree whose nodes can be named to a person.

use crate::index::Settings;
use crate::names::{Names, NamespaceId};
use crate::reader::{Document, DocumentError, Reader, Sink, StartTag, UriId};
use crate::twig::{Kind, NodeId, Tree};

/// A tree and the names of its nodes.
pub(super) struct Picture {
    pub(super) tree: Tree,
    names: Vec<Box<str>>,
}

impl Picture {
    pub(super) fn draw(
        document: Document<'_>,
        settings: &Settings,
        names: &Names,
    ) -> Result<Self, DocumentError> {
        let ignore = settings.ignore_namespaces;
        let xml =
            if ignore { NamespaceId::NONE } else { names.namespace("http://www.w3.org/XML/1998/namespace") };
        let mut painter = Painter {
            picture: Self { tree: Tree::default(), names: Vec::new() },
            subscribed: names,
            uris: vec![NamespaceId::NONE, xml],
            ignore,
        };
        painter.picture.tree.begin(names.len());
        document.read(&mut Reader::new(settings.limits.clone()), &mut painter)?;
        let mut picture = painter.picture;
        picture.tree.end();
        picture.tree.check_size()?;
        picture.names.resize(picture.tree.len(), "".into());
        Ok(picture)
    }

    /// Where a node is, with its number among siblings of the same name if it is not the only one.
    pub(super) fn label(&self, node: NodeId) -> String {
        let Some(parent) = self.tree.parent(node) else { return "/".to_owned() };
        let (mut before, mut all) = (0, 0);
        for sibling in parent + 1..=self.tree.last(parent) {
            if self.tree.parent(sibling) == Some(parent) && self.same(sibling, node) {
                all += 1;
                before += usize::from(sibling <= node);
            }
        }
        let above = if parent == 0 { String::new() } else { self.label(parent) };
        let name = match self.tree.kind(node) {
            Kind::Text => "text()",
            Kind::Comment => "comment()",
            Kind::Instruction => "processing-instruction()",
            Kind::Element | Kind::Document => &self.names[node as usize],
        };
        if all > 1 { format!("{above}/{name}[{before}]") } else { format!("{above}/{name}") }
    }

    fn same(&self, one: NodeId, other: NodeId) -> bool {
        self.tree.kind(one) == self.tree.kind(other) && self.names[one as usize] == self.names[other as usize]
    }
}

struct Painter<'a> {
    picture: Picture,
    subscribed: &'a Names,
    uris: Vec<NamespaceId>,
    ignore: bool,
}

impl Sink for Painter<'_> {
    fn wants_text(&self) -> bool {
        true
    }

    fn namespace(&mut self, _: UriId, uri: &str) {
        let known = if self.ignore { NamespaceId::NONE } else { self.subscribed.namespace(uri) };
        self.uris.push(known);
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        let Picture { tree, names } = &mut self.picture;
        names.resize(tree.len(), "".into());
        names.push(tag.local.into());
        let element = self.subscribed.resolve(self.uris[tag.uri.0 as usize], tag.local);
        tree.start(tag, element, &self.uris, self.subscribed);
    }

    fn end(&mut self) {
        self.picture.tree.end();
    }

    fn text(&mut self, text: &str) {
        self.picture.tree.text(text);
    }

    fn comment(&mut self, text: &str) {
        self.picture.tree.comment(text);
    }

    fn instruction(&mut self, target: &str, data: &str) {
        self.picture.tree.instruction(target, data);
    }
}
