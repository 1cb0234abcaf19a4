//! Conditions written as XPath, for people.
//!
//! A printed condition parses back to an equal one, ordered branches aside: they are written as predicates in their
//! order, and mean what they should in ordered mode only.

use std::fmt::Write as _;

use super::condition::{Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest};
use crate::names::Names;
use crate::values::ValueTest;
use crate::xpath::ast::{self, Expr};

/// Writes conditions with the prefixes of a set of namespaces.
pub struct Printer<'a> {
    /// What the numbers of names stand for.
    pub names: &'a Names,
    /// Prefixes to namespace URIs: the expression's own, then those of all.
    pub namespaces: [&'a [(Box<str>, Box<str>)]; 2],
    /// Whether only local names count.
    pub ignore_namespaces: bool,
}

impl Printer<'_> {
    /// A condition on the document node; a disjunction as several expressions.
    pub fn alternatives(&self, condition: &Condition) -> Vec<String> {
        match condition {
            Condition::False => Vec::new(),
            Condition::Or(any) => any.iter().map(|each| self.expression(each, true)).collect(),
            other => vec![self.expression(other, true)],
        }
    }

    fn joined(&self, parts: &[Condition], word: &str, at_document: bool) -> String {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| {
                let text = self.expression(part, at_document);
                let compound = matches!(part, Condition::Or(_) | Condition::And(_));
                if compound { format!("({text})") } else { text }
            })
            .collect();
        parts.join(word)
    }

    /// A condition as an expression; at the document node paths are absolute.
    fn expression(&self, condition: &Condition, at_document: bool) -> String {
        match condition {
            Condition::True => if at_document { "/" } else { "." }.to_owned(),
            Condition::False => "not(.)".to_owned(),
            Condition::And(parts) => self.joined(parts, " and ", at_document),
            Condition::Or(parts) => self.joined(parts, " or ", at_document),
            Condition::Not(inner) => format!("not({})", self.expression(inner, at_document)),
            Condition::Exists(axis, pattern) => {
                let path = self.path(*axis, pattern);
                match (at_document, path.strip_prefix("//")) {
                    (true, _) => path,
                    (false, Some(_)) => format!(".{path}"),
                    (false, None) => path.trim_start_matches('/').to_owned(),
                }
            }
            Condition::Is(test) => format!("self::{}", self.test(test)),
            Condition::Attribute(name, inner) => self.compared(&self.attribute(*name), inner),
            Condition::Value(test) => value(if at_document { "/" } else { "." }, test),
            Condition::First(path, test) => value(&self.first(path, at_document), test),
            Condition::Root(inner) => self.expression(inner, true),
            Condition::Typed(typed) => self.typed(typed, at_document),
            Condition::Ordered(branches) => {
                let branches: Vec<_> = branches.iter().map(|branch| self.branch(branch)).collect();
                branches.join(" and ")
            }
        }
    }

    /// A step and what follows it: predicates, and one path that goes on.
    fn path(&self, axis: Axis, pattern: &NodePattern) -> String {
        let mut text = match axis {
            Axis::Down { min: 0, exact: true } => "/self::".to_owned(),
            Axis::Down { min: 0, exact: false } => "/descendant-or-self::".to_owned(),
            Axis::Down { min, exact } => {
                let wild = "/*".repeat(min as usize - 1);
                format!("{wild}{}", if exact { "/" } else { "//" })
            }
            Axis::Following => "/following::".to_owned(),
            Axis::FollowingSibling => "/following-sibling::".to_owned(),
            Axis::Preceding => "/preceding::".to_owned(),
            Axis::PrecedingSibling => "/preceding-sibling::".to_owned(),
        };
        text.push_str(&self.test(&pattern.test));
        let parts = match &pattern.condition {
            Condition::True => &[],
            Condition::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        if let [Condition::Attribute(name, value)] = parts
            && **value == Condition::True
        {
            return format!("{text}/{}", self.attribute(*name));
        }
        let last = parts.iter().rposition(|part| matches!(part, Condition::Exists(..)));
        for (at, part) in parts.iter().enumerate() {
            if let Condition::Ordered(branches) = part {
                branches.iter().for_each(|branch| text.push_str(&format!("[{}]", self.branch(branch))));
            } else if Some(at) != last {
                let _ = write!(text, "[{}]", self.expression(part, false));
            }
        }
        if let Some(Condition::Exists(axis, pattern)) = last.map(|last| &parts[last]) {
            text.push_str(&self.path(*axis, pattern));
        }
        text
    }

    fn branch(&self, branch: &Branch) -> String {
        match branch {
            Branch::Exists { min, exact, pattern } => {
                let axis = Axis::Down { min: *min, exact: *exact };
                self.expression(&Condition::Exists(axis, Box::new(pattern.clone())), false)
            }
            Branch::First(path, test) => value(&self.first(path, false), test),
        }
    }

    fn first(&self, path: &[FirstStep], at_document: bool) -> String {
        let steps: String = path
            .iter()
            .map(|step| match step {
                FirstStep::Node(axis, pattern) => self.path(*axis, pattern),
                FirstStep::Attribute(name, inner) => match inner {
                    Condition::True => format!("/{}", self.attribute(*name)),
                    inner => format!("/{}[{}]", self.attribute(*name), self.expression(inner, false)),
                },
            })
            .collect();
        if at_document {
            steps
        } else if steps.starts_with("//") {
            format!(".{steps}")
        } else {
            steps.trim_start_matches('/').to_owned()
        }
    }

    /// An attribute with the condition on its value, as a comparison where it is one.
    fn compared(&self, attribute: &str, condition: &Condition) -> String {
        match condition {
            Condition::True => attribute.to_owned(),
            Condition::Value(test) => value(attribute, test),
            other => format!("{attribute}[{}]", self.expression(other, false)),
        }
    }

    pub(super) fn test(&self, test: &NodeTest) -> String {
        match test {
            NodeTest::Element(name) => self.name(*name, true),
            NodeTest::Node => "node()".to_owned(),
            NodeTest::Text => "text()".to_owned(),
            NodeTest::Comment => "comment()".to_owned(),
            NodeTest::Instruction(None) => "processing-instruction()".to_owned(),
            NodeTest::Instruction(Some(target)) => format!("processing-instruction('{target}')"),
        }
    }

    pub(super) fn attribute(&self, name: NameTest) -> String {
        format!("@{}", self.name(name, false))
    }

    /// A name test, of elements or of attributes, in a spelling that means the same here.
    fn name(&self, name: NameTest, element: bool) -> String {
        let (NameTest::Name(id) | NameTest::Partial(id)) = name else { return "*".to_owned() };
        let (uri, local) = self.names.parts(id);
        let bound = || self.namespaces.iter().flat_map(|map| map.iter());
        let meaning = |prefix: &str| bound().find(|(each, _)| **each == *prefix).map(|(_, uri)| &**uri);
        let mut prefixes = bound().map(|(prefix, _)| &**prefix);
        let prefix = prefixes.find(|&prefix| !prefix.is_empty() && meaning(prefix) == Some(uri));
        let unprefixed =
            if element && !self.ignore_namespaces { meaning("").unwrap_or_default() } else { "" };
        let test = match (name, prefix) {
            (NameTest::Partial(id), _) if self.names.is_local(id) => ast::NodeTest::Local(local),
            (NameTest::Partial(_), None) => ast::NodeTest::Uri(uri),
            (NameTest::Partial(_), Some(prefix)) => ast::NodeTest::Namespace(prefix),
            _ if uri == unprefixed => ast::NodeTest::Name(None, local),
            (_, Some(prefix)) => ast::NodeTest::Name(Some(prefix), local),
            _ => ast::NodeTest::Expanded(uri, local),
        };
        test.to_string()
    }
}

fn value(subject: &str, test: &ValueTest) -> String {
    let literal = |text: &str| Expr::Literal(text).to_string();
    match test {
        ValueTest::Equals(text) => format!("{subject} = {}", literal(text)),
        ValueTest::Differs(text) => format!("{subject} != {}", literal(text)),
        ValueTest::Number(comparison, number) => {
            format!("{subject} {comparison} {}", Expr::Number(number.get()))
        }
        ValueTest::Contains(text) => format!("contains({subject}, {})", literal(text)),
        ValueTest::StartsWith(text) => format!("starts-with({subject}, {})", literal(text)),
        ValueTest::ContainedIn(text) => format!("contains({}, {subject})", literal(text)),
        ValueTest::PrefixOf(text) => format!("starts-with({}, {subject})", literal(text)),
    }
}
