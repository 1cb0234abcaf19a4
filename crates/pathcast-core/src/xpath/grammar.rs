//! From source text to expression tree: operators, parentheses, variables. Function calls are in `functions`,
//! paths in `steps`.
//!
//! The idea: recursive descent with one token of look-ahead. The operands and operators between two brackets
//! are read as one flat list, which is then folded by precedence, so only predicates, parentheses and function
//! calls recurse, and a chain of ten thousand `+` is a loop.
//!
//! Invariants of the tree: `or`, `and` and `|` are flattened, through parentheses too; what must be a node-set
//! by XPath's rules is one.
//! Cost: linear in the source; one allocation for each list or box of the tree and none beside.

use std::rc::Rc;

use super::ast::Function;
use super::ast::{Arithmetic, Column, Expr, Origin, Path, Type};
use super::error::{XPathError, XPathErrorKind};
use super::expansion;
use super::refusals;
use super::tokens::{Kind, Parsed, Token, Tokens, quoted};
use super::variables::{Environment, Value};
use crate::limits::{Limits, deeper};
use crate::values::Comparison;

/// Nesting stops here whatever the limits say: some who walk the tree, to drop or to compare it, use the stack they have.
const DEEPEST: usize = 256;

/// Parses a subscription without variables.
///
/// ```
/// use pathcast_core::{limits::Limits, xpath::parse};
/// let expression = parse("/child::a/descendant-or-self::node()/b[(@x) > 3]", &Limits::default())?;
/// assert_eq!(expression.to_string(), "/a//b[@x > 3]");
/// # Ok::<(), pathcast_core::xpath::XPathError>(())
/// ```
pub fn parse<'a>(source: &'a str, limits: &Limits) -> Result<Expr<'a>, XPathError> {
    parse_with(source, &Environment::default(), limits)
}

/// Parses a subscription whose variables mean what an environment says.
pub fn parse_with<'a>(
    source: &'a str,
    environment: &Environment<'a>,
    limits: &Limits,
) -> Result<Expr<'a>, XPathError> {
    if source.len() > limits.expression_bytes {
        let message = format!(
            "the expression has {} bytes, more than the limit of {}",
            source.len(),
            limits.expression_bytes
        );
        return Err(XPathError { kind: XPathErrorKind::Limit, message, column: 1 });
    }
    let (expression, branches) =
        Parser::new(source, environment, limits).and_then(Parser::whole).map_err(|error| *error)?;
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
    environment: &'l Environment<'a>,
    /// Predicates, parentheses and calls open around the current token.
    depth: usize,
    /// Steps written so far.
    pub steps: usize,
    /// Whether there is a connective or a union, without which nothing expands.
    branches: bool,
}

impl<'a, 'l> Parser<'a, 'l> {
    fn new(source: &'a str, environment: &'l Environment<'a>, limits: &'l Limits) -> Parsed<Self> {
        let mut tokens = Tokens::new(source);
        let token = tokens.next()?;
        Ok(Self { tokens, token, limits, environment, depth: 0, steps: 0, branches: false })
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

    /// Operands and operators up to whatever is neither, folded by precedence.
    pub fn expression(&mut self) -> Parsed<Expr<'a>> {
        deeper(|| self.flat())
    }

