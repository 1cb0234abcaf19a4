//! Ordered mode: siblings in document order along distinct branches.
//!
//! The branches of a pattern node are its path predicates in the order written, then the next step; each must lie
//! under a different child of the node it is mapped to, in that order. Tests on attributes, on the node's own text and
//! on paths from the root are conditions, not branches. The definition is that of "Efficient filtering of XML
//! documents with XPath expressions"; a pattern node with a single branch means the same in both modes, and shares its
//! normal form.

use super::build::{and, at_document, attribute, constant, exists, first, is, ordered, root};
use super::comparand::{Comparand, comparand};
use super::condition::{Axis, Branch, Condition, FirstStep, NodePattern, NodeTest};
use super::place::{Leaf, Place};
use super::scope::{Scope, attribute_name, node_test, unsupported};
use super::steps::{direction, stays_on_attribute, suits_attribute};
use super::strings::{Arguments, arguments};
use crate::values::ValueTest;
use crate::xpath::XPathError;
use crate::xpath::ast::{self, Expr, Function, Path, Step};

/// The condition on the document node that an ordered expression is.
pub(super) fn ordered_expression(
    expression: &Expr<'_>,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    refuse_unordered(expression)?;
    let mut node = Node::default();
    node.expression(expression, Place::Top, scope)?;
    Ok(at_document(node.condition()))
}

/// What is said of one pattern node while its predicates and next step are read.
#[derive(Default)]
struct Node {
    conditions: Vec<Condition>,
    branches: Vec<Branch>,
}

impl Node {
    fn condition(self) -> Condition {
        and(self.conditions.into_iter().chain([ordered(self.branches)]))
    }

