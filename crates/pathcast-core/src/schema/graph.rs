//! The graph of a schema: which element can be inside which.
//!
//! Elements have dense numbers; the number after the last one is the *document node*, whose children are the elements
//! that may be the root. An element of content `ANY` may hold every element: its edges are implied, never listed, so
//! ten thousand such elements cost ten thousand marks and not a hundred million edges.
//!
//! Where a schema lets in elements that it does not declare, an element of the local name [`ANYTHING`], which no document
//! can have, stands for all of its namespace, or of every one if that is its namespace too, with all that may be in them.
//! An attribute of that name stands for every attribute.
//!
//! **Valid** means here: every element is a child that its parent may have, the root is a root candidate, attributes
//! are declared and have a declared value, and so has text where an element's text is declared. Order and number of children are not part of the graph, so every document
//! that is valid for the DTD is valid for the graph: what cannot be here cannot be there.
//!
//! All questions about levels work on sets of elements and cost one pass over the edges they meet. A matrix for each
//! number of levels would be 12 MB for ten thousand elements, so there is none.

use std::sync::OnceLock;

use super::set::ElementSet;
use super::structure::Components;
use crate::names::{NameId, Names};
use crate::pattern::NameTest;

/// The number of an element, or of the document node.
pub type ElementId = u32;

/// The local name of the element, or the attribute, that stands for everything that is not declared.
pub const ANYTHING: &str = "*";

/// What an element may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Content {
    /// Nothing at all.
    Empty,
    /// Elements, and white space between them.
    Elements,
    /// Text, and perhaps elements.
    Mixed,
    /// Text and every declared element.
    Any,
}

/// Which values an attribute may have, or the text of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// All.
    Free,
    /// One of these tokens. White space around a token is no fault, and a reader that has not seen the declaration
    /// reports it.
    Tokens(Vec<Box<str>>),
    /// This one.
    Fixed(Box<str>),
}

/// An attribute that an element may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name, among the attribute names of the graph.
    pub(super) name: NameId,
    /// Whether it must be there.
    pub required: bool,
    /// What it may be.
    pub values: Values,
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) content: Content,
    /// What its text may be, of an element that has no children.
    pub(super) text: Values,
    /// Sorted by name.
    pub(super) attributes: Vec<Attribute>,
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<ElementId>,
}

impl Lists {
    /// From pairs of a list's number and an item, sorted.
    pub(super) fn new(count: usize, pairs: &[(u32, ElementId)]) -> Self {
        let mut starts = vec![0; count + 1];
        for &(list, _) in pairs {
            starts[list as usize + 1] += 1;
        }
        for list in 0..count {
            starts[list + 1] += starts[list];
        }
        Self { starts, items: pairs.iter().map(|&(_, item)| item).collect() }
    }

    pub(super) fn get(&self, list: u32) -> &[ElementId] {
        let at = list as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    pub(super) fn total(&self) -> usize {
        self.items.len()
    }
}

/// Up to this many elements the ancestors of each are remembered: 32 MB at most.
const REMEMBERED: usize = 16 << 10;

/// The elements of a schema and which can be inside which.
#[derive(Debug)]
pub struct Graph {
    /// Element `k` is name `k + 1`.
    pub(super) names: Names,
    pub(super) attribute_names: Names,
    pub(super) elements: Vec<Element>,
    /// Children that are listed; those of the document node last.
    pub(super) below: Lists,
    /// Parents that list an element, the document node among them.
    pub(super) above: Lists,
    /// Elements that may hold every element.
    pub(super) open: ElementSet,
    /// By attribute name: the elements that may have it.
    pub(super) holders: Lists,
    pub(super) undeclared: Vec<ElementId>,
    pub(super) undeclared_may_occur: bool,
    pub(super) components: OnceLock<Components>,
    pub(super) ancestors: OnceLock<Vec<OnceLock<ElementSet>>>,
    pub(super) with_text: OnceLock<ElementSet>,
    pub(super) occurring: OnceLock<ElementSet>,
}

impl Graph {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The document node.
    pub fn document(&self) -> ElementId {
        self.elements.len() as ElementId
    }

    /// The numbers of all elements and the document node are below this.
    pub fn bound(&self) -> usize {
        self.elements.len() + 1
    }

    /// How many edges are listed; those of `ANY` are not.
    pub fn edges(&self) -> usize {
        self.below.total()
    }

    /// The element of a name.
    pub fn element(&self, uri: &str, local: &str) -> Option<ElementId> {
        match self.names.resolve(self.names.namespace(uri), local).name {
            NameId::OTHER => None,
            NameId(id) => Some(id - 1),
        }
    }

    /// Whether elements may occur that are not declared.
    pub fn lets_in_undeclared(&self) -> bool {
        self.undeclared_may_occur
    }

