//! What a term comes to, as each of the four types, with XPath's conversions between them.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxHashMap;

use super::{Context, Facts, Ref, TermId};
use crate::limits::deeper;
use crate::pattern::{Operator, Term};
use crate::twig::budget::Exceeded;
use crate::twig::evaluate::Evaluator;
use crate::twig::tree::NodeId;
use crate::values::number::{from_xpath_number, to_xpath_string};
use crate::values::regex::Patterns;
use crate::xpath::ast::Function;
use crate::xpath::ast::{Arithmetic, Type};

/// What has been computed for the current document.
#[derive(Debug, Default)]
pub(in crate::twig) struct TermMemory {
    truths: FxHashMap<(TermId, Ref), bool>,
    numbers: FxHashMap<(TermId, Ref), f64>,
    /// Node-sets that do not depend on a context node.
    sets: FxHashMap<TermId, Arc<[Ref]>>,
    /// By term: which character `translate()` makes of which.
    pub(super) tables: FxHashMap<TermId, Arc<HashMap<char, Option<char>>>>,
    /// By what identifies it: the element; made when it is first asked for.
    pub(super) ids: Option<HashMap<Box<str>, NodeId>>,
    /// Compiled patterns, which are kept from one document to the next.
    pub(super) patterns: Patterns,
}

impl TermMemory {
    pub(in crate::twig) fn forget(&mut self) {
        self.truths.clear();
        self.numbers.clear();
        self.sets.clear();
        self.tables.clear();
        self.ids = None;
    }

    /// How many nodes are remembered, roughly.
    pub(in crate::twig) fn len(&self) -> usize {
        let sets: usize = self.sets.values().map(|nodes| nodes.len()).sum();
        4 * (self.truths.len() + self.numbers.len()) + 2 * sets
    }

    /// Heap bytes held.
    pub(in crate::twig) fn memory_bytes(&self) -> usize {
        24 * (self.truths.capacity() + self.numbers.capacity()) + self.patterns.memory_bytes()
    }
}

impl<'a> Evaluator<'a> {
    /// Under which key a value is remembered: none if positions decide, or if computing costs no more than looking up.
    fn key(&self, term: TermId, facts: Facts, context: Context) -> Option<(TermId, Ref)> {
        let node = if facts.node { context.node } else { Ref::ROOT };
        (facts.path && !facts.position).then_some((term, node))
    }

    /// As a boolean.
    pub fn truth(&mut self, term: TermId, context: Context) -> bool {
        let facts = self.arena.facts(term);
        let key = self.key(term, facts, context);
        if let Some(known) = key.and_then(|key| self.memory.terms.truths.get(&key)) {
            return *known;
        }
        self.spend(1);
        if self.is_spent() {
            return false;
        }
        let truth = deeper(|| self.compute_truth(term, facts, context));
        if let Some(key) = key {
            self.memory.terms.truths.insert(key, truth);
        }
        truth
    }

    fn compute_truth(&mut self, term: TermId, facts: Facts, context: Context) -> bool {
        let arena = self.arena;
        match (arena.term(term), facts.kind) {
            (Term::Path(origin, steps), _) => !self.walk(origin, steps, context, true).is_empty(),
            (Term::Apply(Operator::Union, parts), _) => parts.iter().any(|&part| self.truth(part, context)),
            (_, Type::Nodes) => !self.nodes(term, context).is_empty(),
            (Term::Apply(operator, parts), Type::Boolean) => match operator {
                Operator::Or => parts.iter().any(|&part| self.truth(part, context)),
                Operator::And => parts.iter().all(|&part| self.truth(part, context)),
                Operator::Not => !self.truth(parts[0], context),
                Operator::Compare(comparison) => self.compare(*comparison, parts[0], parts[1], context),
                Operator::Call(Function::True) => true,
                Operator::Call(Function::Boolean | Function::Exists) => self.truth(parts[0], context),
                Operator::Call(Function::Empty) => !self.truth(parts[0], context),
                Operator::Call(function) => self.string_test(*function, parts, context),
                _ => false,
            },
            (_, Type::Number) => {
                let number = self.number(term, context);
                number != 0.0 && !number.is_nan()
            }
            _ => !self.text(term, context).is_empty(),
        }
    }

    /// As a number.
    pub fn number(&mut self, term: TermId, context: Context) -> f64 {
        let facts = self.arena.facts(term);
        let key = self.key(term, facts, context);
        if let Some(known) = key.and_then(|key| self.memory.terms.numbers.get(&key)) {
            return *known;
        }
        self.spend(1);
        if self.is_spent() {
            return f64::NAN;
        }
        let number = match facts.kind {
            Type::Number => deeper(|| self.compute_number(term, context)),
            Type::Boolean => f64::from(u8::from(self.truth(term, context))),
            Type::String | Type::Nodes => {
                let text = self.text(term, context);
                from_xpath_number(&text)
            }
        };
        if let Some(key) = key {
            self.memory.terms.numbers.insert(key, number);
        }
        number
    }

