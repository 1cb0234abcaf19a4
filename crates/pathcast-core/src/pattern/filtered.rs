//! Paths with filters on attributes, and the decomposition of a twig into such paths.
//!
//! A filter asks one element about its attributes alone, values included, so an engine that sees them can decide it at
//! the start tag. A twig decomposes into the paths from the document node to its leaves, each with the filters on its
//! way: all of them are in every document that satisfies the twig. A twig that is one path and nothing else *is* that
//! path.

use super::build::{and, exists};
use super::condition::{Axis, Branch, Condition, NameTest, NodePattern, NodeTest};
use super::linear::{LinearPath, LinearStep, Tail};
use crate::names::Resolved;

/// A path whose steps may ask for attributes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FilteredPath {
    /// The steps.
    pub steps: Vec<FilteredStep>,
    /// Levels of any elements below the last step.
    pub wild: u32,
}

/// An element and the gap before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilteredStep {
    /// Levels from the step before, or from the document node; 0 only after a step and if not exact.
    pub min: u32,
    /// Whether more levels do not count.
    pub exact: bool,
    /// The name; `Any` only with a filter.
    pub name: NameTest,
    /// What is asked of its attributes; see [`is_filter`].
    pub filter: Condition,
}

/// Sub-paths of one twig that are looked for; a twig with more is asked about its first ones.
const SUB_PATHS: usize = 16;

/// Whether a condition asks about the attributes of its node and nothing else.
pub fn is_filter(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().all(is_filter),
        Condition::Not(inner) => is_filter(inner),
        Condition::Attribute(_, value) => is_value(value),
        _ => false,
    }
}

fn is_value(condition: &Condition) -> bool {
    match condition {
        Condition::True | Condition::Value(_) => true,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().all(is_value),
        Condition::Not(inner) => is_value(inner),
        _ => false,
    }
}

/// Whether an element with these attributes passes a filter.
pub fn passes<'v>(filter: &Condition, names: &[Resolved], value: &impl Fn(usize) -> &'v str) -> bool {
    match filter {
        Condition::True => true,
        Condition::And(parts) => parts.iter().all(|part| passes(part, names, value)),
        Condition::Or(parts) => parts.iter().any(|part| passes(part, names, value)),
        Condition::Not(inner) => !passes(inner, names, value),
        Condition::Attribute(name, inner) => {
            let mut numbered = names.iter().enumerate();
            numbered.any(|(at, &found)| name.admits(found) && accepts(inner, value(at)))
        }
        _ => false,
    }
}

fn accepts(condition: &Condition, value: &str) -> bool {
    match condition {
        Condition::True => true,
        Condition::Value(test) => test.accepts(value),
        Condition::And(parts) => parts.iter().all(|part| accepts(part, value)),
        Condition::Or(parts) => parts.iter().any(|part| accepts(part, value)),
        Condition::Not(inner) => !accepts(inner, value),
        _ => false,
    }
}

/// Heap bytes that a filter holds.
pub fn heap_bytes(filter: &Condition) -> usize {
    match filter {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.capacity() * size_of::<Condition>() + parts.iter().map(heap_bytes).sum::<usize>()
        }
        Condition::Not(inner) | Condition::Attribute(_, inner) => size_of::<Condition>() + heap_bytes(inner),
        Condition::Value(test) => test.memory_bytes(),
        _ => 0,
    }
}

impl FilteredPath {
    /// The condition on the document node that the path is.
    pub fn to_condition(&self) -> Condition {
        let end = match self.wild {
            0 => Condition::True,
            min => exists(Axis::Down { min, exact: true }, NodeTest::Element(NameTest::Any), Condition::True),
        };
        self.steps.iter().rev().fold(end, |found, step| {
            let axis = Axis::Down { min: step.min, exact: step.exact };
            exists(axis, NodeTest::Element(step.name), and([step.filter.clone(), found]))
        })
    }