    fn flat(&mut self) -> Parsed<Expr<'a>> {
        let first = self.operand()?;
        let Some(operator) = operator_of(self.token.kind) else { return Ok(first) };
        let mut flat = Flat { operands: vec![first], operators: Vec::new() };
        let mut next = Some(operator);
        while let Some(operator) = next {
            let column = self.column(self.token.start);
            self.branches |= matches!(operator, Operator::Or | Operator::And);
            flat.operators.push((operator, column));
            let before = self.token;
            self.advance()?;
            if let Some(message) = refusals::pair(before.kind, self.token.kind) {
                return Err(self.unsupported(before.start, message));
            }
            let operand = self.operand()?;
            flat.operands.push(operand);
            next = operator_of(self.token.kind);
        }
        self.check_chain(&flat)?;
        Ok(flat.folded())
    }

    /// Comparisons in a row nest to the left, so they count as nesting.
    fn check_chain(&mut self, flat: &Flat<'a>) -> Parsed<()> {
        let compares = |operator: &(Operator, Column)| matches!(operator.0, Operator::Compare(_));
        let mut row = 0;
        for operator in &flat.operators {
            row = match operator.0 {
                Operator::Or | Operator::And => 0,
                _ => row + usize::from(compares(operator)),
            };
            if row > self.limits.nesting.min(DEEPEST) {
                let message = format!("{row} comparisons stand in a row, more than the limit of {}", row - 1);
                let column = operator.1.0 as usize;
                return Err(Box::new(XPathError { kind: XPathErrorKind::Limit, message, column }));
            }
        }
        Ok(())
    }

    /// A union with its signs.
    fn operand(&mut self) -> Parsed<Expr<'a>> {
        let column = self.column(self.token.start);
        let mut signs = 0_usize;
        while self.token.kind == Kind::Minus {
            signs += 1;
            self.advance()?;
        }
        let operand = self.union()?;
        Ok(match operand {
            operand if signs == 0 => operand,
            Expr::Number(number) => Expr::Number(if signs % 2 == 1 { -number } else { number }),
            operand if signs % 2 == 1 => Expr::Negate(Box::new(operand), column),
            operand => Expr::Call(Function::Number, vec![operand], column),
        })
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
            let before = self.token;
            self.advance()?;
            if let Some(message) = refusals::pair(before.kind, self.token.kind) {
                return Err(self.unsupported(before.start, message));
            }
            let start = self.token.start;
            let next = self.primary()?;
            self.flatten_union(&mut paths, next, start)?;
        }
        Ok(Expr::Union(paths))
    }

    fn flatten_union(&mut self, paths: &mut Vec<Path<'a>>, next: Expr<'a>, start: usize) -> Parsed<()> {
        let column = self.column(start);
        match next {
            Expr::Path(path) => paths.push(path),
            Expr::Union(inner) => paths.extend(inner),
            other if other.kind() == Type::Nodes => {
                let origin = Origin::Filter(Box::new(other), Vec::new());
                paths.push(Path { origin, steps: Vec::new(), column });
            }
            _ => {
                return Err(self
                    .tokens
                    .syntax(start, "| joins paths only; use or between conditions".into()));
            }
        }
        Ok(())
    }

    /// A path, or what XPath calls a filter expression and perhaps steps from its nodes.
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
                if self.token.kind == Kind::Comma {
                    return Err(self.unsupported(start, refusals::SEQUENCE));
                }
                self.close(Kind::CloseParenthesis, (start, "("), ")")?;
                inner
            }
            Kind::Function(prefix, name) => self.call(prefix, name)?,
            Kind::Variable(name) => self.variable(name)?,
            _ => {
                let path = self.path()?;
                // `for $x in …`: a name that a variable follows.
                if let (Kind::Variable(_), [step]) = (self.token.kind, path.steps.as_slice())
                    && let Some(message) = refusals::binder(step.test)
                {
                    return Err(self.unsupported(start, &message));
                }
                return Ok(Expr::Path(path));
            }
        };
        if !matches!(self.token.kind, Kind::OpenBracket | Kind::Slash | Kind::DoubleSlash) {
            return Ok(primary);
        }
        if primary.kind() != Type::Nodes {
            let what = if self.token.kind == Kind::OpenBracket { "a predicate" } else { "a step" };
            return Err(self.syntax_here(format!("{what} can only follow a path, and this is a value")));
        }
        let column = self.column(start);
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        if matches!(self.token.kind, Kind::Slash | Kind::DoubleSlash) {
            self.further_steps(&mut steps)?;
        }
        Ok(Expr::Path(Path { origin: Origin::Filter(Box::new(primary), predicates), steps, column }))
    }

    /// A variable: a constant in its place, or the expression that is bound to it.
    fn variable(&mut self, written: &'a str) -> Parsed<Expr<'a>> {
        let start = self.token.start;
        let column = self.column(start);
        let name = &written[1..];
        let Some(value) = self.environment.get(name) else {
            let message = format!("the variable {} is not bound; pass it in variables=", quoted(written));
            return Err(self.error(XPathErrorKind::UnboundVariable, start, message));
        };
        self.advance()?;
        Ok(match value {
            Value::Text(text) => Expr::Literal(text),
            Value::Number(number) => Expr::Number(*number),
            Value::Boolean(true) => Expr::Call(Function::True, Vec::new(), column),
            Value::Boolean(false) => Expr::Call(Function::False, Vec::new(), column),
            Value::Expression(bound) => Expr::Variable(name, Rc::clone(bound), column),
        })
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

/// What stands between two operands.
#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Or,
    And,
    Compare(Comparison),
    Arithmetic(Arithmetic),
}

impl Operator {
    /// From the tightest, 0, to the loosest.
    fn level(self) -> usize {
        match self {
            Self::Arithmetic(Arithmetic::Multiply | Arithmetic::Divide | Arithmetic::Modulo) => 0,
            Self::Arithmetic(_) => 1,
            Self::Compare(Comparison::Equal | Comparison::NotEqual) => 3,
            Self::Compare(_) => 2,
            Self::And => 4,
            Self::Or => 5,
        }
    }
}

fn operator_of(kind: Kind<'_>) -> Option<Operator> {
    Some(match kind {
        Kind::Or => Operator::Or,
        Kind::And => Operator::And,
        Kind::Equal => Operator::Compare(Comparison::Equal),
        Kind::NotEqual => Operator::Compare(Comparison::NotEqual),
        Kind::Less => Operator::Compare(Comparison::Less),
        Kind::LessEqual => Operator::Compare(Comparison::LessEqual),
        Kind::Greater => Operator::Compare(Comparison::Greater),
        Kind::GreaterEqual => Operator::Compare(Comparison::GreaterEqual),
        Kind::Plus => Operator::Arithmetic(Arithmetic::Add),
        Kind::Minus => Operator::Arithmetic(Arithmetic::Subtract),
        Kind::Multiply => Operator::Arithmetic(Arithmetic::Multiply),
        Kind::Div => Operator::Arithmetic(Arithmetic::Divide),
        Kind::Mod => Operator::Arithmetic(Arithmetic::Modulo),
        _ => return None,
    })
}

/// One more operand than operators.
struct Flat<'a> {
    operands: Vec<Expr<'a>>,
    operators: Vec<(Operator, Column)>,
}

