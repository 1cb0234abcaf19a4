//! Function calls.

use super::ast::{Expr, Function, Type};
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
            (None, name) => match Function::from_name(name) {
                Some(function) => Some(function),
                None => return Err(self.refuse_function(prefix, name)),
            },
            _ => return Err(self.refuse_function(prefix, name)),
        };
        self.open()?;
        self.advance()?;
        let opened = self.token.start;
        self.advance()?;
        let (fewest, most) = function.map_or((1, 1), Function::arity);
        let mut arguments = Vec::new();
        while self.token.kind != Kind::CloseParenthesis {
            if !arguments.is_empty() {
                if self.token.kind != Kind::Comma {
                    break;
                }
                self.advance()?;
            }
            if arguments.len() == most {
                return Err(self.wrong_count(start, name, fewest, most));
            }
            let argument = self.expression()?;
            arguments.push(argument);
        }
        if arguments.len() < fewest && matches!(self.token.kind, Kind::CloseParenthesis) {
            return Err(self.wrong_count(start, name, fewest, most));
        }
        if arguments.len() < fewest {
            let message = format!("expected , between the arguments of {name}(), found {}", self.found());
            return Err(self.syntax_here(message));
        }
        self.close(Kind::CloseParenthesis, (opened, "("), ")")?;
        let Some(function) = function else {
            let inner = arguments.pop().unwrap_or(Expr::Literal(""));
            return Ok(Expr::Not(Box::new(inner), column));
        };
        if function.wants_nodes() && arguments.iter().any(|argument| argument.kind() != Type::Nodes) {
            return Err(self.tokens.syntax(start, format!("{name}() takes a path, not a value")));
        }
        Ok(Expr::Call(function, arguments, column))
    }

    fn wrong_count(&mut self, call: usize, name: &str, fewest: usize, most: usize) -> Box<XPathError> {
        let counted = |count| match count {
            0 => "no argument".to_owned(),
            1 => "one argument".to_owned(),
            2 => "two arguments".to_owned(),
            _ => "three arguments".to_owned(),
        };
        let takes = match (fewest, most) {
            (fewest, usize::MAX) => format!("at least {}", counted(fewest)),
            (0, 1) => "one argument or none".to_owned(),
            (fewest, most) if fewest == most => counted(most),
            (_, most) => format!("two or {}", counted(most)),
        };
        self.tokens.syntax(call, format!("{name}() takes {takes}"))
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
