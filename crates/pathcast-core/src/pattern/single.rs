//! Functions of at most one node: what they say can be said of the node itself.
//!
//! `string(@a) = 'c'` is `@a = 'c'`, `local-name(/*) = 'a'` is `/*[local-name() = 'a']`, and what a node is called is a test
//! of its name. With several nodes a function would take the first, and a comparison any.

use super::build::{is, not, or};
use super::comparand::leaf;
use super::condition::{Condition, NameTest, NodeTest};
use super::place::Place;
use super::scope::Scope;
use super::steps::{Position, position};
use crate::values::Comparison;
use crate::xpath::ast::{self, Expr, Function, Origin, Path, Step};
use crate::xpath::{XPathError, asked_name, is_local};

impl Scope<'_> {
    /// A comparison of a function of at most one node with a constant, if conditions can say it.
    pub(super) fn of_one(
        &mut self,
        expression: &Expr<'_>,
        place: Place,
    ) -> Result<Option<Condition>, XPathError> {
        if place == Place::Predicate
            && let Some((comparison, function, text)) = asked_name(expression)
        {
            let named = self.own_name(function, text);
            return Ok(named.map(|named| if comparison == Comparison::Equal { named } else { not(named) }));
        }
        let Expr::Compare(comparison, left, right, column) = expression else { return Ok(None) };
        let (comparison, call, constant) = match (&**left, &**right) {
            (call @ Expr::Call(..), constant) => (*comparison, call, constant),
            (constant, call @ Expr::Call(..)) => (comparison.mirrored(), call, constant),
            _ => return Ok(None),
        };
        let Expr::Call(function, arguments, _) = call else { return Ok(None) };
        let [nodes] = arguments.as_slice() else { return Ok(None) };
        if !at_most_one(nodes, place, self.ignore_namespaces) {
            return Ok(None);
        }
        if comparison == Comparison::NotEqual {
            // Of a string, and of a number that NaN is not equal to, it is the opposite.
            let same = Expr::Compare(Comparison::Equal, left.clone(), right.clone(), *column);
            return Ok(self.of_one(&same, place)?.map(not));
        }
        Ok(Some(match (function, constant, comparison) {
            (Function::String, Expr::Literal(text), Comparison::Equal) => {
                let found = self.compared(nodes, &leaf(comparison, constant), place)?;
                // Without a node the string is empty.
                if text.is_empty() { or([found, not(self.convert(nodes, place)?)]) } else { found }
            }
            // Without a node the number is NaN, which no comparison holds for.
            (Function::Number, Expr::Number(_), _) => {
                self.compared(nodes, &leaf(comparison, constant), place)?
            }
            (Function::LocalName | Function::NamespaceUri, Expr::Literal(text), Comparison::Equal)
                if !text.is_empty() =>
            {
                let Expr::Path(path) = nodes else { return Ok(None) };
                let own = Expr::Call(*function, Vec::new(), *column);
                let (comparison, text) = (Comparison::Equal, Expr::Literal(text));
                let asked = Expr::Compare(comparison, Box::new(own), Box::new(text), *column);
                let (axis, test, predicates) = (ast::Axis::SelfNode, ast::NodeTest::Node, vec![asked]);
                let mut path = path.clone();
                path.steps.push(Step { axis, test, predicates, column: *column });
                self.convert(&Expr::Path(path), place)?
            }
            _ => return Ok(None),
        }))
    }

    /// What the node that is asked, which is no attribute, is called.
    pub(super) fn own_name(&mut self, function: Function, text: &str) -> Option<Condition> {
        let element = |name| is(NodeTest::Element(name));
        match function {
            // An instruction is called by its target.
            Function::LocalName if is_local(text) => {
                Some(or([element(self.local_test(text)), is(NodeTest::Instruction(Some(text.into())))]))
            }
            Function::NamespaceUri if !self.ignore_namespaces => {
                let named = element(self.uri_test(text));
                // Other nodes are in no namespace.
                Some(if text.is_empty() { or([named, not(element(NameTest::Any))]) } else { named })
            }
            _ => None,
        }
    }
}

/// Whether an expression selects one node at most.
fn at_most_one(nodes: &Expr<'_>, place: Place, ignore_namespaces: bool) -> bool {
    let Expr::Path(path) = nodes else { return false };
    let starts = match &path.origin {
        Origin::Root => true,
        Origin::Context => place != Place::Top,
        Origin::Filter(_, predicates) => predicates.iter().any(picks_one),
    };
    starts
        && path.steps.iter().enumerate().all(|(at, step)| match step.axis {
            ast::Axis::SelfNode | ast::Axis::Parent => true,
            ast::Axis::Attribute if !ignore_namespaces && is_one_name(step) => true,
            // A document has one root element.
            ast::Axis::Child if at == 0 && is_document(path, place) && step.test.is_name() => true,
            _ => step.predicates.iter().any(picks_one),
        })
}

fn is_one_name(step: &Step<'_>) -> bool {
    matches!(step.test, ast::NodeTest::Name(..) | ast::NodeTest::Expanded(..))
}

fn is_document(path: &Path<'_>, place: Place) -> bool {
    match path.origin {
        Origin::Root => true,
        Origin::Context => place == Place::Document,
        Origin::Filter(..) => false,
    }
}

/// Whether a predicate leaves one node of a list at most.
fn picks_one(predicate: &Expr<'_>) -> bool {
    matches!(predicate, Expr::Number(_))
        || predicate.is_positional()
            && matches!(position(predicate), Some(Position::First | Position::Last | Position::Never))
}
