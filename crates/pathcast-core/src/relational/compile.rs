//! Expressions to rows: patterns, their edges and their value tests.
//!
//! A pattern is a node name and a set of branches. Its number is made from these, so equal sub-patterns of different
//! expressions are one pattern with one set of rows. Its level is its height: a pattern whose branches all end at
//! patterns without branches has level 1. An edge's *frame* is what it asks of a document (the names at both ends and
//! the depth differences); a test's *predicate* is what it asks of a value. Both are numbered the same way, so each
//! distinct one is looked for once in a document.
//!
//! An expression is one or more patterns on the document node, any of which makes it match (disjunctive normal form).
//!
//! Cost: linear in the size of the terms; memory: the distinct rows of the set.

use super::numbers::{Key, Met, Numbers};
use super::parts::{Branch, Operation, Parts, Subject, Weakener};
use super::{ANY, DOCUMENT, STRING_VALUE, TEXT, UNBOUNDED, spell};
use crate::limits::Limits;
use crate::names::{Names, Namespaces};
use crate::pattern::{NameTest, Scope, Written};
use crate::values::Comparison;
use crate::xpath::{XPathError, XPathErrorKind};

/// How much of an expression tables take; what is beyond is left to whoever decides the candidates.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Levels of one pattern; each costs a round of statements.
    pub levels: usize,
    /// Terms of one expression's disjunctive normal form.
    pub alternatives: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { levels: 16, alternatives: 64 }
    }
}

/// The pattern that every document matches.
pub const ALWAYS: i64 = 0;

/// What an edge asks of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FrameRow {
    pub frame: i64,
    pub high_node: Box<str>,
    pub low_node: Box<str>,
    pub min_diff: i32,
    pub max_diff: i32,
}

/// An edge of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct EdgeRow {
    pub level: i32,
    pub id: i64,
    /// The number of the branch among those of the pattern.
    pub branch: i32,
    /// How many branches the pattern has.
    pub branches: i32,
    pub frame: i64,
    /// The pattern at the lower end.
    pub low: i64,
    /// Whether that one has no branches.
    pub leaf: bool,
}

/// What a test asks of a value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PredicateRow {
    pub predicate: i64,
    pub node: Box<str>,
    pub name: Box<str>,
    /// 0 to 5 are `=`, `>`, `>=`, `<`, `<=`, `!=`; 6 is "there is one".
    pub operation: i32,
    pub text: Option<Box<str>>,
    pub number: Option<f64>,
}

/// A value test of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TestRow {
    pub level: i32,
    pub id: i64,
    pub branch: i32,
    pub branches: i32,
    pub predicate: i64,
}

/// A pattern that makes an expression match, or a candidate if it is not exact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TopRow {
    /// Which expression, in the order given.
    pub expression: usize,
    pub pattern: i64,
    pub exact: bool,
    /// Whether the expression has more rows than this one.
    pub several: bool,
}

/// The rows of a set of expressions.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Rows {
    pub frames: Vec<FrameRow>,
    pub edges: Vec<EdgeRow>,
    pub predicates: Vec<PredicateRow>,
    pub tests: Vec<TestRow>,
    pub tops: Vec<TopRow>,
}

/// Turns expressions into rows.
pub struct Compiler {
    limits: Limits,
    namespaces: Namespaces,
    ignore_namespaces: bool,
    bounds: Bounds,
    names: Names,
    numbers: Numbers,
    rows: Rows,
    /// Expressions seen.
    count: usize,
}

/// One branch of a pattern as numbers; the order of branches is the order of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Edge { frame: i64, low: i64, leaf: bool },
    Test { predicate: i64 },
}

/// A pattern's number and height.
#[derive(Clone, Copy)]
struct Built {
    id: i64,
    level: i32,
}

impl Compiler {
    /// A compiler for one database, which `key` is of.
    pub fn new(
        limits: Limits,
        namespaces: Namespaces,
        ignore_namespaces: bool,
        key: Key,
        bounds: Bounds,
    ) -> Self {
        Self {
            limits,
            namespaces,
            ignore_namespaces,
            bounds,
            names: Names::default(),
            numbers: Numbers::new(key),
            rows: Rows::default(),
            count: 0,
        }
    }

