//! Comparisons: a node-set stands for some node in it.

use hashbrown::HashSet;

use super::{Context, Ref, TermId};
use crate::twig::evaluate::Evaluator;
use crate::values::number::from_xpath_number;
use crate::values::{Comparison, compare};
use crate::xpath::ast::Type;

impl Evaluator<'_> {
    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        left: TermId,
        right: TermId,
        context: Context,
    ) -> bool {
        let kinds = (self.arena.facts(left).kind, self.arena.facts(right).kind);
        let equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        match kinds {
            (Type::Nodes, Type::Nodes) => {
                let (left, right) = (self.nodes(left, context), self.nodes(right, context));
                if equality {
                    self.compare_texts(comparison, &left, &right)
                } else {
                    self.compare_numbers(comparison, &left, &right)
                }
            }
            (Type::Boolean, _) | (_, Type::Boolean) => {
                // Both as booleans, which compare as 0 and 1 do.
                let number = |truth| f64::from(u8::from(truth));
                let (left, right) = (self.as_boolean(left, context), self.as_boolean(right, context));
                if equality {
                    compare(comparison, number(left.0), number(right.0))
                } else {
                    compare(comparison, left.1, right.1)
                }
            }
            (Type::Nodes, other) => self.compare_nodes(comparison, left, right, other, context),
            (other, Type::Nodes) => self.compare_nodes(comparison.mirrored(), right, left, other, context),
            (Type::String, Type::String) if equality => {
                let equal = self.text(left, context) == self.text(right, context);
                equal == (comparison == Comparison::Equal)
            }
            _ => {
                let left = self.number(left, context);
                compare(comparison, left, self.number(right, context))
            }
        }
    }

    /// A side of a comparison with a boolean: as one, and as the number it is compared by with `<` and its like.
    fn as_boolean(&mut self, term: TermId, context: Context) -> (bool, f64) {
        let truth = self.truth(term, context);
        let number = match self.arena.facts(term).kind {
            Type::Number | Type::String => self.number(term, context),
            Type::Boolean | Type::Nodes => f64::from(u8::from(truth)),
        };
        (truth, number)
    }

    /// A node-set on the left, a string or a number on the right.
    fn compare_nodes(
        &mut self,
        comparison: Comparison,
        nodes: TermId,
        value: TermId,
        kind: Type,
        context: Context,
    ) -> bool {
        let nodes = self.nodes(nodes, context);
        let equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if kind == Type::String && equality {
            let text = self.text(value, context);
            return nodes
                .iter()
                .any(|&node| (self.value_of(node) == text) == (comparison == Comparison::Equal));
        }
        let number = self.number(value, context);
        nodes.iter().any(|&node| compare(comparison, from_xpath_number(self.value_of(node)), number))
    }

    /// Whether some node on the left has the same text as one on the right, or another.
    fn compare_texts(&mut self, comparison: Comparison, left: &[Ref], right: &[Ref]) -> bool {
        if comparison == Comparison::Equal {
            let (few, many) = if left.len() < right.len() { (left, right) } else { (right, left) };
            let texts: HashSet<&str> = few.iter().map(|&node| self.value_of(node)).collect();
            return !texts.is_empty() && many.iter().any(|&node| texts.contains(self.value_of(node)));
        }
        let (Some(&first), Some(_)) = (left.first(), right.first()) else { return false };
        // Unless all are the same, some two differ across: each differs from one of two that differ.
        let text = self.value_of(first);
        right.iter().any(|&node| self.value_of(node) != text)
            || left.iter().any(|&node| self.value_of(node) != text)
    }

    /// Whether some number on the left is less, or greater, than some on the right: the extremes tell.
    fn compare_numbers(&mut self, comparison: Comparison, left: &[Ref], right: &[Ref]) -> bool {
        let rising = matches!(comparison, Comparison::Less | Comparison::LessEqual);
        let mut extreme = |nodes: &[Ref], least: bool| {
            let numbers = nodes.iter().map(|&node| from_xpath_number(self.value_of(node)));
            let numbers = numbers.filter(|number| !number.is_nan());
            if least { numbers.reduce(f64::min) } else { numbers.reduce(f64::max) }
        };
        match (extreme(left, rising), extreme(right, !rising)) {
            (Some(left), Some(right)) => compare(comparison, left, right),
            _ => false,
        }
    }
}
