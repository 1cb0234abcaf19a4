//! From the expression as written to a typed one.

use super::node::{NameTest, NodeTest};
use super::place::Place;
use super::scope::{Scope, attribute_name, node_test};
use super::term::{Double, Operator, Origin, Term, TermStep, Typed};
use crate::limits::deeper;
use crate::values::Comparison;
use crate::xpath::ast::{self, Axis, Expr, Function, Path, Step, Type};
use crate::xpath::{XPathError, XPathErrorKind};

/// Operations of one expression, its variables put in. Without variables the length of the source is the bound.
const OPERATIONS: usize = 1 << 16;

/// The typed expression that an expression is.
///
/// # Errors
/// A prefix without a namespace, variables that multiply beyond measure, or a regular expression that is refused.
pub fn typed(expression: &Expr<'_>, place: Place, scope: &mut Scope<'_>) -> Result<Typed, XPathError> {
    Compiler { scope, left: OPERATIONS }.expression(expression, place)
}

/// A chain of steps from the context node, perhaps compared with a constant.
pub(super) fn typed_steps(
    steps: &[Step<'_>],
    comparison: Option<(Comparison, &Expr<'_>)>,
    scope: &mut Scope<'_>,
) -> Result<Typed, XPathError> {
    let mut compiler = Compiler { scope, left: OPERATIONS };
    let path = Typed::new(Term::Path(Origin::Context, compiler.steps(steps)?));
    let Some((comparison, constant)) = comparison else { return Ok(path) };
    let constant = compiler.expression(constant, Place::Predicate)?;
    Ok(Typed::new(Term::Apply(Operator::Compare(comparison), vec![path, constant])))
}

struct Compiler<'c, 's> {
    scope: &'c mut Scope<'s>,
    left: usize,
}

impl Compiler<'_, '_> {
    fn expression(&mut self, expression: &Expr<'_>, place: Place) -> Result<Typed, XPathError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(XPathError {
                kind: XPathErrorKind::Limit,
                message: format!("with its variables the expression has more than {OPERATIONS} operations"),
                column: expression.column().0 as usize,
            });
        };
        self.left = left;
        deeper(|| self.compiled(expression, place))
    }

    fn compiled(&mut self, expression: &Expr<'_>, place: Place) -> Result<Typed, XPathError> {
        Ok(match expression {
            Expr::Or(terms) => self.apply(Operator::Or, terms, place)?,
            Expr::And(terms) => self.apply(Operator::And, terms, place)?,
            Expr::Not(inner, _) => self.apply(Operator::Not, std::slice::from_ref(&**inner), place)?,
            Expr::Compare(comparison, left, right, _) => {
                let sides = vec![self.expression(left, place)?, self.expression(right, place)?];
                Typed::new(Term::Apply(Operator::Compare(*comparison), sides))
            }
            Expr::Arithmetic(first, rest, _) => {
                let mut operands = vec![self.expression(first, place)?];
                for (_, operand) in rest {
                    operands.push(self.expression(operand, place)?);
                }
                let operators = rest.iter().map(|(operator, _)| *operator).collect();
                Typed::new(Term::Apply(Operator::Arithmetic(operators), operands))
            }
            Expr::Negate(inner, _) => self.apply(Operator::Negate, std::slice::from_ref(&**inner), place)?,
            Expr::Call(function, arguments, column) => self.call(*function, arguments, *column, place)?,
            Expr::Union(paths) => {
                let parts: Result<_, _> = paths.iter().map(|path| self.path(path, place)).collect();
                Typed::new(Term::Apply(Operator::Union, parts?))
            }
            Expr::Path(path) => self.path(path, place)?,
            Expr::Variable(_, bound, _) => self.expression(bound, Place::Document)?,
            Expr::Literal(text) => Typed::new(Term::Text((*text).into())),
            Expr::Number(number) => Typed::new(Term::Number(Double(*number))),
        })
    }

    fn apply(&mut self, operator: Operator, parts: &[Expr<'_>], place: Place) -> Result<Typed, XPathError> {
        let parts: Result<_, _> = parts.iter().map(|part| self.expression(part, place)).collect();
        Ok(Typed::new(Term::Apply(operator, parts?)))
    }

    fn call(
        &mut self,
        function: Function,
        arguments: &[Expr<'_>],
        column: ast::Column,
        place: Place,
    ) -> Result<Typed, XPathError> {
        // Outside predicates the context is the document node alone.
        if place != Place::Predicate && matches!(function, Function::Position | Function::Last) {
            return Ok(Typed::new(Term::Number(Double(1.0))));
        }
        if function == Function::Matches {
            check_pattern(arguments, column)?;
        }
        let call = self.apply(Operator::Call(function), arguments, place)?;
        let on_context = matches!(
            function,
            Function::String
                | Function::Number
                | Function::StringLength
                | Function::NormalizeSpace
                | Function::LocalName
                | Function::NamespaceUri
                | Function::Name
        );
        if function == Function::Lang || on_context && arguments.is_empty() {
            let origin = if place == Place::Predicate { Origin::Context } else { Origin::Root };
            if let Term::Apply(operator, mut parts) = *call.0 {
                parts.push(Typed::new(Term::Path(origin, Vec::new())));
                return Ok(Typed::new(Term::Apply(operator, parts)));
            }
        }
        Ok(call)
    }

    fn path(&mut self, path: &Path<'_>, place: Place) -> Result<Typed, XPathError> {
        let origin = match &path.origin {
            ast::Origin::Root => Origin::Root,
            ast::Origin::Context if place == Place::Predicate => Origin::Context,
            ast::Origin::Context => Origin::Root,
            ast::Origin::Filter(start, predicates) => {
                let start = self.expression(start, place)?;
                let predicates: Result<_, _> =
                    predicates.iter().map(|each| self.expression(each, Place::Predicate)).collect();
                Origin::Filter(start, predicates?)
            }
        };
        let mut steps = self.steps(&path.steps)?;
        // At the top a relative path starts anywhere.
        if place == Place::Top && path.origin == ast::Origin::Context {
            steps.insert(0, anywhere());
            merge(&mut steps);
        }
        Ok(Typed::new(Term::Path(origin, steps)))
    }

    fn steps(&mut self, steps: &[Step<'_>]) -> Result<Vec<TermStep<Typed>>, XPathError> {
        let mut compiled = Vec::with_capacity(steps.len());
        for step in steps {
            let predicates: Result<_, _> =
                step.predicates.iter().map(|each| self.expression(each, Place::Predicate)).collect();
            let test = match (step.axis, step.test) {
                (Axis::Attribute, test) if test.is_name() => {
                    NodeTest::Element(attribute_name(step, self.scope)?.unwrap_or(NameTest::Any))
                }
                _ => node_test(step, self.scope)?,
            };
            compiled.push(TermStep { axis: step.axis, test, predicates: predicates? });
        }
        merge(&mut compiled);
        Ok(compiled)
    }
}

/// The step that `//` stands for.
fn anywhere() -> TermStep<Typed> {
    TermStep { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new() }
}

/// `//a` is `descendant::a`, unless a predicate counts the children of one parent.
fn merge(steps: &mut Vec<TermStep<Typed>>) {
    let mut at = 0;
    while at + 1 < steps.len() {
        let next = &steps[at + 1];
        let leads = steps[at] == anywhere();
        let free = !next.predicates.iter().any(positional);
        if leads && free && matches!(next.axis, Axis::Child | Axis::Descendant | Axis::DescendantOrSelf) {
            steps.remove(at);
            if steps[at].axis == Axis::Child {
                steps[at].axis = Axis::Descendant;
            }
        } else {
            at += 1;
        }
    }
}

/// Whether a predicate depends on positions.
pub(super) fn positional(predicate: &Typed) -> bool {
    predicate.0.kind() == Type::Number || asks_position(predicate)
}

/// Whether the context position or size decides it.
fn asks_position(typed: &Typed) -> bool {
    if let Term::Apply(Operator::Call(Function::Position | Function::Last), _) = *typed.0 {
        return true;
    }
    let mut found = false;
    typed.0.parts(|part, predicate| found |= !predicate && asks_position(part));
    found
}

/// A pattern is known when a subscription is registered, so that a bad one is refused then.
fn check_pattern(arguments: &[Expr<'_>], column: ast::Column) -> Result<(), XPathError> {
    let refused = |kind, message| XPathError { kind, message, column: column.0 as usize };
    let [_, Expr::Literal(pattern), flags @ ..] = arguments else {
        let message = "matches() takes its pattern as a literal";
        return Err(refused(XPathErrorKind::Unsupported, message.into()));
    };
    let flags = match flags {
        [] => "",
        [Expr::Literal(flags)] => flags,
        _ => {
            let message = "matches() takes its flags as a literal";
            return Err(refused(XPathErrorKind::Unsupported, message.into()));
        }
    };
    match crate::values::regex::compile(pattern, flags) {
        Ok(_) => Ok(()),
        Err(message) => Err(refused(XPathErrorKind::Syntax, message)),
    }
}