impl<'a> Flat<'a> {
    /// One expression: every level of precedence in one pass, from the tightest to the loosest.
    fn folded(self) -> Expr<'a> {
        let mut flat = self;
        for level in 0..=5 {
            if flat.operators.iter().any(|(operator, _)| operator.level() == level) {
                flat = flat.fold(level);
            }
        }
        flat.operands.pop().unwrap_or(Expr::Literal(""))
    }

    fn fold(self, level: usize) -> Self {
        let mut folded = Flat { operands: Vec::new(), operators: Vec::new() };
        let mut operands = self.operands.into_iter();
        folded.operands.extend(operands.next());
        let mut joined = false;
        for ((operator, column), right) in self.operators.into_iter().zip(operands) {
            if operator.level() != level {
                folded.operators.push((operator, column));
                folded.operands.push(right);
                joined = false;
                continue;
            }
            let Some(left) = folded.operands.pop() else { break };
            folded.operands.push(join(operator, left, right, column, joined));
            joined = true;
        }
        folded
    }
}

/// Two operands joined; `chained` if the left one was made by the operator before, of the same precedence.
fn join<'a>(operator: Operator, left: Expr<'a>, right: Expr<'a>, column: Column, chained: bool) -> Expr<'a> {
    match (operator, left) {
        (Operator::Or, left) => {
            let mut terms = if let Expr::Or(terms) = left { terms } else { vec![left] };
            if let Expr::Or(more) = right {
                terms.extend(more)
            } else {
                terms.push(right)
            }
            Expr::Or(terms)
        }
        (Operator::And, left) => {
            let mut terms = if let Expr::And(terms) = left { terms } else { vec![left] };
            if let Expr::And(more) = right {
                terms.extend(more)
            } else {
                terms.push(right)
            }
            Expr::And(terms)
        }
        (Operator::Compare(comparison), left) => {
            Expr::Compare(comparison, Box::new(left), Box::new(right), column)
        }
        (Operator::Arithmetic(operator), Expr::Arithmetic(first, mut rest, start)) if chained => {
            rest.push((operator, right));
            Expr::Arithmetic(first, rest, start)
        }
        (Operator::Arithmetic(operator), left) => {
            Expr::Arithmetic(Box::new(left), vec![(operator, right)], column)
        }
    }
}
