//! From source text to expression tree: connectives, comparisons, unions. Function calls are in
//! `functions`, paths in `steps`.
//!
//! The idea: recursive descent with one token of look-ahead over XPath 1.0's own grammar. What XPath allows
//! and the subscription language does not is refused where it is met, so the tree only ever holds what
//! engines can answer. Chains (`a or b or …`, `a | b | …`, `--3`, steps) are loops; only predicates,
//! parentheses and function calls recurse.
//!
//! Invariants of the tree: `or`, `and` and `|` are flattened, through parentheses too; one side of a
//! comparison at most is a path or a union, and neither is boolean; after an attribute comes only
//! `self::node()`.
//! Cost: linear in the source; one allocation for each list or box of the tree and none beside.

use super::ast::{Column, Expr, Path};
use super::error::{XPathError, XPathErrorKind};
use super::expansion;
use super::functions::{is_boolean, is_node_set};
use super::refusals;
use super::tokens::{Kind, Parsed, Token, Tokens, quoted};
use crate::limits::Limits;
use crate::values::Comparison;

/// Recursion stops here whatever the limits say: a level takes 6 KiB of stack in a debug build, and a thread
/// may have no more than 2 MiB for this parser and for each who walks its tree.
const DEEPEST: usize = 256;

/// Parses a subscription.
///
/// ```
/// use pathcast_core::{limits::Limits, xpath::parse};
/// let expression = parse("/child::a/descendant-or-self::node()/b[(@x) > 3]", &Limits::default())?;
/// assert_eq!(expression.to_string(), "/a//b[@x > 3]");
/// # Ok::<(), pathcast_core::xpath::XPathError>(())
/// ```
pub fn parse<'a>(source: &'a str, limits: &Limits) -> Result<Expr<'a>, XPathError> {
    if source.len() > limits.expression_bytes {
        let message = format!(
            "the expression has {} bytes, more than the limit of {}",
            source.len(),
            limits.expression_bytes
        );
        return Err(XPathError { kind: XPathErrorKind::Limit, message, column: 1 });
    }
    let (expression, branches) =
        Parser::new(source, limits).and_then(Parser::whole).map_err(|error| *error)?;
    if branches || limits.expansion == 0 {
        expansion::check(&expression, limits.expansion)?;
    }
    Ok(expression)
}

/// The state of one parse.
pub(super) struct Parser<'a, 'l> {
    pub tokens: Tokens<'a>,
    pub token: Token<'a>,
    pub limits: &'l Limits,
    /// Predicates, parentheses and calls open around the current token.
    depth: usize,
    /// Steps written so far.
    pub steps: usize,
    /// Whether relative paths start at an attribute here.
    pub on_attribute: bool,
    /// Whether there is a connective or a union, without which nothing expands.
    branches: bool,
}

impl<'a, 'l> Parser<'a, 'l> {
    fn new(source: &'a str, limits: &'l Limits) -> Parsed<Self> {
        let mut tokens = Tokens::new(source);
        let token = tokens.next()?;
        Ok(Self { tokens, token, limits, depth: 0, steps: 0, on_attribute: false, branches: false })
    }

    /// The whole source as one expression, and whether there is anything in it to expand.
    fn whole(mut self) -> Parsed<(Expr<'a>, bool)> {
        if self.token.kind == Kind::End {
            return Err(self.syntax_here("the expression is empty".into()));
        }
        let expression = self.expression()?;
        let message = match self.token.kind {
            Kind::End => return Ok((expression, self.branches)),
            Kind::CloseParenthesis | Kind::CloseBracket => format!("{} closes nothing", self.found()),
            _ => format!("expected an operator or the end, found {}", self.found()),
        };
        Err(self.syntax_here(message))
    }

    pub fn advance(&mut self) -> Parsed<()> {
        self.token = self.tokens.next()?;
        Ok(())
    }