    /// Adds the next expression.
    ///
    /// # Errors
    /// It is refused; the rows are then of no use.
    pub fn add(&mut self, written: &Written) -> Result<(), XPathError> {
        let expression = self.count;
        self.count += 1;
        let mut scope = Scope {
            names: &mut self.names,
            namespaces: &[&written.namespaces, &self.namespaces],
            ignore_namespaces: self.ignore_namespaces,
        };
        let condition = written.condition(&mut scope, &self.limits)?;
        let weakener = Weakener {
            names: &self.names,
            ignore_namespaces: self.ignore_namespaces,
            alternatives: self.bounds.alternatives,
        };
        let terms = weakener.at_document(&condition, self.bounds.levels);
        let first = self.rows.tops.len();
        for term in &terms {
            let pattern = self.top(term).map_err(|Met| met())?;
            let known = &mut self.rows.tops[first..];
            match known.iter_mut().find(|row| row.pattern == pattern) {
                Some(row) => row.exact |= term.exact,
                None => {
                    let exact = term.exact;
                    self.rows.tops.push(TopRow { expression, pattern, exact, several: false });
                }
            }
        }
        let several = self.rows.tops.len() > first + 1;
        self.rows.tops[first..].iter_mut().for_each(|row| row.several = several);
        Ok(())
    }

    /// The rows of all expressions.
    pub fn finish(self) -> Rows {
        self.rows
    }

    fn top(&mut self, term: &Parts) -> Result<i64, Met> {
        if term.branches.is_empty() {
            return Ok(ALWAYS);
        }
        Ok(self.pattern(DOCUMENT, &term.branches)?.id)
    }

    /// A pattern's number; its rows are written when it is new.
    fn pattern(&mut self, node: &str, branches: &[Branch]) -> Result<Built, Met> {
        let mut level = 0;
        let mut slots = Vec::with_capacity(branches.len());
        for branch in branches {
            let (slot, below) = self.slot(node, branch)?;
            slots.push(slot);
            level = level.max(below + 1);
        }
        slots.sort_unstable();
        slots.dedup();
        let mut content = Vec::with_capacity(node.len() + 1 + 17 * slots.len());
        content.extend_from_slice(node.as_bytes());
        content.push(0);
        for slot in &slots {
            let (kind, first, second) = match *slot {
                Slot::Edge { frame, low, .. } => (0, frame, low),
                Slot::Test { predicate } => (1, predicate, 0),
            };
            content.push(kind);
            content.extend_from_slice(&first.to_le_bytes());
            content.extend_from_slice(&second.to_le_bytes());
        }
        let (id, new) = self.numbers.of(b'p', &content)?;
        if new {
            self.write(id, level, &slots);
        }
        Ok(Built { id, level })
    }

    fn write(&mut self, id: i64, level: i32, slots: &[Slot]) {
        let branches = slots.len() as i32;
        for (branch, slot) in (0..).zip(slots) {
            match *slot {
                Slot::Edge { frame, low, leaf } => {
                    self.rows.edges.push(EdgeRow { level, id, branch, branches, frame, low, leaf });
                }
                Slot::Test { predicate } => {
                    self.rows.tests.push(TestRow { level, id, branch, branches, predicate });
                }
            }
        }
    }

    /// A branch as numbers, and the height of what hangs on it.
    fn slot(&mut self, node: &str, branch: &Branch) -> Result<(Slot, i32), Met> {
        match branch {
            Branch::Edge { min, exact, name, branches } => {
                let low_node = self.element(*name);
                let low = self.pattern(&low_node, branches)?;
                let frame = self.frame(node, &low_node, *min, *exact)?;
                Ok((Slot::Edge { frame, low: low.id, leaf: branches.is_empty() }, low.level))
            }
            Branch::Test(subject, operation) => {
                let predicate = self.predicate(node, *subject, operation)?;
                Ok((Slot::Test { predicate }, 0))
            }
        }
    }

    fn frame(&mut self, high: &str, low: &str, min: u32, exact: bool) -> Result<i64, Met> {
        let min_diff = min as i32;
        let max_diff = if exact { min_diff } else { UNBOUNDED };
        let content = format!("{high}\0{low}\0{min_diff}\0{max_diff}");
        let (frame, new) = self.numbers.of(b'f', content.as_bytes())?;
        if new {
            let (high_node, low_node) = (high.into(), low.into());
            self.rows.frames.push(FrameRow { frame, high_node, low_node, min_diff, max_diff });
        }
        Ok(frame)
    }