    fn expression(
        &mut self,
        expression: &Expr<'_>,
        place: Place,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathError> {
        match expression {
            Expr::And(terms) => {
                for term in terms {
                    self.expression(term, place, scope)?;
                }
            }
            Expr::Path(path) => self.path(path, Condition::True, place, scope)?,
            Expr::Compare(comparison, left, right, column) => match comparand(*comparison, left, right) {
                Some(Comparand::Constant(value)) => self.conditions.push(constant(value)),
                Some(Comparand::Nodes(Expr::Path(path), leaf)) => {
                    self.path(path, leaf.condition, place, scope)?;
                }
                _ if asks_elements(expression) => {
                    return Err(unsupported("this comparison in ordered mode", *column));
                }
                _ => self.conditions.push(scope.convert(expression, place)?),
            },
            Expr::Call(function, both, column) => match arguments(*function, both) {
                Some(Arguments::Subject(path, test)) if selects_elements(path) => {
                    self.first(path, test, place, scope)?;
                }
                Some(Arguments::Pattern(path, _)) if selects_elements(path) => {
                    let construct =
                        "an element path as the second argument of a string function in ordered mode";
                    return Err(unsupported(construct, path.column));
                }
                None if asks_elements(expression) => {
                    let construct = format!("{function}() over elements in ordered mode");
                    return Err(unsupported(&construct, *column));
                }
                _ => self.conditions.push(scope.convert(expression, place)?),
            },
            Expr::Arithmetic(_, _, column) | Expr::Negate(_, column) if asks_elements(expression) => {
                return Err(unsupported("arithmetic over elements in ordered mode", *column));
            }
            Expr::Literal(_)
            | Expr::Number(_)
            | Expr::Arithmetic(..)
            | Expr::Negate(..)
            | Expr::Variable(..) => self.conditions.push(scope.convert(expression, place)?),
            Expr::Or(_) | Expr::Not(..) | Expr::Union(_) => {} // refused before
        }
        Ok(())
    }

    /// At the top every path is a pattern of its own; in a predicate only an absolute one is.
    fn path(
        &mut self,
        path: &Path<'_>,
        leaf: Condition,
        place: Place,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathError> {
        if place == Place::Predicate && !path.absolute() {
            return self.steps(&path.steps, leaf, scope);
        }
        let mut own = Node::default();
        if path.absolute() {
            own.steps(&path.steps, leaf, scope)?;
        } else {
            own.anywhere(&path.steps, leaf, scope)?;
        }
        let condition = own.condition();
        self.conditions.push(if place == Place::Top { condition } else { root(at_document(condition)) });
        Ok(())
    }

    /// Reads a chain of steps that starts at this pattern node.
    fn steps(
        &mut self,
        chain: &[Step<'_>],
        leaf: Condition,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathError> {
        let Some((step, rest)) = chain.split_first() else {
            self.conditions.push(leaf);
            return Ok(());
        };
        match step.axis {
            ast::Axis::SelfNode => {
                self.conditions.push(is(node_test(step, scope)?));
                self.predicates(step, scope)?;
                self.steps(rest, leaf, scope)
            }
            ast::Axis::Attribute => {
                let leaf = Leaf { condition: leaf, comparison: None };
                let value = and([scope.predicates(step)?, scope.steps(rest, &leaf)?]);
                let name = attribute_name(step, scope)?;
                self.conditions.push(name.map_or(Condition::False, |name| attribute(name, value)));
                Ok(())
            }
            ast::Axis::DescendantOrSelf => {
                if step.test != ast::NodeTest::Node || !step.predicates.is_empty() {
                    return Err(unsupported("descendant-or-self:: spelled out in ordered mode", step.column));
                }
                self.anywhere(rest, leaf, scope)
            }
            axis => self.branch(direction(axis).unwrap_or(Axis::CHILD), step, rest, leaf, scope),
        }
    }

    /// Reads a chain of steps that starts at this pattern node or anywhere below it.
    fn anywhere(
        &mut self,
        chain: &[Step<'_>],
        leaf: Condition,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathError> {
        match chain.split_first() {
            Some((step, rest)) if matches!(step.axis, ast::Axis::Child | ast::Axis::Descendant) => {
                self.branch(Axis::DESCENDANT, step, rest, leaf, scope)
            }
            Some((step, rest)) if says_nothing(step) => self.anywhere(rest, leaf, scope),
            Some((step, _)) if step.axis == ast::Axis::SelfNode => {
                Err(unsupported("self:: after // in ordered mode", step.column))
            }
            // `//@x` may be met by the node itself, so it is no branch.
            _ => {
                let mut own = Node::default();
                own.steps(chain, leaf, scope)?;
                self.conditions.push(exists(Axis::DESCENDANT_OR_SELF, NodeTest::Node, own.condition()));
                Ok(())
            }
        }
    }

    fn branch(
        &mut self,
        axis: Axis,
        step: &Step<'_>,
        rest: &[Step<'_>],
        leaf: Condition,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathError> {
        let mut own = Node::default();
        own.predicates(step, scope)?;
        own.steps(rest, leaf, scope)?;
        let (test, condition) = (node_test(step, scope)?, own.condition());
        // A `node()` that leads to an element is one; a path without elements is about the node's own content.
        let element =
            matches!(test, NodeTest::Element(_)) || test == NodeTest::Node && rest.iter().any(names_element);
        match axis {
            Axis::Down { min, exact } if element => {
                self.branches.push(Branch::Exists { min, exact, pattern: NodePattern { test, condition } });
            }
            _ => self.conditions.push(exists(axis, test, condition)),
        }
        Ok(())
    }

    fn predicates(&mut self, step: &Step<'_>, scope: &mut Scope<'_>) -> Result<(), XPathError> {
        step.predicates.iter().try_for_each(|each| self.expression(each, Place::Predicate, scope))
    }

    /// A string function on an element path: the only node that counts is the first one.
    fn first(
        &mut self,
        path: &Path<'_>,
        test: ValueTest,
        place: Place,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathError> {
        for step in &path.steps {
            if step.predicates.iter().any(has_branch) {
                let construct = "branching predicates inside a string function in ordered mode";
                return Err(unsupported(construct, step.column));
            }
        }
        if place == Place::Predicate && !path.absolute() {
            self.branches.push(Branch::First(scope.first_steps(&path.steps)?, test));
            return Ok(());
        }
        let mut chain = scope.first_steps(&path.steps)?;
        if !path.absolute() {
            let anywhere = NodePattern { test: NodeTest::Node, condition: Condition::True };
            chain.insert(0, FirstStep::Node(Axis::DESCENDANT_OR_SELF, anywhere));
        }
        let condition = first(chain, test);
        self.conditions.push(if place == Place::Top { condition } else { root(at_document(condition)) });
        Ok(())
    }
}

/// Whether a path leaves its node for an element below.
fn selects_elements(path: &Path<'_>) -> bool {
    path.steps.iter().any(names_element)
}

fn names_element(step: &Step<'_>) -> bool {
    matches!(step.axis, ast::Axis::Child | ast::Axis::Descendant) && step.test.is_name()
}

/// Whether a step stays where it is or goes anywhere below, and says nothing more: `.` and `//`.
fn says_nothing(step: &Step<'_>) -> bool {
    matches!(step.axis, ast::Axis::SelfNode | ast::Axis::DescendantOrSelf)
        && step.test == ast::NodeTest::Node
        && step.predicates.is_empty()
}

fn has_branch(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::And(terms) | Expr::Call(_, terms, _) => terms.iter().any(has_branch),
        Expr::Path(path) => !path.absolute() && selects_elements(path),
        Expr::Compare(_, left, right, _) => has_branch(left) || has_branch(right),
        _ => false,
    }
}

/// Whether a value depends on more than the node itself, its attributes and its own text.
fn asks_elements(expression: &Expr<'_>) -> bool {
    let path = |path: &Path<'_>| {
        let own = |step: &Step<'_>| match step.axis {
            ast::Axis::SelfNode | ast::Axis::Attribute => true,
            ast::Axis::Child => !names_element(step) && step.test != ast::NodeTest::Node,
            _ => false,
        };
        path.origin != ast::Origin::Context || !path.steps.iter().all(own)
    };
    match expression {
        Expr::Or(terms) | Expr::And(terms) | Expr::Call(_, terms, _) => terms.iter().any(asks_elements),
        Expr::Not(inner, _) | Expr::Negate(inner, _) => asks_elements(inner),
        Expr::Compare(_, left, right, _) => asks_elements(left) || asks_elements(right),
        Expr::Arithmetic(first, rest, _) => {
            asks_elements(first) || rest.iter().any(|(_, operand)| asks_elements(operand))
        }
        Expr::Union(paths) => paths.iter().any(path),
        Expr::Path(one) => path(one),
        Expr::Variable(..) | Expr::Literal(_) | Expr::Number(_) => false,
    }
}

/// Ordered mode knows conjunctions and downward paths only.
fn refuse_unordered(expression: &Expr<'_>) -> Result<(), XPathError> {
    match expression {
        Expr::Or(_) => Err(unsupported("'or' in ordered mode", expression.column())),
        Expr::Not(_, column) => Err(unsupported("not() in ordered mode", *column)),
        Expr::Union(paths) => Err(unsupported("'|' in ordered mode", paths[0].column)),
        Expr::Call(Function::Id, _, column) => Err(unsupported("id() in ordered mode", *column)),
        Expr::And(terms) | Expr::Call(_, terms, _) => terms.iter().try_for_each(refuse_unordered),
        Expr::Path(path) => refuse_unordered_path(path),
        Expr::Compare(_, left, right, _) => {
            refuse_unordered(left)?;
            refuse_unordered(right)
        }
        Expr::Negate(inner, _) => refuse_unordered(inner),
        Expr::Arithmetic(first, rest, _) => {
            refuse_unordered(first)?;
            rest.iter().try_for_each(|(_, operand)| refuse_unordered(operand))
        }
        Expr::Variable(..) | Expr::Literal(_) | Expr::Number(_) => Ok(()),
    }
}

fn refuse_unordered_path(path: &Path<'_>) -> Result<(), XPathError> {
    if let ast::Origin::Filter(..) = path.origin {
        let construct = "a path that starts from parentheses, a function or a variable in ordered mode";
        return Err(unsupported(construct, path.column));
    }
    let mut on_attribute = false;
    for step in &path.steps {
        if !matches!(
            step.axis,
            ast::Axis::Child
                | ast::Axis::Descendant
                | ast::Axis::DescendantOrSelf
                | ast::Axis::SelfNode
                | ast::Axis::Attribute
        ) {
            return Err(unsupported(&format!("{}:: in ordered mode", step.axis), step.column));
        }
        if on_attribute && !stays_on_attribute(step) {
            return Err(unsupported("a step after an attribute in ordered mode", step.column));
        }
        on_attribute |= step.axis == ast::Axis::Attribute;
        for predicate in &step.predicates {
            if predicate.is_positional() {
                return Err(unsupported("a position in ordered mode", predicate.column()));
            }
            if on_attribute && !suits_attribute(predicate) {
                let construct = "more than a comparison with an attribute's value in ordered mode";
                return Err(unsupported(construct, predicate.column()));
            }
            refuse_unordered(predicate)?;
        }
    }
    Ok(())
}
