//! The names of nodes as text, kept only when somebody asks for them.

use super::terms::Ref;
use super::tree::{Kind, Tree};
use crate::reader::{StartTag, UriId};

/// What a node is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// As written, with its prefix.
    pub name: &'a str,
    /// Without its prefix.
    pub local: &'a str,
    /// Its namespace, or nothing.
    pub uri: &'a str,
}

/// Where a name is, and which namespace it is in.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: u32,
    local: u32,
    end: u32,
    uri: u32,
}

/// The names of one document.
#[derive(Debug, Default)]
pub(super) struct Labels {
    wanted: bool,
    text: String,
    uris: Vec<Box<str>>,
    /// By node; those without a name have none.
    nodes: Vec<Place>,
    attributes: Vec<Place>,
}

impl Labels {
    pub(super) fn begin(&mut self, wanted: bool) {
        self.wanted = wanted;
        self.text.clear();
        self.nodes.clear();
        self.attributes.clear();
        self.uris.clear();
        self.uris.extend(["".into(), "http://www.w3.org/XML/1998/namespace".into()]);
    }

    pub(super) fn namespace(&mut self, uri: &str) {
        if self.wanted {
            self.uris.push(uri.into());
        }
    }

    /// The names of a start tag whose element has a number.
    pub(super) fn start(&mut self, node: u32, tag: &StartTag<'_>) {
        if !self.wanted {
            return;
        }
        let place = self.put(tag.prefix, tag.local, tag.uri);
        self.nodes.resize(node as usize, Place::default());
        self.nodes.push(place);
        for (attribute, prefix) in tag.attributes().zip(tag.prefixes()) {
            let place = self.put(prefix, attribute.local, attribute.uri);
            self.attributes.push(place);
        }
    }

    /// A processing instruction takes a place among the attributes, for its target.
    pub(super) fn instruction(&mut self) {
        if self.wanted {
            self.attributes.push(Place::default());
        }
    }

    fn put(&mut self, prefix: &str, local: &str, uri: UriId) -> Place {
        let start = self.text.len() as u32;
        if !prefix.is_empty() {
            self.text.push_str(prefix);
            self.text.push(':');
        }
        let at = self.text.len() as u32;
        self.text.push_str(local);
        Place { start, local: at, end: self.text.len() as u32, uri: uri.0 }
    }

    fn at(&self, place: Option<&Place>) -> Label<'_> {
        let Place { start, local, end, uri } = place.copied().unwrap_or_default();
        Label {
            name: &self.text[start as usize..end as usize],
            local: &self.text[local as usize..end as usize],
            uri: self.uris.get(uri as usize).map_or("", |uri| uri),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.text.capacity() + (self.nodes.capacity() + self.attributes.capacity()) * size_of::<Place>()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
}

impl Tree {
    /// What a node is called; empty if nobody said that names are wanted.
    pub fn label(&self, node: Ref) -> Label<'_> {
        match node.as_attribute() {
            Some(attribute) => self.labels.at(self.labels.attributes.get(attribute as usize)),
            None => match self.kind(node.owner()) {
                Kind::Element => self.labels.at(self.labels.nodes.get(node.owner() as usize)),
                Kind::Instruction => {
                    let target = self.target(node.owner());
                    Label { name: target, local: target, uri: "" }
                }
                Kind::Document | Kind::Text | Kind::Comment => Label { name: "", local: "", uri: "" },
            },
        }
    }
}
