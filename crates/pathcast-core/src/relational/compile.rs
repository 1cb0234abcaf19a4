//! Expressions to rows: steps, slots, patterns and value tests.
//!
//! Only the places where an expression branches or tests a value matter to a join. Between two of them lies a chain of
//! *steps*, which depends on nothing but the path of names from the root to a node: the database decides it once for
//! each path, not for each node. Chains with a common beginning share their steps, which form a trie.
//!
//! A *pattern* is a set of *slots* that one node must fill. A slot is a chain of steps with what has to be at its end: a
//! passed value test, another pattern, or nothing; then the slot's number is that of the last step. A pattern is written
//! with the slot first that is expected to be the rarest ([`odds`](super::odds)), so that a join starts from few rows. Its
//! level is 1, or one more than that of the highest pattern at the end of a slot.
//!
//! Everything is numbered by its content, so what expressions have in common is written once. An expression is one or
//! more slots or patterns of the document node; any of them makes it match (disjunctive normal form).
//!
//! Cost: linear in the size of the terms; memory: the distinct rows of the set.

use super::numbers::{Key, Kind, Met, Numbered, Numbers};
use super::odds::Odds;
use super::parts::{Branch, Operation, Parts, Subject, Weakener};
use super::{ANY, DOCUMENT, STRING_VALUE, TEXT, UNBOUNDED, spell};
use crate::limits::Limits;
use crate::names::{Names, Namespaces};
use crate::pattern::{NameTest, Scope, Written};
use crate::values::Comparison;
use crate::xpath::{XPathError, XPathErrorKind};

/// How much of an expression goes into tables. Whoever decides the candidates looks at the rest.
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

/// A step down from one named node to another, after its parent step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StepRow {
    pub step: i64,
    pub proof: i64,
    /// The step before, or 0.
    pub parent: i64,
    /// How many steps there are from the beginning of the chain.
    pub level: i32,
    pub high_node: Box<str>,
    pub low_node: Box<str>,
    pub min_diff: i32,
    pub max_diff: i32,
}

/// A chain of steps with a value test or a pattern at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SlotRow {
    pub slot: i64,
    pub proof: i64,
    /// The last step, or 0 when the test is on the node itself.
    pub step: i64,
    /// Whether `low` is a predicate; otherwise it is a pattern.
    pub is_test: bool,
    pub low: i64,
}

/// A set of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PatternRow {
    pub id: i64,
    pub proof: i64,
    pub level: i32,
    /// The slot that is expected to be filled the most seldom.
    pub first: i64,
    /// Another slot, or the same if there is none.
    pub second: i64,
    /// How many more there are.
    pub others: i32,
}

/// A third slot of a pattern, or a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct OtherRow {
    pub id: i64,
    pub slot: i64,
}

/// A value of a node that some test looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SubjectRow {
    pub subject: i64,
    pub proof: i64,
    pub node: Box<str>,
    pub name: Box<str>,
}

/// What a test asks of a value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PredicateRow {
    pub predicate: i64,
    pub proof: i64,
    pub subject: i64,
    /// 0 to 5 are `=`, `>`, `>=`, `<`, `<=`, `!=`; 6 is "there is one".
    pub operation: i32,
    pub text: Option<Box<str>>,
    pub number: Option<f64>,
}

/// A slot or pattern of the document node that makes an expression match, or a candidate if it is not exact.
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
    pub steps: Vec<StepRow>,
    pub slots: Vec<SlotRow>,
    pub patterns: Vec<PatternRow>,
    pub others: Vec<OtherRow>,
    pub subjects: Vec<SubjectRow>,
    pub predicates: Vec<PredicateRow>,
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
    /// The new patterns with their slots; which slot is first is known when all are there.
    patterns: Vec<(PatternRow, Vec<i64>)>,
    /// Expressions seen.
    count: usize,
}

/// A slot's number, and the level of the pattern at its end, or 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    number: i64,
    level: i32,
}

