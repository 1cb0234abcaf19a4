//! Variables: what names mean when a subscription is registered.
//!
//! A variable is bound to a string, a number, a boolean, or to another expression that is read from the document
//! node, as the `let` of Schematron. An expression may use the variables before it, so there are no circles.

use std::rc::Rc;

use super::ast::Expr;
use super::error::XPathError;
use super::grammar::parse_with;
use crate::limits::Limits;

/// What a variable is bound to, as a subscriber gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// A string.
    Text(Box<str>),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// An expression, read from the document node.
    Expression(Box<str>),
}

/// Names without `$`, and what they are bound to.
pub type Variables = Vec<(Box<str>, Binding)>;

/// What a name means to the parser.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Number(f64),
    Boolean(bool),
    Expression(Rc<Expr<'a>>),
}

/// Variables whose expressions are parsed.
#[derive(Clone, Debug, Default)]
pub struct Environment<'a>(Vec<(&'a str, Value<'a>)>);

impl<'a> Environment<'a> {
    /// Parses what the variables are bound to.
    ///
    /// # Errors
    /// An expression among them is refused; the message names the variable.
    pub fn new(variables: &'a [(Box<str>, Binding)], limits: &Limits) -> Result<Self, XPathError> {
        let mut environment = Self::default();
        for (name, binding) in variables {
            let value = match binding {
                Binding::Text(text) => Value::Text(text),
                Binding::Number(number) => Value::Number(*number),
                Binding::Boolean(value) => Value::Boolean(*value),
                Binding::Expression(source) => {
                    let parsed = parse_with(source, &environment, limits).map_err(|error| XPathError {
                        message: format!("in the expression of ${name}: {}", error.message),
                        ..error
                    })?;
                    Value::Expression(Rc::new(parsed))
                }
            };
            environment.0.push((name, value));
        }
        Ok(environment)
    }

    /// The last binding of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.0.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}