    fn predicate(&mut self, node: &str, subject: Subject, operation: &Operation) -> Result<i64, Met> {
        let name = match subject {
            Subject::Own => STRING_VALUE.to_owned(),
            Subject::Text => TEXT.to_owned(),
            Subject::Attribute(name) => format!("@{}", self.element(name)),
        };
        let (operation, text, number) = match operation {
            Operation::Exists => (6, None, None),
            Operation::Equals(text) => (0, Some(text.clone()), None),
            Operation::Differs(text) => (5, Some(text.clone()), None),
            Operation::Number(comparison, number) => (code(*comparison), None, Some(number.get())),
        };
        let kind = u8::from(text.is_some()) << 1 | u8::from(number.is_some());
        let mut content = format!("{node}\0{name}\0{operation}\0{kind}\0").into_bytes();
        content.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
        content.extend_from_slice(&number.unwrap_or_default().to_bits().to_le_bytes());
        let (predicate, new) = self.numbers.of(b'v', &content)?;
        if new {
            let (node, name) = (node.into(), name.into());
            self.rows.predicates.push(PredicateRow { predicate, node, name, operation, text, number });
        }
        Ok(predicate)
    }

    /// How tables spell a name test.
    fn element(&self, name: NameTest) -> String {
        let (NameTest::Name(id) | NameTest::Namespace(id)) = name else { return ANY.to_owned() };
        let (uri, local) = self.names.parts(id);
        let mut text = String::with_capacity(uri.len() + local.len() + 2);
        if uri.is_empty() && matches!(name, NameTest::Namespace(_)) {
            text.push_str("{}"); // every name without a namespace, which is not every name
        }
        spell(uri, local, &mut text);
        if text.contains('\0') {
            // A namespace that no document can have; databases refuse the character, XML this one.
            text = text.replace('\0', "\u{FFFF}");
        }
        text
    }
}

fn code(comparison: Comparison) -> i32 {
    match comparison {
        Comparison::Equal => 0,
        Comparison::Greater => 1,
        Comparison::GreaterEqual => 2,
        Comparison::Less => 3,
        Comparison::LessEqual => 4,
        Comparison::NotEqual => 5,
    }
}

fn met() -> XPathError {
    XPathError {
        kind: XPathErrorKind::Unsupported,
        message: "a part of this expression has the number of another one in this database; \
                  write it in another way"
            .into(),
        column: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(expressions: &[&str]) -> Rows {
        let mut compiler = Compiler::new(
            Limits::default(),
            Vec::new(),
            false,
            (1, 2),
            Bounds { levels: 4, alternatives: 4 },
        );
        for expression in expressions {
            compiler.add(&Written::new(expression, false, &Vec::new())).unwrap();
        }
        compiler.finish()
    }

    #[test]
    fn equal_sub_patterns_are_written_once() {
        let alone = rows(&["/a/b[@x = 1]/c"]);
        let both = rows(&["/a/b[@x = 1]/c", "//d/b[@x = 1]/c"]);
        assert_eq!(both.tests.len(), 1);
        assert_eq!(both.edges.len(), alone.edges.len() + 2);
        assert_eq!(rows(&["/a[b][c]", "/a[c]/b"]).tops.iter().map(|top| top.pattern).max(), {
            rows(&["/a[c][b]"]).tops.first().map(|top| top.pattern)
        });
    }

    #[test]
    fn wildcards_are_merged_and_the_document_node_is_constrained() {
        let rows = rows(&["/a", "//a", "/a/*//b"]);
        let differences: Vec<_> = rows
            .frames
            .iter()
            .map(|frame| (&*frame.high_node, &*frame.low_node, frame.min_diff, frame.max_diff))
            .collect();
        assert_eq!(
            differences,
            [("#document", "a", 1, 1), ("#document", "a", 1, UNBOUNDED), ("a", "b", 2, UNBOUNDED)]
        );
    }

    #[test]
    fn what_tables_cannot_say_is_not_exact() {
        let exact = |expression| rows(&[expression]).tops.iter().map(|top| top.exact).collect::<Vec<_>>();
        assert_eq!(exact("/a[b = 2 or c]/d"), [true, true]);
        assert_eq!(exact("/a[not(b)]"), [false]);
        assert_eq!(exact("/a[contains(b, 'x')]"), [false]);
        assert_eq!(exact("/a/b/following-sibling::c"), [false]);
        assert_eq!(exact("/a/b/c/d"), [true]);
        assert_eq!(exact("/a/b/c/d/e"), [false], "too many levels");
        assert_eq!(exact("/a[b or c][d or e][f or g]"), [false, false, false, false], "too many terms");
        assert_eq!(exact("not(/a)"), [false]);
        assert_eq!(exact("/"), [true]);
        assert!(exact("/a['x' = 'y']").is_empty());
    }
}
