//! From the expression as written to its normal form.
//!
//! What conditions can say becomes one, by rules that keep the meaning exactly: `count(x) > 0` is `x`, `string(@a) = 'c'`
//! is `@a = 'c'`. What they cannot say becomes a [`Condition::Typed`] on the node where it stands, beside a condition that
//! it implies, so that engines can look for that (see [`super::implied`]).

use super::build::{and, at_document, constant, not, or, root};
use super::comparand::{Comparand, comparand, counted, truth};
use super::condition::Condition;
use super::place::{Leaf, Place};
use super::scope::Scope;
use super::typed::typed;
use super::weaken::weaken;
use crate::limits::deeper;
use crate::xpath::XPathError;
use crate::xpath::ast::{Expr, Function};

impl Scope<'_> {
    pub(crate) fn convert(&mut self, expression: &Expr<'_>, place: Place) -> Result<Condition, XPathError> {
        deeper(|| self.converted(expression, place))
    }

    fn converted(&mut self, expression: &Expr<'_>, place: Place) -> Result<Condition, XPathError> {
        Ok(match expression {
            Expr::Or(terms) => or(self.all(terms, place)?),
            Expr::And(terms) => and(self.all(terms, place)?),
            Expr::Not(inner, _) => not(self.convert(inner, place)?),
            Expr::Path(path) => self.anchored(path, &Leaf::exists(), place)?,
            Expr::Union(paths) => self.union(paths, &Leaf::exists(), place)?,
            Expr::Literal(text) => constant(!text.is_empty()),
            Expr::Number(value) => constant(*value != 0.0 && !value.is_nan()),
            Expr::Compare(comparison, left, right, _) => {
                let folded = comparand(*comparison, left, right)
                    .or_else(|| truth(*comparison, left, right))
                    .or_else(|| counted(*comparison, left, right));
                match folded {
                    Some(Comparand::Constant(value)) => constant(value),
                    Some(Comparand::Nodes(nodes, leaf)) => self.compared(nodes, &leaf, place)?,
                    Some(Comparand::Exists(nodes)) => self.convert(nodes, place)?,
                    Some(Comparand::Absent(nodes)) => not(self.convert(nodes, place)?),
                    None => match self.of_one(expression, place)? {
                        Some(condition) => condition,
                        None => self.typed_condition(expression, place)?,
                    },
                }
            }
            Expr::Call(Function::True, ..) => Condition::True,
            Expr::Call(Function::False, ..) => Condition::False,
            Expr::Call(Function::Boolean | Function::Exists, arguments, _) => {
                and(self.all(arguments, place)?)
            }
            // A number is true unless it is zero.
            Expr::Call(Function::Count, arguments, _) => and(self.all(arguments, place)?),
            Expr::Call(Function::Empty, arguments, _) => not(and(self.all(arguments, place)?)),
            Expr::Call(function, arguments, _) => match self.call(*function, arguments, place)? {
                Some(condition) => condition,
                None => self.typed_condition(expression, place)?,
            },
            Expr::Arithmetic(..) | Expr::Negate(..) | Expr::Variable(..) => {
                self.typed_condition(expression, place)?
            }
        })
    }

    pub(super) fn all(&mut self, terms: &[Expr<'_>], place: Place) -> Result<Vec<Condition>, XPathError> {
        terms.iter().map(|term| self.convert(term, place)).collect()
    }

    pub(super) fn compared(
        &mut self,
        nodes: &Expr<'_>,
        leaf: &Leaf<'_, '_>,
        place: Place,
    ) -> Result<Condition, XPathError> {
        match nodes {
            Expr::Path(path) => self.anchored(path, leaf, place),
            Expr::Union(paths) => self.union(paths, leaf, place),
            other => self.convert(other, place),
        }
    }

    /// An expression that only XPath's types can say, beside what it implies.
    pub(super) fn typed_condition(
        &mut self,
        expression: &Expr<'_>,
        place: Place,
    ) -> Result<Condition, XPathError> {
        let exact = typed(expression, place, self)?;
        let about_document = !exact.asks_context();
        let implied = weaken(&self.implied(expression, place)?);
        let condition = and([implied, Condition::Typed(exact)]);
        Ok(if place == Place::Predicate && about_document { root(at_document(condition)) } else { condition })
    }
}