    /// Passes over a token that must come next; `opened` is the bracket it closes.
    pub fn close(&mut self, kind: Kind<'a>, opened: (usize, &str), closing: &str) -> Parsed<()> {
        if self.token.kind == kind {
            self.depth -= 1;
            return self.advance();
        }
        let column = self.tokens.column(opened.0);
        let message =
            format!("expected {closing} for the {} at column {column}, found {}", opened.1, self.found());
        Err(self.syntax_here(message))
    }

    /// Enters a predicate, a parenthesis or a call at the current token.
    pub fn open(&mut self) -> Parsed<()> {
        self.depth += 1;
        let limit = self.limits.nesting.min(DEEPEST);
        if self.depth > limit {
            let fixed = if limit < self.limits.nesting { " that holds whatever is configured" } else { "" };
            let message = format!(
                "predicates, parentheses and functions are nested {} deep, more than the limit of {limit}{fixed}",
                self.depth
            );
            return Err(self.error(XPathErrorKind::Limit, self.token.start, message));
        }
        Ok(())
    }

    pub fn expression(&mut self) -> Parsed<Expr<'a>> {
        let first = self.conjunction()?;
        if self.token.kind != Kind::Or {
            return Ok(first);
        }
        self.branches = true;
        let mut terms = Vec::with_capacity(2);
        flatten_or(&mut terms, first);
        while self.token.kind == Kind::Or {
            self.advance()?;
            let term = self.conjunction()?;
            flatten_or(&mut terms, term);
        }
        Ok(Expr::Or(terms))
    }

    fn conjunction(&mut self) -> Parsed<Expr<'a>> {
        let first = self.comparison()?;
        if self.token.kind != Kind::And {
            return Ok(first);
        }
        self.branches = true;
        let mut terms = Vec::with_capacity(2);
        flatten_and(&mut terms, first);
        while self.token.kind == Kind::And {
            self.advance()?;
            let term = self.comparison()?;
            flatten_and(&mut terms, term);
        }
        Ok(Expr::And(terms))
    }

    /// Both kinds of comparison at once: their precedence only matters in chains, which compare booleans and
    /// are refused in any order.
    fn comparison(&mut self) -> Parsed<Expr<'a>> {
        let mut left = self.operand()?;
        while let Some(operator) = comparison_of(self.token.kind) {
            let start = self.token.start;
            let column = self.column(start);
            self.advance()?;
            let right = self.operand()?;
            if is_boolean(&left) || is_boolean(&right) {
                return Err(self.unsupported(start, refusals::BOOLEAN_OPERAND));
            }
            if is_node_set(&left) && is_node_set(&right) {
                return Err(self.unsupported(start, refusals::TWO_PATHS));
            }
            left = Expr::Compare(operator, Box::new(left), Box::new(right), column);
        }
        Ok(left)
    }

    /// A union or a number with its signs; arithmetic behind it is refused.
    fn operand(&mut self) -> Parsed<Expr<'a>> {
        let start = self.token.start;
        let mut signs = 0_usize;
        while self.token.kind == Kind::Minus {
            signs += 1;
            self.advance()?;
        }
        let mut operand = self.union()?;
        if signs > 0 {
            let Expr::Number(number) = operand else {
                let message = "arithmetic is not supported: a minus sign on anything but a number";
                return Err(self.unsupported(start, message));
            };
            operand = Expr::Number(if signs % 2 == 1 { -number } else { number });
        }
        match self.token.kind {
            Kind::Plus | Kind::Minus | Kind::Multiply | Kind::Div | Kind::Mod => {
                Err(self.refuse_arithmetic())
            }
            _ => Ok(operand),
        }
    }

    fn union(&mut self) -> Parsed<Expr<'a>> {
        let start = self.token.start;
        let first = self.primary()?;
        if self.token.kind != Kind::Pipe {
            return Ok(first);
        }
        self.branches = true;
        let mut paths = Vec::with_capacity(2);
        self.flatten_union(&mut paths, first, start)?;
        while self.token.kind == Kind::Pipe {
            self.advance()?;
            let start = self.token.start;
            let next = self.primary()?;
            self.flatten_union(&mut paths, next, start)?;
        }
        Ok(Expr::Union(paths))
    }

    fn flatten_union(&mut self, paths: &mut Vec<Path<'a>>, next: Expr<'a>, start: usize) -> Parsed<()> {
        match next {
            Expr::Path(path) => paths.push(path),
            Expr::Union(inner) => paths.extend(inner),
            _ => {
                return Err(self
                    .tokens
                    .syntax(start, "| joins paths only; use or between conditions".into()));
            }
        }
        Ok(())
    }

    /// A path, or what XPath calls a primary expression.
    fn primary(&mut self) -> Parsed<Expr<'a>> {
        let start = self.token.start;
        let primary = match self.token.kind {
            Kind::Literal(text) => {
                self.advance()?;
                Expr::Literal(text)
            }
            Kind::Number(number) => {
                self.advance()?;
                Expr::Number(number)
            }
            Kind::OpenParenthesis => {
                self.open()?;
                self.advance()?;
                let inner = self.expression()?;
                self.close(Kind::CloseParenthesis, (start, "("), ")")?;
                inner
            }
            Kind::Function(prefix, name) => self.call(prefix, name)?,
            Kind::Variable(name) => {
                return Err(self.refuse_variable(name));
            }
            _ => return self.path().map(Expr::Path),
        };
        match self.token.kind {
            Kind::OpenBracket => Err(self.unsupported(self.token.start, refusals::FILTER_PREDICATE)),
            Kind::Slash | Kind::DoubleSlash => Err(self.unsupported(self.token.start, refusals::FILTER_PATH)),
            _ => Ok(primary),
        }
    }

    #[cold]
    fn refuse_variable(&mut self, name: &str) -> Box<XPathError> {
        let message = format!("variables are not supported: {}; write the value itself", quoted(name));
        self.unsupported(self.token.start, &message)
    }

    #[cold]
    fn refuse_arithmetic(&mut self) -> Box<XPathError> {
        let message = format!("arithmetic is not supported: {}", self.found());
        self.unsupported(self.token.start, &message)
    }

    pub fn column(&mut self, offset: usize) -> Column {
        Column(u32::try_from(self.tokens.column(offset)).unwrap_or(u32::MAX))
    }

    /// The current token as an error message shows it.
    pub fn found(&self) -> String {
        match self.token.kind {
            Kind::End => "the end".into(),
            _ => quoted(&self.tokens.source[self.token.start..self.tokens.end]),
        }
    }

    pub fn error(&mut self, kind: XPathErrorKind, offset: usize, message: String) -> Box<XPathError> {
        Box::new(XPathError { kind, message, column: self.tokens.column(offset) })
    }

    pub fn unsupported(&mut self, offset: usize, message: &str) -> Box<XPathError> {
        self.error(XPathErrorKind::Unsupported, offset, message.into())
    }

    pub fn syntax_here(&mut self, message: String) -> Box<XPathError> {
        self.tokens.syntax(self.token.start, message)
    }
}

fn flatten_or<'a>(terms: &mut Vec<Expr<'a>>, next: Expr<'a>) {
    match next {
        Expr::Or(inner) => terms.extend(inner),
        term => terms.push(term),
    }
}

fn flatten_and<'a>(terms: &mut Vec<Expr<'a>>, next: Expr<'a>) {
    match next {
        Expr::And(inner) => terms.extend(inner),
        term => terms.push(term),
    }
}

fn comparison_of(kind: Kind<'_>) -> Option<Comparison> {
    Some(match kind {
        Kind::Equal => Comparison::Equal,
        Kind::NotEqual => Comparison::NotEqual,
        Kind::Less => Comparison::Less,
        Kind::LessEqual => Comparison::LessEqual,
        Kind::Greater => Comparison::Greater,
        Kind::GreaterEqual => Comparison::GreaterEqual,
        _ => return None,
    })
}