    /// The elements that stand for all others of a namespace.
    pub(super) fn anything(&self, uri: &str) -> impl Iterator<Item = ElementId> {
        let stand = if self.undeclared_may_occur {
            [self.element(uri, ANYTHING), self.element(ANYTHING, ANYTHING)]
        } else {
            [None; 2]
        };
        stand.into_iter().flatten()
    }

    /// Whether an element may have attributes that are not declared.
    pub(super) fn takes_any_attribute(&self, element: ElementId) -> bool {
        self.attributes(element).any(|(_, local, _)| local == ANYTHING)
    }

    /// Namespace URI and local name of an element.
    pub fn name(&self, element: ElementId) -> (&str, &str) {
        self.names.parts(NameId(element + 1))
    }

    /// What an element may hold.
    pub fn content(&self, element: ElementId) -> Content {
        self.elements.get(element as usize).map_or(Content::Elements, |element| element.content)
    }

    /// The attributes an element may have, with their namespace URIs and local names.
    pub fn attributes(&self, element: ElementId) -> impl Iterator<Item = (&str, &str, &Attribute)> {
        let attributes = self.elements.get(element as usize).map_or(&[][..], |element| &element.attributes);
        attributes.iter().map(|attribute| {
            let (uri, local) = self.attribute_names.parts(attribute.name);
            (uri, local, attribute)
        })
    }

    /// Elements that are mentioned but not declared; they hold text only.
    pub fn undeclared(&self) -> &[ElementId] {
        &self.undeclared
    }

    /// The children an element, or the document node, may have, sorted.
    pub fn children(&self, element: ElementId) -> impl Iterator<Item = ElementId> {
        let open = self.open.contains(element);
        let every = 0..if open { self.document() } else { 0 };
        let listed = if open { &[][..] } else { self.below.get(element) };
        every.chain(listed.iter().copied())
    }

    /// Whether one may be directly inside the other.
    pub fn is_child(&self, parent: ElementId, child: ElementId) -> bool {
        child < self.document()
            && (self.open.contains(parent) || self.below.get(parent).binary_search(&child).is_ok())
    }

    /// The elements that a name test of an expression accepts; `names` are those of the expression.
    pub fn named(&self, test: NameTest, names: &Names) -> ElementSet {
        match test {
            NameTest::Any => self.all_elements(),
            NameTest::Name(id) => {
                let (uri, local) = names.parts(id);
                let mut set = ElementSet::new(self.bound());
                for found in self.element(uri, local).into_iter().chain(self.anything(uri)) {
                    set.insert(found);
                }
                set
            }
            NameTest::Partial(id) => {
                let mut set = ElementSet::new(self.bound());
                let fits = |&element: &ElementId| {
                    let name = self.name(element);
                    name.1 == ANYTHING || agrees(name, id, names)
                };
                (0..self.document()).filter(fits).for_each(|element| {
                    set.insert(element);
                });
                set
            }
        }
    }

    /// The elements that may have an attribute that a name test accepts.
    pub fn holders(&self, test: NameTest, names: &Names) -> ElementSet {
        let mut set = ElementSet::new(self.bound());
        for name in self.attribute_ids(test, names) {
            for &element in self.holders.get(name.0) {
                set.insert(element);
            }
        }
        set
    }

    /// The attribute names that a name test accepts.
    pub(super) fn attribute_ids(&self, test: NameTest, names: &Names) -> Vec<NameId> {
        let known = 1..self.attribute_names.len() as u32;
        match test {
            NameTest::Any => known.map(NameId).collect(),
            NameTest::Name(id) => {
                let (uri, local) = names.parts(id);
                let find = |uri, local| {
                    self.attribute_names.resolve(self.attribute_names.namespace(uri), local).name
                };
                let found = [find(uri, local), find(ANYTHING, ANYTHING)];
                found.into_iter().filter(|&found| found != NameId::OTHER).collect()
            }
            NameTest::Partial(id) => {
                let fits = |parts: (&str, &str)| parts.1 == ANYTHING || agrees(parts, id, names);
                known.map(NameId).filter(|&known| fits(self.attribute_names.parts(known))).collect()
            }
        }
    }

    /// All elements, without the document node.
    pub fn all_elements(&self) -> ElementSet {
        let mut set = ElementSet::full(self.bound());
        set.remove(self.document());
        set
    }

    /// What may be one level below some of a set.
    pub fn children_of(&self, set: &ElementSet) -> ElementSet {
        if set.meets(&self.open) {
            return self.all_elements();
        }
        let mut out = ElementSet::new(self.bound());
        for element in set.iter() {
            self.below.get(element).iter().for_each(|&child| {
                out.insert(child);
            });
        }
        out
    }

