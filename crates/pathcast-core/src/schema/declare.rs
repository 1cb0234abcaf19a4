//! From declarations to a graph.

use std::sync::OnceLock;

use super::graph::{ANYTHING, Attribute, Content, Element, ElementId, Graph, Lists, Values};
use super::set::ElementSet;
use crate::names::{NameId, Names};

/// Takes declarations in any order; an element may be mentioned before it is declared, and declared in parts.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    names: Names,
    attribute_names: Names,
    drafts: Vec<Draft>,
    roots: Vec<ElementId>,
}

#[derive(Clone, Debug, Default)]
struct Draft {
    content: Option<Content>,
    text: Option<Values>,
    children: Vec<ElementId>,
    attributes: Vec<Attribute>,
}

impl Builder {
    /// The number of an element, given now if it is new. Mentioning an element does not declare it.
    pub fn element(&mut self, uri: &str, local: &str) -> ElementId {
        let namespace = self.names.intern_namespace(uri);
        let id = self.names.intern(namespace, local).0 - 1;
        if id as usize == self.drafts.len() {
            self.drafts.push(Draft::default());
        }
        id
    }

    /// Declares what an element may hold; of two declarations the wider one counts.
    pub fn declare(&mut self, element: ElementId, content: Content) {
        let draft = &mut self.drafts[element as usize];
        draft.content = draft.content.max(Some(content));
        self.text(element, Values::Free);
    }

    /// Declares what an element without children may hold: text of these values. Declared twice with different values, or
    /// with children, all texts are allowed.
    pub fn declare_text(&mut self, element: ElementId, values: Values) {
        let draft = &mut self.drafts[element as usize];
        draft.content = draft.content.max(Some(Content::Mixed));
        self.text(element, values);
    }

    fn text(&mut self, element: ElementId, values: Values) {
        let text = &mut self.drafts[element as usize].text;
        match text {
            Some(known) if *known != values => *known = Values::Free,
            Some(_) => {}
            None => *text = Some(values),
        }
    }

    /// One element may be directly inside the other.
    pub fn child(&mut self, parent: ElementId, child: ElementId) {
        self.drafts[parent as usize].children.push(child);
    }

    /// An element may have an attribute. Namespace declarations are no attributes: leave them out. Declared twice
    /// with different values, all values are allowed.
    pub fn attribute(&mut self, element: ElementId, uri: &str, local: &str, required: bool, values: Values) {
        let namespace = self.attribute_names.intern_namespace(uri);
        let name = self.attribute_names.intern(namespace, local);
        self.drafts[element as usize].attributes.push(Attribute { name, required, values });
    }

    /// An element may be the root. Without any root candidate every element is one.
    pub fn root(&mut self, element: ElementId) {
        self.roots.push(element);
    }

    /// The graph.
    pub fn build(self) -> Graph {
        let count = self.drafts.len();
        let undeclared_may_occur = (1..=count as u32).any(|id| self.names.parts(NameId(id)).1 == ANYTHING);
        let mut open = ElementSet::new(count + 1);
        let (mut elements, mut undeclared) = (Vec::with_capacity(count), Vec::new());
        let (mut edges, mut holders) = (Vec::new(), Vec::new());
        for (id, draft) in self.drafts.into_iter().enumerate() {
            let id = id as ElementId;
            let least = if draft.children.is_empty() { Content::Empty } else { Content::Elements };
            let content = draft.content.map_or(Content::Mixed, |content| content.max(least));
            let text = draft.text.filter(|_| content == Content::Mixed && draft.children.is_empty());
            let text = text.unwrap_or(Values::Free);
            if draft.content.is_none() {
                undeclared.push(id);
            }
            if content == Content::Any {
                open.insert(id);
            } else {
                edges.extend(draft.children.into_iter().map(|child| (id, child)));
            }
            let attributes = merged(draft.attributes);
            holders.extend(attributes.iter().map(|attribute| (attribute.name.0, id)));
            elements.push(Element { content, text, attributes });
        }
        let document = count as ElementId;
        if self.roots.is_empty() {
            edges.extend((0..document).map(|root| (document, root)));
        } else {
            edges.extend(self.roots.into_iter().map(|root| (document, root)));
        }
        edges.sort_unstable();
        edges.dedup();
        let below = Lists::new(count + 1, &edges);
        edges.iter_mut().for_each(|(parent, child)| std::mem::swap(parent, child));
        edges.sort_unstable();
        holders.sort_unstable();
        Graph {
            above: Lists::new(count, &edges),
            below,
            holders: Lists::new(self.attribute_names.len(), &holders),
            names: self.names,
            attribute_names: self.attribute_names,
            elements,
            open,
            undeclared,
            undeclared_may_occur,
            components: OnceLock::new(),
            ancestors: OnceLock::new(),
            with_text: OnceLock::new(),
            occurring: OnceLock::new(),
        }
    }
}

/// Sorted by name, each name once.
fn merged(mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    attributes.sort_by_key(|attribute| attribute.name);
    attributes.dedup_by(|later, kept| {
        if later.name != kept.name {
            return false;
        }
        kept.required &= later.required;
        if kept.values != later.values {
            kept.values = Values::Free;
        }
        true
    });
    attributes
}

impl Graph {
    /// The same schema where only local names count: elements of one local name become one.
    pub fn ignoring_namespaces(&self) -> Graph {
        let mut builder = Builder::default();
        let ids: Vec<ElementId> =
            (0..self.document()).map(|element| builder.element("", self.name(element).1)).collect();
        for element in 0..self.document() {
            let id = ids[element as usize];
            if self.undeclared.binary_search(&element).is_err() {
                match &self.elements[element as usize].text {
                    Values::Free => builder.declare(id, self.content(element)),
                    values => builder.declare_text(id, values.clone()),
                }
            }
            for &child in self.below.get(element) {
                builder.child(id, ids[child as usize]);
            }
            for attribute in &self.elements[element as usize].attributes {
                let local = self.attribute_names.parts(NameId(attribute.name.0)).1;
                builder.attribute(id, "", local, attribute.required, attribute.values.clone());
            }
        }
        for &root in self.below.get(self.document()) {
            builder.root(ids[root as usize]);
        }
        builder.build()
    }
}
