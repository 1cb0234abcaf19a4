//! Function calls: `not`, `contains`, `starts-with`, and a reason for every other.
//!
//! Invariant: at most one argument of a string function is a path, and none is a union or boolean.

use super::ast::{Expr, Function};
use super::error::XPathError;
use super::grammar::Parser;
use super::refusals;
use super::tokens::{Kind, Parsed, quoted};

impl<'a> Parser<'a, '_> {
    /// The call at the current token, which is its name.
    pub fn call(&mut self, prefix: Option<&str>, name: &str) -> Parsed<Expr<'a>> {
        let start = self.token.start;
        let column = self.column(start);
        let function = match (prefix, name) {
            (None, "not") => None,
            (None, "contains") => Some(Function::Contains),
            (None, "starts-with") => Some(Function::StartsWith),
            _ => return Err(self.refuse_function(prefix, name)),
        };
        self.open()?;
        self.advance()?;
        let opened = self.token.start;
        self.advance()?;
        let wanted = if function.is_some() { 2 } else { 1 };
        let first = self.argument(start, name, wanted, 0)?;
        let expression = match function {
            None => Expr::Not(Box::new(first), column),
            Some(function) => {
                let second = self.argument(start, name, wanted, 1)?;
                self.check_arguments(start, name, [&first, &second])?;
                Expr::Call(function, Box::new(first), Box::new(second), column)
            }
        };
        if self.token.kind == Kind::Comma {
            return Err(self.wrong_count(start, name, wanted));
        }
        self.close(Kind::CloseParenthesis, (opened, "("), ")")?;
        Ok(expression)
    }

    /// The argument number `index`, with the comma in front of all but the first.
    fn argument(&mut self, call: usize, name: &str, wanted: usize, index: usize) -> Parsed<Expr<'a>> {
        if self.token.kind == Kind::CloseParenthesis {
            return Err(self.wrong_count(call, name, wanted));
        }
        if index > 0 {
            if self.token.kind != Kind::Comma {
                let message = format!("expected , between the arguments of {name}(), found {}", self.found());
                return Err(self.syntax_here(message));
            }
            self.advance()?;
        }
        self.expression()
    }

    fn wrong_count(&mut self, call: usize, name: &str, wanted: usize) -> Box<XPathError> {
        let plural = if wanted == 1 { "one argument" } else { "two arguments" };
        self.tokens.syntax(call, format!("{name}() takes {plural}"))
    }

    fn check_arguments(&mut self, call: usize, name: &str, both: [&Expr<'a>; 2]) -> Parsed<()> {
        let refused = if both.iter().any(|argument| is_boolean(argument)) {
            "a boolean argument"
        } else if both.iter().any(|argument| matches!(argument, Expr::Union(_))) {
            "a union of paths as an argument"
        } else if both.iter().all(|argument| is_node_set(argument)) {
            "paths as both arguments"
        } else {
            return Ok(());
        };
        let message = format!("{name}() with {refused} is not supported; give it a path and a string");
        Err(self.unsupported(call, &message))
    }

    #[cold]
    fn refuse_function(&mut self, prefix: Option<&str>, name: &str) -> Box<XPathError> {
        let start = self.token.start;
        if let (None, Some(message)) = (prefix, refusals::function(name)) {
            return self.unsupported(start, &message);
        }
        let function = quoted(&self.tokens.source[start..self.tokens.end]);
        self.tokens.syntax(start, format!("unknown function: {function}"))
    }
}

/// Whether XPath gives it the type boolean.
pub(super) fn is_boolean(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Or(_) | Expr::And(_) | Expr::Not(..) | Expr::Compare(..) | Expr::Call(..))
}

/// Whether XPath gives it the type node-set.
pub(super) fn is_node_set(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Path(_) | Expr::Union(_))
}
