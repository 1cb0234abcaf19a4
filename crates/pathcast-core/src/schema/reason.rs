//! Why no valid document can satisfy an expression, in words.

use super::consistency::Feasible;
use super::graph::{ElementId, Graph, Values};
use super::set::ElementSet;
use crate::pattern::{Axis, Branch, Condition, NameTest, NodePattern, NodeTest};

/// As many elements are named in a sentence; more are counted.
const NAMED: usize = 3;

impl Feasible<'_> {
    /// What stands in the way of an impossible condition on the document node.
    pub(super) fn reason(&mut self, condition: &Condition) -> String {
        let document = ElementSet::one(self.graph.bound(), self.graph.document());
        self.walk(condition, document)
    }

    /// Follows a condition that cannot hold at any of the places, down to the step that cannot be taken.
    fn walk(&mut self, condition: &Condition, mut places: ElementSet) -> String {
        let mut condition = condition;
        loop {
            condition = match condition {
                Condition::And(parts) => {
                    let Some(part) = parts.iter().find(|part| {
                        let narrowed = self.narrowed(&places, part);
                        let stuck = narrowed.is_empty();
                        if !stuck {
                            places = narrowed;
                        }
                        stuck
                    }) else {
                        return "its parts exclude each other".into();
                    };
                    part
                }
                Condition::Or(parts) => match parts.split_first() {
                    Some((first, rest)) => {
                        let reason = self.walk(first, places);
                        return match rest.len() {
                            1 => format!("{reason}, and the other alternative is no better"),
                            more => format!("{reason}, and the other {more} alternatives are no better"),
                        };
                    }
                    None => return "nothing is asked for".into(),
                },
                Condition::Exists(Axis::Down { min, exact }, pattern) => {
                    match self.step(*min, *exact, pattern, &mut places) {
                        Some(reason) => return reason,
                        None => &pattern.condition,
                    }
                }
                Condition::Exists(axis, pattern) => return self.beside(*axis, pattern, &places),
                Condition::Root(inner) => return self.reason(inner),
                Condition::Ordered(branches) => {
                    let stuck = branches.iter().find(|branch| !self.branch(branch).meets(&places));
                    match stuck {
                        Some(Branch::Exists { min, exact, pattern }) => {
                            match self.step(*min, *exact, pattern, &mut places) {
                                Some(reason) => return reason,
                                None => &pattern.condition,
                            }
                        }
                        _ => return "its branches cannot be side by side".into(),
                    }
                }
                Condition::Is(test) => {
                    return format!("{} is not {}", self.these(&places), self.wanted(test));
                }
                Condition::Attribute(name, _) => return self.attribute(*name, &places),
                Condition::Value(_) | Condition::First(..) => return self.text(&places),
                Condition::True | Condition::Not(_) | Condition::False | Condition::Typed(_) => {
                    return "the expression contradicts itself".into();
                }
            };
        }
    }

    /// Says in which namespace the schema has an element that the expression looks for in another.
    fn elsewhere(&self, name: NameTest) -> Option<String> {
        let NameTest::Name(id) = name else { return None };
        let (uri, local) = self.names.parts(id);
        if self.graph.element(uri, local).is_some() {
            return None;
        }
        let mut elements = (0..self.graph.document()).map(|element| self.graph.name(element));
        let (other, _) = elements.find(|each| each.1 == local)?;
        let within = |uri: &str| {
            if uri.is_empty() { "in no namespace".into() } else { format!("in the namespace '{uri}'") }
        };
        Some(format!(
            "the schema has '{local}' {}, and the expression looks for it {}",
            within(other),
            within(uri)
        ))
    }

    fn narrowed(&mut self, places: &ElementSet, part: &Condition) -> ElementSet {
        let mut narrowed = places.clone();
        narrowed.intersect(&self.holds(part));
        narrowed
    }

    /// Takes a step down, or says why it cannot be taken.
    fn step(
        &mut self,
        min: u32,
        exact: bool,
        pattern: &NodePattern,
        places: &mut ElementSet,
    ) -> Option<String> {
        let NodeTest::Element(name) = pattern.test else {
            return Some(format!("{} holds no such {}", self.these(places), self.wanted(&pattern.test)));
        };
        let named = self.graph.named(name, self.names);
        let wanted = self.wanted(&pattern.test);
        let mut reached = self.graph.descend(places, min, exact);
        reached.intersect(&named);
        if !reached.is_empty() {
            *places = reached;
            return None;
        }
        if let Some(elsewhere) = self.elsewhere(name) {
            return Some(elsewhere);
        }
        if named.is_empty() {
            return Some(format!("the schema has no {wanted}"));
        }
        let document = self.graph.document();
        let levels = if min == 1 { "level" } else { "levels" };
        Some(if places.single() == Some(document) {
            match (min, exact) {
                (1, true) => {
                    let roots = self.graph.children_of(places);
                    match roots.len() {
                        0 => "the schema has no elements".into(),
                        1..=NAMED => format!("the root is {}, not {wanted}", self.these(&roots)),
                        _ => format!("the root cannot be {wanted}"),
                    }
                }
                (0 | 1, false) => format!("no {wanted} can be in the document"),
                (_, true) => format!("no {wanted} can be {min} levels deep"),
                (_, false) => format!("no {wanted} can be {min} or more levels deep"),
            }
        } else {
            let these = self.these(places);
            match (min, exact) {
                (1, true) => format!("no {wanted} can be directly inside {these}"),
                (0 | 1, false) => format!("no {wanted} can be inside {these}"),
                (_, true) => format!("no {wanted} can be {min} {levels} inside {these}"),
                (_, false) => format!("no {wanted} can be {min} or more levels inside {these}"),
            }
        })
    }

    fn beside(&mut self, axis: Axis, pattern: &NodePattern, places: &ElementSet) -> String {
        let (wanted, these) = (self.wanted(&pattern.test), self.these(places));
        if let NodeTest::Element(name) = pattern.test {
            let mut anywhere = self.graph.occurring().clone();
            anywhere.intersect(&self.graph.named(name, self.names));
            if anywhere.is_empty() {
                return format!("no {wanted} can be in the document");
            }
            if !self.fitting(pattern).meets(&anywhere) {
                return self.walk(&pattern.condition, anywhere);
            }
        }
        match axis {
            Axis::FollowingSibling | Axis::PrecedingSibling => format!("no {wanted} can be beside {these}"),
            _ => format!("no {wanted} can be before or after {these}"),
        }
    }

    fn attribute(&self, name: NameTest, places: &ElementSet) -> String {
        let (these, label) = (self.these(places), self.label(name));
        let ids = self.graph.attribute_ids(name, self.names);
        let mut declared = places.iter().filter(|&each| each < self.graph.document()).flat_map(|each| {
            self.graph.elements[each as usize].attributes.iter().filter(|each| ids.contains(&each.name))
        });
        match declared.next().map(|attribute| &attribute.values) {
            None if name == NameTest::Any => format!("{these} has no attributes"),
            None => format!("{these} has no attribute {label}"),
            Some(Values::Fixed(value)) => format!("attribute {label} of {these} is always '{value}'"),
            Some(Values::Tokens(tokens)) => {
                format!("attribute {label} of {these} is one of {}", listed(tokens))
            }
            Some(Values::Free) => format!("attribute {label} of {these} has no such value"),
        }
    }

    fn text(&self, places: &ElementSet) -> String {
        let these = self.these(places);
        let declared = places.single().and_then(|only| self.graph.elements.get(only as usize));
        match declared.map(|element| &element.text) {
            Some(Values::Tokens(tokens)) => format!("the text of {these} is one of {}", listed(tokens)),
            _ => format!("{these} holds no such text"),
        }
    }

    fn wanted(&self, test: &NodeTest) -> String {
        match test {
            NodeTest::Element(name) => self.label(*name),
            NodeTest::Node => "node".into(),
            NodeTest::Text => "text".into(),
            NodeTest::Comment => "comment".into(),
            NodeTest::Instruction(_) => "processing instruction".into(),
        }
    }

    fn label(&self, name: NameTest) -> String {
        match name {
            NameTest::Any => "element".into(),
            NameTest::Name(id) | NameTest::Partial(id) => quoted(self.names.parts(id)),
        }
    }

    fn these(&self, places: &ElementSet) -> String {
        let count = places.len();
        if count > NAMED {
            return format!("any of {count} elements");
        }
        let named: Vec<String> = places.iter().map(|place| self.graph.label(place)).collect();
        named.join(" or ")
    }
}

impl Graph {
    /// An element's name in a sentence.
    pub(super) fn label(&self, element: ElementId) -> String {
        if element == self.document() { "the document".into() } else { quoted(self.name(element)) }
    }
}

fn quoted((uri, local): (&str, &str)) -> String {
    if uri.is_empty() { format!("'{local}'") } else { format!("'{{{uri}}}{local}'") }
}

fn listed(tokens: &[Box<str>]) -> String {
    let quoted: Vec<String> = tokens.iter().map(|token| format!("'{token}'")).collect();
    quoted.join(", ")
}
