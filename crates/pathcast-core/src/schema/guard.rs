//! Whether a document keeps to a schema, as far as consistency and pruning rely on it.
//!
//! What was pruned answers rightly for documents in which every element stands where the graph allows it, has no
//! attributes but declared ones with declared values, and has text only where text may be. The order and number of
//! children do not matter to it, and are not checked here.

use super::graph::{ANYTHING, Attribute, Content, ElementId, Graph, Values};

/// Children of one element that are remembered.
const MET: usize = 32;

/// No value that is declared for a text is longer.
const LONGEST: usize = 1 << 10;

/// What is compared of a name before the name: its length, its first byte and its last.
type Mark = u32;

fn mark(local: &str) -> Mark {
    let bytes = local.as_bytes();
    let byte = |byte: Option<&u8>| byte.map_or(0, |&byte| u32::from(byte));
    (bytes.len() as u32) << 16 | byte(bytes.first()) << 8 | byte(bytes.last())
}

/// Whether names are the same. Two empty namespaces are not compared as bytes: their bytes are nowhere, and to compare none
/// of them takes a processor with masked loads as long as a hundred other steps.
#[inline]
fn same(one: (&str, &str), other: (&str, &str)) -> bool {
    one.1 == other.1 && one.0.len() == other.0.len() && (one.0.is_empty() || one.0 == other.0)
}

/// Follows one document.
#[derive(Debug, Default)]
pub struct Guard {
    open: Vec<ElementId>,
    /// By element: children that it had in this document and in those before, all of one schema; the frequent ones first.
    met: Vec<Vec<(Mark, ElementId)>>,
    /// By element: the marks of its attributes, in their order; none until the element was met.
    attributes: Vec<Option<Box<[Mark]>>>,
    /// Of the open element, if values are declared for its text.
    text: String,
    fault: Option<String>,
}

impl Guard {
    /// Starts a document.
    pub fn begin(&mut self) {
        self.open.clear();
        self.text.clear();
        self.fault = None;
    }

    /// A start tag.
    pub fn start<'a>(
        &mut self,
        graph: &Graph,
        uri: &str,
        local: &str,
        attributes: impl Iterator<Item = (&'a str, &'a str, &'a str)>,
    ) {
        let parent = self.open.last().copied().unwrap_or_else(|| graph.document());
        let Some(element) = self.child(graph, parent, uri, local) else {
            self.open.push(parent);
            return;
        };
        if graph.name(element).1 == ANYTHING {
            self.open.push(element);
            return;
        }
        for (uri, local, value) in attributes {
            match self.declared(graph, element, uri, local) {
                None if graph.takes_any_attribute(element) => {}
                None => self.note(|| format!("the schema has no attribute '{local}' here")),
                Some(values) if !values.allow(value) => {
                    self.note(|| format!("the schema does not allow this value of the attribute '{local}'"));
                }
                Some(_) => {}
            }
        }
        self.open.push(element);
    }

    /// The element that a child is, or one that stands for it. Most children were met before under the same parent: comparing
    /// a name with those is cheaper than to look it up.
    #[inline]
    fn child(&mut self, graph: &Graph, parent: ElementId, uri: &str, local: &str) -> Option<ElementId> {
        if self.met.len() <= parent as usize {
            self.met.resize_with(graph.bound(), Vec::new);
        }
        let met = &mut self.met[parent as usize];
        let wanted = mark(local);
        let is = |&(mark, known): &(Mark, ElementId)| mark == wanted && same(graph.name(known), (uri, local));
        if let Some(at) = met.iter().position(is) {
            if at > 0 {
                met.swap(at, at - 1);
            }
            return Some(met[at.saturating_sub(1)].1);
        }
        self.found(graph, parent, uri, local)
    }

    #[cold]
    fn found(&mut self, graph: &Graph, parent: ElementId, uri: &str, local: &str) -> Option<ElementId> {
        if let Some(stand) = graph.anything(uri).find(|&stand| graph.is_child(parent, stand)) {
            // Whatever is in it may be anything as well.
            return Some(stand);
        }
        let Some(element) = graph.element(uri, local) else {
            self.note(|| format!("the schema has no element '{local}'"));
            return None;
        };
        if graph.is_child(parent, element) {
            let met = &mut self.met[parent as usize];
            met.truncate(MET - 1);
            met.push((mark(local), element));
        } else {
            self.note(|| match graph.name_of(parent) {
                Some(parent) => format!("the schema allows no '{local}' inside '{parent}'"),
                None => format!("the schema allows no '{local}' as the root"),
            });
        }
        Some(element)
    }

    /// The values that an element's attribute may have, if it may have the attribute.
    fn declared<'g>(
        &mut self,
        graph: &'g Graph,
        element: ElementId,
        uri: &str,
        local: &str,
    ) -> Option<&'g Values> {
        if self.attributes.len() <= element as usize {
            self.attributes.resize_with(graph.bound(), || None);
        }
        let declared = graph.attribute_list(element);
        let name = |each: &Attribute| graph.attribute_names.parts(each.name);
        let marks = self.attributes[element as usize]
            .get_or_insert_with(|| declared.iter().map(|each| mark(name(each).1)).collect());
        let wanted = mark(local);
        let mut alike = marks.iter().zip(declared).filter(|&(&mark, _)| mark == wanted);
        alike.find(|(_, each)| same(name(each), (uri, local))).map(|(_, each)| &each.values)
    }

    /// A piece of text.
    pub fn text(&mut self, graph: &Graph, text: &str) {
        if let Some(&element) = self.open.last() {
            let fits = match graph.content(element) {
                Content::Mixed | Content::Any => true,
                Content::Elements => text.bytes().all(|byte| byte.is_ascii_whitespace()),
                Content::Empty => false,
            };
            if !fits {
                self.note(|| "the schema allows no text here".to_owned());
            } else if graph.texts(element).is_some() {
                self.collect(text);
            }
        }
    }

    /// Adds to the text; white space becomes one space, and what is too long for any value is not kept.
    fn collect(&mut self, text: &str) {
        for each in text.chars() {
            let blank = each.is_ascii_whitespace();
            if blank && (self.text.is_empty() || self.text.ends_with(' ')) {
                continue;
            }
            if self.text.len() > LONGEST {
                return;
            }
            self.text.push(if blank { ' ' } else { each });
        }
    }

    /// An end tag.
    pub fn end(&mut self, graph: &Graph) {
        let values = self.open.pop().and_then(|element| graph.texts(element));
        if let Some(values) = values {
            if !values.allow(&self.text) {
                self.note(|| "the schema does not allow this text".to_owned());
            }
            self.text.clear();
        }
    }

    /// The first thing that was wrong.
    pub fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    #[cold]
    fn note(&mut self, fault: impl FnOnce() -> String) {
        if self.fault.is_none() {
            self.fault = Some(fault());
        }
    }
}

impl Graph {
    /// An element's local name; the document node has none.
    fn name_of(&self, element: ElementId) -> Option<&str> {
        (element != self.document()).then(|| self.name(element).1)
    }

    fn attribute_list(&self, element: ElementId) -> &[Attribute] {
        self.elements.get(element as usize).map_or(&[], |element| &element.attributes)
    }
}

impl Values {
    fn allow(&self, value: &str) -> bool {
        match self {
            Self::Free => true,
            Self::Tokens(tokens) => tokens.iter().any(|token| **token == *value.trim_ascii()),
            Self::Fixed(fixed) => **fixed == *value,
        }
    }
}