    /// What may be one level above some of a set.
    pub fn parents_of(&self, set: &ElementSet) -> ElementSet {
        let mut out = ElementSet::new(self.bound());
        if set.first().is_some_and(|first| first < self.document()) {
            out.unite(&self.open);
        }
        for element in set.iter().take_while(|&element| element < self.document()) {
            self.above.get(element).iter().for_each(|&parent| {
                out.insert(parent);
            });
        }
        out
    }

    /// What may be so many levels below some of a set, or so many and more.
    pub fn descend(&self, set: &ElementSet, min: u32, exact: bool) -> ElementSet {
        let out = repeat(set.clone(), min, |set| self.children_of(set));
        if exact { out } else { self.closure(out, false) }
    }

    /// From where some of a set may be so many levels below, or so many and more.
    pub fn ascend(&self, set: &ElementSet, min: u32, exact: bool) -> ElementSet {
        let out = repeat(set.clone(), min, |set| self.parents_of(set));
        match out.single() {
            Some(one) if !exact && one < self.document() && self.len() <= REMEMBERED => {
                let mut all = self.ancestors(one).clone();
                all.insert(one);
                all
            }
            _ if exact => out,
            _ => self.closure(out, true),
        }
    }

    /// The elements, and perhaps the document node, that an element may be below at any depth.
    pub(super) fn ancestors(&self, element: ElementId) -> &ElementSet {
        let all = self.ancestors.get_or_init(|| (0..self.len()).map(|_| OnceLock::new()).collect());
        all[element as usize].get_or_init(|| {
            let direct = self.parents_of(&ElementSet::one(self.bound(), element));
            self.closure(direct, true)
        })
    }

    /// The elements that may be below an element, or the document node, at any depth.
    pub fn reachable(&self, element: ElementId) -> ElementSet {
        self.descend(&ElementSet::one(self.bound(), element), 1, false)
    }

    /// The elements that a document can have.
    pub fn occurring(&self) -> &ElementSet {
        self.occurring.get_or_init(|| self.reachable(self.document()))
    }

    /// The set and all that follows from it, downwards or upwards.
    fn closure(&self, mut set: ElementSet, up: bool) -> ElementSet {
        if !up && set.meets(&self.open) {
            set.unite(&self.all_elements());
            return set;
        }
        let mut opened = !up;
        let mut todo: Vec<ElementId> = set.iter().collect();
        while let Some(element) = todo.pop() {
            if element == self.document() && up {
                continue;
            }
            let listed = if up { self.above.get(element) } else { self.below.get(element) };
            for &next in listed {
                if set.insert(next) {
                    todo.push(next);
                }
            }
            if !opened {
                // Below an element of content ANY is every element, so all of them are above this one.
                opened = true;
                todo.extend(self.open.iter().filter(|&next| set.insert(next)));
            }
            if !up && self.open.contains(element) {
                set.unite(&self.all_elements());
                return set;
            }
        }
        set
    }

    /// Elements with text in them or below them.
    pub(super) fn with_text(&self) -> &ElementSet {
        self.with_text.get_or_init(|| {
            let mut own = ElementSet::new(self.bound());
            (0..self.document()).filter(|&each| self.content(each) >= Content::Mixed).for_each(|each| {
                own.insert(each);
            });
            self.closure(own, true)
        })
    }

    /// What the text of an element may be, where that is declared.
    pub fn texts(&self, element: ElementId) -> Option<&Values> {
        let text = self.elements.get(element as usize).map(|element| &element.text);
        text.filter(|values| **values != Values::Free)
    }

    /// Heap bytes held, without what is derived.
    pub fn memory_bytes(&self) -> usize {
        let attributes: usize = self.elements.iter().map(|element| element.attributes.capacity()).sum();
        self.names.memory_bytes()
            + self.attribute_names.memory_bytes()
            + self.elements.capacity() * size_of::<Element>()
            + attributes * size_of::<Attribute>()
            + (self.below.total() + self.above.total() + self.holders.total()) * size_of::<ElementId>()
            + 8 * self.bound()
    }
}

/// A step taken so many times. The sets repeat sooner or later: a round that is met again is not walked again.
fn repeat(set: ElementSet, times: u32, step: impl Fn(&ElementSet) -> ElementSet) -> ElementSet {
    let (mut now, mut left) = (set, times);
    let (mut met, mut since, mut wait) = (now.clone(), 0, 1);
    while left > 0 && !now.is_empty() {
        now = step(&now);
        left -= 1;
        since += 1;
        if now == met {
            left %= since;
        }
        if since == wait {
            (met, since, wait) = (now.clone(), 0, wait.saturating_mul(2));
        }
    }
    now
}

/// Whether a name is one of an `n:*` or a `*:a` of an expression.
fn agrees(name: (&str, &str), partial: NameId, names: &Names) -> bool {
    let (uri, local) = names.parts(partial);
    if names.is_local(partial) { name.1 == local } else { name.0 == uri }
}