    fn compute_number(&mut self, term: TermId, context: Context) -> f64 {
        let arena = self.arena;
        let (operator, parts) = match arena.term(term) {
            Term::Number(number) => return number.0,
            Term::Apply(operator, parts) => (operator, parts.as_slice()),
            _ => return f64::NAN,
        };
        match operator {
            Operator::Negate => -self.number(parts[0], context),
            Operator::Arithmetic(operators) => {
                let mut result = self.number(parts[0], context);
                for (operator, &operand) in operators.iter().zip(&parts[1..]) {
                    let right = self.number(operand, context);
                    result = match operator {
                        Arithmetic::Add => result + right,
                        Arithmetic::Subtract => result - right,
                        Arithmetic::Multiply => result * right,
                        Arithmetic::Divide => result / right,
                        Arithmetic::Modulo => result % right,
                    };
                }
                result
            }
            Operator::Call(function) => match function {
                Function::Position => context.position as f64,
                Function::Last => context.size as f64,
                Function::Count => self.nodes(parts[0], context).len() as f64,
                Function::Sum => {
                    let nodes = self.nodes(parts[0], context);
                    nodes.iter().fold(0.0, |sum, &node| sum + from_xpath_number(self.value_of(node)))
                }
                Function::Floor => self.number(parts[0], context).floor(),
                Function::Ceiling => self.number(parts[0], context).ceil(),
                Function::Round => round(self.number(parts[0], context)),
                Function::StringLength => {
                    let text = self.text(parts[0], context);
                    self.spend(text.len() / 16);
                    text.chars().count() as f64
                }
                Function::Number => self.number(parts[0], context),
                _ => f64::NAN,
            },
            _ => f64::NAN,
        }
    }

    /// As a string.
    pub fn text(&mut self, term: TermId, context: Context) -> Cow<'a, str> {
        let arena = self.arena;
        self.spend(1);
        if self.is_spent() {
            return Cow::Borrowed("");
        }
        match (arena.term(term), arena.facts(term).kind) {
            (Term::Text(text), _) => Cow::Borrowed(text),
            (_, Type::Nodes) => {
                let first = self.nodes(term, context).first().copied();
                Cow::Borrowed(first.map_or("", |node| self.value_of(node)))
            }
            (_, Type::Boolean) => Cow::Borrowed(if self.truth(term, context) { "true" } else { "false" }),
            (_, Type::Number) => Cow::Owned(to_xpath_string(self.number(term, context))),
            (Term::Apply(Operator::Call(function), parts), Type::String) => {
                deeper(|| self.string_function(*function, term, parts, context))
            }
            _ => Cow::Borrowed(""),
        }
    }

    /// The nodes that a term selects.
    ///
    /// # Errors
    /// To find them costs more than the budget of one expression.
    pub fn select(&mut self, term: TermId, context: Context) -> Result<Arc<[Ref]>, Exceeded> {
        self.budget.next();
        let nodes = self.nodes(term, context);
        match self.budget.exceeded() {
            None => Ok(nodes),
            Some(exceeded) => {
                self.memory.terms.forget();
                Err(exceeded)
            }
        }
    }

    /// What a person is shown of a term: the texts of its nodes, or its value as a string.
    pub fn shown(&mut self, term: TermId, context: Context) -> Vec<String> {
        if self.arena.facts(term).kind != Type::Nodes {
            return vec![self.text(term, context).into_owned()];
        }
        let nodes = self.nodes(term, context);
        nodes.iter().map(|&node| self.value_of(node).to_owned()).collect()
    }

    /// As nodes in document order.
    pub fn nodes(&mut self, term: TermId, context: Context) -> Arc<[Ref]> {
        let arena = self.arena;
        let facts = arena.facts(term);
        let fixed = !facts.node && !facts.position;
        if fixed && let Some(known) = self.memory.terms.sets.get(&term) {
            return Arc::clone(known);
        }
        let nodes: Arc<[Ref]> = match arena.term(term) {
            Term::Path(origin, steps) => self.walk(origin, steps, context, false).into(),
            Term::Apply(Operator::Union, parts) => {
                let mut all = Vec::new();
                for &part in parts {
                    all.extend_from_slice(&self.nodes(part, context));
                }
                self.spend(all.len());
                all.sort_unstable();
                all.dedup();
                all.into()
            }
            Term::Apply(Operator::Call(Function::Id), parts) => self.identified(parts[0], context).into(),
            _ => Arc::default(),
        };
        if fixed && !self.is_spent() {
            self.memory.terms.sets.insert(term, Arc::clone(&nodes));
        }
        nodes
    }

    /// The string-value of a node; reading it costs by its length.
    pub(super) fn value_of(&mut self, node: Ref) -> &'a str {
        let tree = self.tree;
        let value = match node.as_attribute() {
            Some(attribute) => tree.attribute_value(attribute),
            None => tree.value(node.owner()),
        };
        self.spend(1 + value.len() / 16);
        value
    }
}

/// The nearest integer, the larger of two; it keeps the sign of what rounds to zero.
pub(super) fn round(number: f64) -> f64 {
    if (-0.5..0.0).contains(&number) {
        return -0.0;
    }
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}
