//! What an expression implies, in conditions that engines can look for.
//!
//! A typed expression is decided node by node, so it should only be asked where it has a chance: `count(a/b) > 2` needs an
//! `a/b`, `normalize-space(@x) = 'c'` an `@x`. The condition found here is implied by the expression and never the other
//! way round; where nothing is known it is "always".

use super::build::and;
use super::condition::Condition;
use super::place::Place;
use super::scope::Scope;
use crate::values::Comparison;
use crate::xpath::ast::{Expr, Function, Type};
use crate::xpath::{XPathError, asked_name};

impl Scope<'_> {
    /// A condition that holds wherever `boolean(expression)` does.
    pub(super) fn implied(&mut self, expression: &Expr<'_>, place: Place) -> Result<Condition, XPathError> {
        match expression {
            // A name as written ends in the local part.
            Expr::Compare(..) if place == Place::Predicate && asked_name(expression).is_some() => {
                Ok(match asked_name(expression) {
                    Some((Comparison::Equal, Function::Name, text)) => {
                        let local = text.rsplit_once(':').map_or(text, |(_, local)| local);
                        self.own_name(Function::LocalName, local).unwrap_or(Condition::True)
                    }
                    _ => Condition::True,
                })
            }
            Expr::Compare(comparison, left, right, _) => {
                let one = self.side(*comparison, left, right, place)?;
                let other = self.side(comparison.mirrored(), right, left, place)?;
                Ok(and([one, other]))
            }
            Expr::Call(Function::Contains | Function::StartsWith | Function::EndsWith, arguments, _) => {
                match arguments.as_slice() {
                    [text, Expr::Literal(part)] if !part.is_empty() => self.something(text, place),
                    _ => Ok(Condition::True),
                }
            }
            // A string or a number that is true: the one is not empty, the other is not NaN.
            Expr::Call(..) | Expr::Arithmetic(..) | Expr::Negate(..) => match expression.kind() {
                Type::String => self.something(expression, place),
                Type::Number => self.numeric(expression, place),
                _ => Ok(Condition::True),
            },
            _ => Ok(Condition::True),
        }
    }

    /// What one side of a comparison needs.
    fn side(
        &mut self,
        comparison: Comparison,
        own: &Expr<'_>,
        other: &Expr<'_>,
        place: Place,
    ) -> Result<Condition, XPathError> {
        if own.kind() == Type::Boolean || other.kind() == Type::Boolean {
            return Ok(Condition::True);
        }
        match own.kind() {
            Type::Nodes => self.convert(own, place),
            Type::String => match other {
                Expr::Literal(text) if comparison == Comparison::Equal && !text.is_empty() => {
                    self.something(own, place)
                }
                _ => Ok(Condition::True),
            },
            // NaN equals nothing and differs from everything.
            Type::Number if comparison != Comparison::NotEqual => {
                let Expr::Call(Function::Count | Function::Sum, arguments, _) = own else {
                    return self.numeric(own, place);
                };
                let positive = match (comparison, other) {
                    (Comparison::Equal | Comparison::GreaterEqual, Expr::Number(number)) => *number > 0.0,
                    (Comparison::Greater, Expr::Number(number)) => *number >= 0.0,
                    _ => false,
                };
                if positive { Ok(and(self.all(arguments, place)?)) } else { Ok(Condition::True) }
            }
            _ => Ok(Condition::True),
        }
    }

    /// What a string needs that is not empty.
    fn something(&mut self, text: &Expr<'_>, place: Place) -> Result<Condition, XPathError> {
        match text {
            Expr::Path(_) | Expr::Union(_) => self.convert(text, place),
            Expr::Call(
                Function::String
                | Function::NormalizeSpace
                | Function::LowerCase
                | Function::UpperCase
                | Function::Translate
                | Function::Substring
                | Function::SubstringBefore
                | Function::SubstringAfter
                | Function::Name
                | Function::LocalName
                | Function::NamespaceUri,
                arguments,
                _,
            ) => match arguments.first() {
                Some(inner) if matches!(inner.kind(), Type::Nodes | Type::String) => {
                    self.something(inner, place)
                }
                _ => Ok(Condition::True),
            },
            _ => Ok(Condition::True),
        }
    }

    /// What a number needs that is not NaN.
    fn numeric(&mut self, number: &Expr<'_>, place: Place) -> Result<Condition, XPathError> {
        match number {
            Expr::Path(_) | Expr::Union(_) => self.convert(number, place),
            Expr::Negate(inner, _) => self.numeric(inner, place),
            Expr::Arithmetic(first, rest, _) => {
                let mut needs = vec![self.numeric(first, place)?];
                for (_, operand) in rest {
                    needs.push(self.numeric(operand, place)?);
                }
                Ok(and(needs))
            }
            Expr::Call(
                Function::Number | Function::Floor | Function::Ceiling | Function::Round,
                arguments,
                _,
            ) => match arguments.first() {
                Some(inner) => self.numeric(inner, place),
                None => Ok(Condition::True),
            },
            _ => Ok(Condition::True),
        }
    }
}