    /// A path as one with filters; `None` for an attribute of the document node, which is never found.
    pub fn from_linear(path: &LinearPath) -> Option<Self> {
        let plain = |step: &LinearStep| FilteredStep {
            min: step.min,
            exact: step.exact,
            name: step.name,
            filter: Condition::True,
        };
        let mut steps: Vec<_> = path.steps.iter().map(plain).collect();
        let mut wild = 0;
        match path.tail {
            Tail::End => {}
            Tail::Wild(levels) => wild = levels,
            Tail::Attribute { min, exact, name } => {
                let filter = Condition::Attribute(name, Box::new(Condition::True));
                if (min, exact) == (0, true) {
                    steps.last_mut()?.filter = filter;
                } else {
                    let min = if steps.is_empty() { min.max(1) } else { min };
                    steps.push(FilteredStep { min, exact, name: NameTest::Any, filter });
                }
            }
        }
        Some(Self { steps, wild })
    }
}

/// The path with filters that a condition on the document node is, if it is one.
pub fn as_filtered(condition: &Condition) -> Option<FilteredPath> {
    let mut parts = Decomposition { paths: Vec::new(), exact: true };
    parts.collect(&Prefix::default(), condition);
    if parts.exact && parts.paths.len() == 1 { parts.paths.pop() } else { None }
}

/// Paths that are all in every document which satisfies the condition, the longest first.
pub fn decompose(condition: &Condition) -> Vec<FilteredPath> {
    let mut parts = Decomposition { paths: Vec::new(), exact: true };
    parts.collect(&Prefix::default(), condition);
    let mut paths = parts.paths;
    paths.sort_by_key(|path| std::cmp::Reverse(path.steps.len()));
    paths
}

struct Decomposition {
    paths: Vec<FilteredPath>,
    /// Whether the paths say all that the condition says, if there is one.
    exact: bool,
}

/// The way to the node that a condition is about.
#[derive(Clone, Default)]
struct Prefix {
    steps: Vec<FilteredStep>,
    /// Levels from the last step to the node.
    gap: u32,
    /// Whether there may be more.
    open: bool,
    /// Whether the node is an element for sure.
    element: bool,
}

impl Prefix {
    /// On to a node below; `None` when nothing is gained by it.
    fn down(&self, min: u32, exact: bool, test: &NodeTest) -> Option<Self> {
        let mut next = self.clone();
        next.gap += min;
        next.open |= !exact;
        match test {
            NodeTest::Element(NameTest::Any) => next.element = true,
            NodeTest::Element(name) => {
                next.element = true;
                next.step(*name, Condition::True)?;
            }
            NodeTest::Node if min == 0 => next.element = false,
            _ => return None,
        }
        Some(next)
    }

    /// Makes the node a step of its own.
    fn step(&mut self, name: NameTest, filter: Condition) -> Option<()> {
        if self.gap == 0 && !self.open {
            return None;
        }
        let min = if self.steps.is_empty() { self.gap.max(1) } else { self.gap };
        self.steps.push(FilteredStep { min, exact: !self.open, name, filter });
        (self.gap, self.open) = (0, false);
        Some(())
    }

    /// Asks the node about its attributes.
    fn filter(&mut self, filter: Condition) -> Option<()> {
        if !self.element {
            return None;
        }
        match self.steps.last_mut() {
            Some(step) if self.gap == 0 && !self.open => {
                step.filter = and([std::mem::replace(&mut step.filter, Condition::True), filter]);
                Some(())
            }
            _ => self.step(NameTest::Any, filter),
        }
    }
}