impl Compiler {
    /// A compiler for the database that `key` belongs to.
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
            patterns: Vec::new(),
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
    pub fn finish(mut self) -> Rows {
        let odds = Odds::new(&self.rows, &self.patterns);
        for (mut row, mut slots) in self.patterns {
            slots.sort_unstable_by(|left, right| {
                odds.of(*left).total_cmp(&odds.of(*right)).then(left.cmp(right))
            });
            row.first = slots[0];
            row.second = *slots.get(1).unwrap_or(&row.first);
            let others = slots.get(2..).unwrap_or_default();
            row.others = others.len() as i32;
            self.rows.others.extend(others.iter().map(|slot| OtherRow { id: row.id, slot: *slot }));
            self.rows.patterns.push(row);
        }
        self.rows
    }

    fn top(&mut self, term: &Parts) -> Result<i64, Met> {
        if term.branches.is_empty() {
            return Ok(ALWAYS);
        }
        let slots = self.slots(DOCUMENT, &term.branches)?;
        match *slots {
            [Slot { number, .. }] => Ok(number),
            _ => Ok(self.pattern(&slots)?.number),
        }
    }

    /// What a node must have, sorted and each once.
    fn slots(&mut self, node: &str, branches: &[Branch]) -> Result<Vec<Slot>, Met> {
        let mut slots =
            branches.iter().map(|branch| self.slot(node, branch)).collect::<Result<Vec<_>, _>>()?;
        slots.sort_unstable();
        slots.dedup();
        Ok(slots)
    }

    /// A pattern as a slot without steps; it is written when it is new.
    fn pattern(&mut self, slots: &[Slot]) -> Result<Slot, Met> {
        let content: Vec<u8> = slots.iter().flat_map(|slot| slot.number.to_le_bytes()).collect();
        let level = 1 + slots.iter().map(|slot| slot.level).max().unwrap_or_default();
        let Numbered { number: id, proof, is_new } = self.numbers.of(Kind::Pattern, b'p', &content)?;
        if is_new {
            let row = PatternRow { id, proof, level, first: 0, second: 0, others: 0 };
            self.patterns.push((row, slots.iter().map(|slot| slot.number).collect()));
        }
        Ok(Slot { number: id, level })
    }

    fn slot(&mut self, node: &str, branch: &Branch) -> Result<Slot, Met> {
        let mut branch = branch;
        let mut high: Box<str> = node.into();
        let (mut step, mut depth) = (0, 0);
        loop {
            let branches = match branch {
                Branch::Test(subject, operation) => {
                    let predicate = self.predicate(&high, *subject, operation)?;
                    return self.ended(step, true, Slot { number: predicate, level: 0 });
                }
                Branch::Edge { min, exact, name, branches } => {
                    let low = self.element(*name).into_boxed_str();
                    depth += 1;
                    step = self.step(step, depth, &high, &low, *min, *exact)?;
                    high = low;
                    branches
                }
            };
            match &branches[..] {
                [] => return Ok(Slot { number: step, level: 0 }),
                [only] => branch = only,
                several => {
                    let slots = self.slots(&high, several)?;
                    let pattern = self.pattern(&slots)?;
                    return self.ended(step, false, pattern);
                }
            }
        }
    }

    fn step(
        &mut self,
        parent: i64,
        level: i32,
        high: &str,
        low: &str,
        min: u32,
        exact: bool,
    ) -> Result<i64, Met> {
        let min_diff = min as i32;
        let max_diff = if exact { min_diff } else { UNBOUNDED };
        let content = format!("{parent}\0{high}\0{low}\0{min_diff}\0{max_diff}");
        let Numbered { number: step, proof, is_new } =
            self.numbers.of(Kind::Step, b's', content.as_bytes())?;
        if is_new {
            let (high_node, low_node) = (high.into(), low.into());
            let row = StepRow { step, proof, parent, level, high_node, low_node, min_diff, max_diff };
            self.rows.steps.push(row);
        }
        Ok(step)
    }

    /// A slot that ends in a test or a pattern.
    fn ended(&mut self, step: i64, is_test: bool, low: Slot) -> Result<Slot, Met> {
        let content = [step.to_le_bytes(), low.number.to_le_bytes()].concat();
        let tag = if is_test { b't' } else { b'l' };
        let Numbered { number: slot, proof, is_new } = self.numbers.of(Kind::Slot, tag, &content)?;
        if is_new {
            self.rows.slots.push(SlotRow { slot, proof, step, is_test, low: low.number });
        }
        Ok(Slot { number: slot, level: low.level })
    }

