//! `contains()` and `starts-with()` on a path and a constant: a test on the first node that the path selects.

use super::build::{and, at_document, constant, first, not, or, root};
use super::condition::{Axis, Condition, FirstStep, NodePattern, NodeTest};
use super::place::{Leaf, Place};
use super::scope::{Scope, attribute_name, node_test};
use super::steps::{direction, stays_on_attribute, suits_attribute};
use crate::values::{ValueTest, number};
use crate::xpath::XPathError;
use crate::xpath::ast::{self, Expr, Function, Origin, Path, Step};

/// The two arguments of a string function, at most one of them a path.
pub(crate) enum Arguments<'e, 'a> {
    /// Both were constants.
    Constant(bool),
    /// `f(path, constant)`: holds for nothing when the path finds nothing.
    Subject(&'e Path<'a>, ValueTest),
    /// `f(constant, path)`: holds as well when the path finds nothing, whose string is empty.
    Pattern(&'e Path<'a>, ValueTest),
}

/// The arguments of a call that is a test on one node; `None` if it is more.
pub(crate) fn arguments<'e, 'a>(function: Function, both: &'e [Expr<'a>]) -> Option<Arguments<'e, 'a>> {
    let contains = match function {
        Function::Contains => true,
        Function::StartsWith => false,
        _ => return None,
    };
    Some(match both {
        // Every string contains and starts with the empty one.
        [_, Expr::Literal("")] => Arguments::Constant(true),
        [Expr::Path(path), right] => {
            let text = text_of(right)?.into();
            let test = if contains { ValueTest::Contains(text) } else { ValueTest::StartsWith(text) };
            Arguments::Subject(path, test)
        }
        [left, Expr::Path(path)] => {
            let text = text_of(left)?.into();
            let test = if contains { ValueTest::ContainedIn(text) } else { ValueTest::PrefixOf(text) };
            Arguments::Pattern(path, test)
        }
        [left, right] => {
            let (left, right) = (text_of(left)?, text_of(right)?);
            Arguments::Constant(if contains { left.contains(&right) } else { left.starts_with(&right) })
        }
        _ => return None,
    })
}

/// Whether the first node of a path can be followed: steps by axes that conditions have, without positions, and behind
/// an attribute nothing.
fn is_plain(path: &Path<'_>) -> bool {
    let mut on_attribute = false;
    !matches!(path.origin, Origin::Filter(..))
        && path.steps.iter().all(|step| {
            let free = !step.predicates.iter().any(Expr::is_positional);
            let plain = if on_attribute {
                stays_on_attribute(step)
            } else if step.axis == ast::Axis::Attribute {
                on_attribute = true;
                let named = !matches!(
                    step.test,
                    ast::NodeTest::Text | ast::NodeTest::Comment | ast::NodeTest::Instruction(_)
                );
                named && step.predicates.iter().all(suits_attribute)
            } else {
                direction(step.axis).is_some()
            };
            free && plain
        })
}

/// A constant as a string.
fn text_of(constant: &Expr<'_>) -> Option<String> {
    match constant {
        Expr::Literal(text) => Some((*text).to_owned()),
        Expr::Number(value) => Some(number::to_xpath_string(*value)),
        _ => None,
    }
}

impl Scope<'_> {
    /// The condition that a call is, if conditions can say it.
    pub(super) fn call(
        &mut self,
        function: Function,
        both: &[Expr<'_>],
        place: Place,
    ) -> Result<Option<Condition>, XPathError> {
        Ok(match arguments(function, both) {
            Some(Arguments::Constant(value)) => Some(constant(value)),
            Some(Arguments::Subject(path, test)) if is_plain(path) => Some(self.on_first(path, test, place)?),
            Some(Arguments::Pattern(path, test)) if is_plain(path) => {
                let absent = not(self.anchored(path, &Leaf::exists(), place)?);
                Some(or([absent, self.on_first(path, test, place)?]))
            }
            _ => None,
        })
    }

    /// A test on the first node of a path. Where there can be but one node it is a plain test on that node.
    fn on_first(&mut self, path: &Path<'_>, test: ValueTest, place: Place) -> Result<Condition, XPathError> {
        let single = path.steps.iter().all(|step| {
            step.axis == ast::Axis::SelfNode
                || step.axis == ast::Axis::Attribute
                    && matches!(step.test, ast::NodeTest::Name(..))
                    && !self.ignore_namespaces
        });
        if single && (place == Place::Predicate || path.absolute()) {
            let leaf = Leaf { condition: Condition::Value(test), comparison: None };
            return self.anchored(path, &leaf, place);
        }
        let mut chain = self.first_steps(&path.steps)?;
        if place == Place::Top && !path.absolute() {
            let anywhere = NodePattern { test: NodeTest::Node, condition: Condition::True };
            chain.insert(0, FirstStep::Node(Axis::DESCENDANT_OR_SELF, anywhere));
        }
        let found = first(chain, test);
        Ok(if place == Place::Predicate && path.absolute() { root(at_document(found)) } else { found })
    }

    /// The steps of a path whose first node is asked for.
    pub(crate) fn first_steps(&mut self, steps: &[Step<'_>]) -> Result<Vec<FirstStep>, XPathError> {
        let mut chain = Vec::new();
        for step in steps {
            let condition = self.predicates(step)?;
            if step.axis == ast::Axis::Attribute {
                if let Some(name) = attribute_name(step, self)? {
                    chain.push(FirstStep::Attribute(name, condition));
                }
            } else if let (ast::Axis::SelfNode, Some(FirstStep::Attribute(_, inner))) =
                (step.axis, chain.last_mut())
            {
                *inner = and([std::mem::replace(inner, Condition::True), condition]);
            } else if let Some(axis) = direction(step.axis) {
                let test = node_test(step, self)?;
                chain.push(FirstStep::Node(axis, NodePattern { test, condition }));
            }
        }
        Ok(chain)
    }
}