impl Decomposition {
    fn collect(&mut self, prefix: &Prefix, condition: &Condition) {
        let parts = match condition {
            Condition::True => &[],
            Condition::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut prefix = prefix.clone();
        for filter in parts.iter().filter(|part| is_filter(part)) {
            self.exact &= prefix.filter(filter.clone()).is_some();
        }
        let mut led_on = false;
        for part in parts.iter().filter(|part| !is_filter(part)) {
            match part {
                Condition::Exists(Axis::Down { min, exact }, pattern) => {
                    led_on |= self.below(&prefix, *min, *exact, pattern);
                }
                Condition::Exists(_, pattern) => {
                    self.exact = false;
                    self.below(&Prefix::default(), 1, false, pattern);
                }
                Condition::Root(inner) => {
                    self.exact = false;
                    self.collect(&Prefix::default(), inner);
                }
                Condition::Ordered(branches) => {
                    self.exact = false;
                    for branch in branches {
                        if let Branch::Exists { min, exact, pattern } = branch {
                            led_on |= self.below(&prefix, *min, *exact, pattern);
                        }
                    }
                }
                _ => self.exact = false,
            }
        }
        if !led_on {
            self.close(prefix);
        }
    }

    /// Whether there are paths that lead on to such a node.
    fn below(&mut self, prefix: &Prefix, min: u32, exact: bool, pattern: &NodePattern) -> bool {
        let next = prefix.down(min, exact, &pattern.test);
        self.exact &= next.as_ref().is_some_and(|next| next.element);
        if let Some(next) = &next {
            self.collect(next, &pattern.condition);
        }
        next.is_some()
    }

    fn close(&mut self, prefix: Prefix) {
        let path = FilteredPath { steps: prefix.steps, wild: prefix.gap };
        if path != FilteredPath::default() && !self.paths.contains(&path) && self.paths.len() < SUB_PATHS {
            self.paths.push(path);
        } else {
            self.exact = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::names::Names;
    use crate::pattern::{Scope, as_linear, normalise};
    use crate::xpath;

    fn condition(text: &str, names: &mut Names) -> Condition {
        let expression = xpath::parse(text, &Limits::default()).expect(text);
        let mut scope = Scope { names, namespaces: &[], ignore_namespaces: false };
        normalise(&expression, false, &mut scope).expect(text)
    }

    #[test]
    fn what_is_one_path_with_filters_is_that_path() {
        let mut names = Names::default();
        for text in [
            "/a[@x = 3]/b",
            "//a[@x]/*/b[@y > 2 and not(@z)]",
            "//*[@x = 'u']//b",
            "/a//@x",
            "/a/b/*/*",
            "//*[@x][@y]/*",
        ] {
            let condition = condition(text, &mut names);
            let path = as_filtered(&condition).expect(text);
            assert_eq!(path.to_condition(), condition, "{text}");
            if let Some(linear) = as_linear(&condition) {
                assert_eq!(FilteredPath::from_linear(&linear), Some(path), "{text}");
            }
        }
        for text in ["/a[b]/c", "/a[. = 1]", "not(//a)", "//a | //b", "/a/text()", "//a[following::b]", "/"] {
            assert_eq!(as_filtered(&condition(text, &mut names)), None, "{text}");
        }
    }

    #[test]
    fn a_twig_decomposes_into_its_paths() {
        let mut names = Names::default();
        for (text, expected) in [
            ("/a[*/c[d]/e]//c[d]/e", vec!["/a//c/d", "/a//c/e", "/a/*/c/d", "/a/*/c/e"]),
            ("/a[@x = 1][b]/c", vec!["/a[@x = 1]/b", "/a[@x = 1]/c"]),
            ("//a[b or c]/d[. = 1]", vec!["//a/d"]),
            ("//a[/r/s]", vec!["//a", "/r/s"]),
            ("//a[following-sibling::b/c]", vec!["//a", "//b/c"]),
            ("not(//a)", vec![]),
        ] {
            let condition = condition(text, &mut names);
            let expected: Vec<_> = expected
                .into_iter()
                .map(|text| as_filtered(&self::condition(text, &mut names)).expect(text))
                .collect();
            let found = decompose(&condition);
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            assert!(expected.iter().all(|path| found.contains(path)), "{text}: {found:?}");
        }
    }
}