    fn predicate(&mut self, node: &str, subject: Subject, operation: &Operation) -> Result<i64, Met> {
        let name = match subject {
            Subject::Own => STRING_VALUE.to_owned(),
            Subject::Text => TEXT.to_owned(),
            Subject::Attribute(name) => format!("@{}", self.element(name)),
        };
        let subject = self.subject(node, &name)?;
        let (operation, text, number) = match operation {
            Operation::Exists => (6, None, None),
            Operation::Equals(text) => (0, Some(text.clone()), None),
            Operation::Differs(text) => (5, Some(text.clone()), None),
            Operation::Number(comparison, number) => (code(*comparison), None, Some(number.get())),
        };
        let kind = u8::from(text.is_some()) << 1 | u8::from(number.is_some());
        let mut content = format!("{subject}\0{operation}\0{kind}\0").into_bytes();
        content.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
        content.extend_from_slice(&number.unwrap_or_default().to_bits().to_le_bytes());
        let Numbered { number: predicate, proof, is_new } = self.numbers.of(Kind::Other, b'v', &content)?;
        if is_new {
            self.rows.predicates.push(PredicateRow { predicate, proof, subject, operation, text, number });
        }
        Ok(predicate)
    }

    fn subject(&mut self, node: &str, name: &str) -> Result<i64, Met> {
        let content = format!("{node}\0{name}");
        let Numbered { number: subject, proof, is_new } =
            self.numbers.of(Kind::Other, b'n', content.as_bytes())?;
        if is_new {
            let (node, name) = (node.into(), name.into());
            self.rows.subjects.push(SubjectRow { subject, proof, node, name });
        }
        Ok(subject)
    }

    /// How tables spell a name test.
    fn element(&self, name: NameTest) -> String {
        let (NameTest::Name(id) | NameTest::Partial(id)) = name else { return ANY.to_owned() };
        let (uri, local) = self.names.parts(id);
        let mut text = String::with_capacity(uri.len() + local.len() + 2);
        if uri.is_empty() && matches!(name, NameTest::Partial(_)) {
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
        message: "a part of this expression has the same number as a different one in this database; \
                  write it differently"
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
        assert_eq!((alone.steps.len(), alone.slots.len(), alone.patterns.len()), (3, 2, 1));
        let both = rows(&["/a/b[@x = 1]/c", "//d/b[@x = 1]/c"]);
        assert_eq!((both.steps.len(), both.slots.len(), both.patterns.len()), (5, 3, 1));
        assert_eq!(rows(&["/a[b][c]", "/a[c]/b"]).patterns, rows(&["/a[c][b]"]).patterns);
    }

    #[test]
    fn a_linear_path_is_the_number_of_its_last_step() {
        let rows = rows(&["/a/b", "/a/b/c", "/a/*/b[@x = 1]"]);
        assert!(rows.patterns.is_empty());
        assert_eq!(rows.steps.len(), 4, "paths share their beginning");
        assert_eq!(rows.tops[0].pattern, rows.steps[1].step);
        assert_eq!(rows.tops[1].pattern, rows.steps[2].step);
        assert_eq!(rows.tops[2].pattern, rows.slots[0].slot);
        assert_eq!(rows.slots[0].step, rows.steps[3].step);
    }

    #[test]
    fn the_rarest_slot_is_first() {
        let common = "/a[@l = 'en']";
        let rows = rows(&[common, "/a[@l = 'en'][@c = 1]", "/a[@l = 'en'][@c = 2][b]", "/a[@l != 'en'][b]"]);
        let test = |slot: i64| {
            let slot = rows.slots.iter().find(|row| row.slot == slot)?;
            let predicate = rows.predicates.iter().find(|row| row.predicate == slot.low)?;
            Some((predicate.operation, predicate.number))
        };
        let firsts: Vec<_> = rows.patterns.iter().map(|row| test(row.first)).collect();
        assert_eq!(
            firsts,
            [Some((0, Some(1.0))), Some((0, Some(2.0))), None],
            "rare, rare, and a leaf before !="
        );
        assert_eq!((rows.patterns[1].others, rows.others.len()), (1, 1));
    }

    #[test]
    fn wildcards_are_merged_and_the_document_node_is_constrained() {
        let rows = rows(&["/a", "//a", "/a/*//b"]);
        let differences: Vec<_> = rows
            .steps
            .iter()
            .map(|step| (&*step.high_node, &*step.low_node, step.min_diff, step.max_diff))
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
