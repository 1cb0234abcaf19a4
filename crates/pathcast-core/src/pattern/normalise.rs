//! From the expression as written to its normal form.

use super::build::{and, at_document, attribute, constant, exists, first, is, not, or};
use super::condition::{Axis, Condition, FirstStep, NameTest, NodePattern, NodeTest};
use crate::names::{NameId, Names, NamespaceId};
use crate::values::{Comparison, Real, ValueTest, compare, number};
use crate::xpath::ast::{self, Expr, Function, Path, Step};
use crate::xpath::{XPathError, XPathErrorKind};

/// What the names in an expression mean.
pub struct Scope<'a> {
    /// Gives names their numbers.
    pub names: &'a mut Names,
    /// Prefixes to namespace URIs, looked up from first to last; the empty prefix is the namespace of element names
    /// without one.
    pub namespaces: &'a [&'a [(Box<str>, Box<str>)]],
    /// Whether only local names count.
    pub ignore_namespaces: bool,
}

/// Where an expression stands, which decides where its paths start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Outside all predicates: the context is the document node.
    Top,
    /// In a predicate.
    Predicate,
}

pub(crate) fn convert(
    expression: &Expr<'_>,
    place: Place,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    Ok(match expression {
        Expr::Or(terms) => or(all(terms, place, scope)?),
        Expr::And(terms) => and(all(terms, place, scope)?),
        Expr::Not(inner, _) => not(convert(inner, place, scope)?),
        Expr::Path(path) => anchored(path, Condition::True, place, scope)?,
        Expr::Union(paths) => union(paths, &Condition::True, place, scope)?,
        Expr::Literal(text) => constant(!text.is_empty()),
        Expr::Number(value) => constant(*value != 0.0 && !value.is_nan()),
        Expr::Compare(comparison, left, right, column) => match comparand(*comparison, left, right) {
            Comparand::Constant(value) => constant(value),
            Comparand::Nodes(nodes, leaf) => match nodes {
                Expr::Path(path) => anchored(path, leaf, place, scope)?,
                Expr::Union(paths) => union(paths, &leaf, place, scope)?,
                _ => return Err(unsupported("a comparison of these two operands", *column)),
            },
        },
        Expr::Call(function, left, right, column) => call(*function, left, right, *column, place, scope)?,
    })
}

fn all(terms: &[Expr<'_>], place: Place, scope: &mut Scope<'_>) -> Result<Vec<Condition>, XPathError> {
    terms.iter().map(|term| convert(term, place, scope)).collect()
}

fn union(
    paths: &[Path<'_>],
    leaf: &Condition,
    place: Place,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    let terms: Result<Vec<_>, _> =
        paths.iter().map(|path| anchored(path, leaf.clone(), place, scope)).collect();
    Ok(or(terms?))
}

/// A path that ends in a node which satisfies `leaf`, asked where the expression stands.
fn anchored(
    path: &Path<'_>,
    leaf: Condition,
    place: Place,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    let found = steps(&path.steps, leaf, scope)?;
    Ok(match (place, path.absolute) {
        (Place::Top, true) | (Place::Predicate, false) => found,
        (Place::Top, false) => exists(Axis::DESCENDANT_OR_SELF, NodeTest::Node, found),
        (Place::Predicate, true) => super::build::root(at_document(found)),
    })
}

/// The condition that a chain of steps puts on the node it starts from.
pub(crate) fn steps(
    steps: &[Step<'_>],
    leaf: Condition,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    steps.iter().rev().try_fold(leaf, |found, step| {
        let condition = and([predicates(step, scope)?, found]);
        Ok(match step.axis {
            ast::Axis::Attribute => attribute(attribute_name(step, scope)?, condition),
            ast::Axis::SelfNode => and([is(node_test(step, scope)?), condition]),
            axis => exists(direction(axis), node_test(step, scope)?, condition),
        })
    })
}

pub(crate) fn predicates(step: &Step<'_>, scope: &mut Scope<'_>) -> Result<Condition, XPathError> {
    Ok(and(all(&step.predicates, Place::Predicate, scope)?))
}

pub(crate) fn direction(axis: ast::Axis) -> Axis {
    match axis {
        ast::Axis::Child => Axis::CHILD,
        ast::Axis::Descendant => Axis::DESCENDANT,
        ast::Axis::DescendantOrSelf => Axis::DESCENDANT_OR_SELF,
        ast::Axis::SelfNode | ast::Axis::Attribute => Axis::SELF,
        ast::Axis::Following => Axis::Following,
        ast::Axis::FollowingSibling => Axis::FollowingSibling,
        ast::Axis::Preceding => Axis::Preceding,
        ast::Axis::PrecedingSibling => Axis::PrecedingSibling,
    }
}

/// One side of a comparison folded away.
pub(crate) enum Comparand<'e, 'a> {
    /// Both sides were constants.
    Constant(bool),
    /// A node-set, and what one of its nodes must satisfy.
    Nodes(&'e Expr<'a>, Condition),
}

pub(crate) fn comparand<'e, 'a>(
    comparison: Comparison,
    left: &'e Expr<'a>,
    right: &'e Expr<'a>,
) -> Comparand<'e, 'a> {
    match (left, right) {
        (Expr::Literal(a), Expr::Literal(b)) if comparison == Comparison::Equal => {
            Comparand::Constant(a == b)
        }
        (Expr::Literal(a), Expr::Literal(b)) if comparison == Comparison::NotEqual => {
            Comparand::Constant(a != b)
        }
        (Expr::Literal(_) | Expr::Number(_), Expr::Literal(_) | Expr::Number(_)) => {
            Comparand::Constant(compare(comparison, as_number(left), as_number(right)))
        }
        (Expr::Literal(_) | Expr::Number(_), nodes) => {
            Comparand::Nodes(nodes, value_test(mirrored(comparison), left))
        }
        (nodes, _) => Comparand::Nodes(nodes, value_test(comparison, right)),
    }
}

/// A node's value on the left, a constant on the right.
fn value_test(comparison: Comparison, constant: &Expr<'_>) -> Condition {
    match (comparison, constant) {
        (Comparison::Equal, Expr::Literal(text)) => Condition::Value(ValueTest::Equals((*text).into())),
        (Comparison::NotEqual, Expr::Literal(text)) => Condition::Value(ValueTest::Differs((*text).into())),
        _ => match Real::new(as_number(constant)) {
            Some(number) => Condition::Value(ValueTest::Number(comparison, number)),
            // With NaN on one side only `!=` holds, and that for every node.
            None => super::build::constant(comparison == Comparison::NotEqual),
        },
    }
}

fn as_number(constant: &Expr<'_>) -> f64 {
    match constant {
        Expr::Number(value) => *value,
        Expr::Literal(text) => number::from_xpath_number(text),
        _ => f64::NAN,
    }
}

fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessEqual => Comparison::GreaterEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterEqual => Comparison::LessEqual,
        same => same,
    }
}

/// The two arguments of a string function, at most one of them a path.
pub(crate) enum Arguments<'e, 'a> {
    /// Both were constants.
    Constant(bool),
    /// `f(path, constant)`: holds for nothing when the path finds nothing.
    Subject(&'e Path<'a>, ValueTest),
    /// `f(constant, path)`: holds as well when the path finds nothing, whose string is empty.
    Pattern(&'e Path<'a>, ValueTest),
}

pub(crate) fn arguments<'e, 'a>(
    function: Function,
    left: &'e Expr<'a>,
    right: &'e Expr<'a>,
    column: ast::Column,
) -> Result<Arguments<'e, 'a>, XPathError> {
    Ok(match (left, right) {
        // Every string contains and starts with the empty one.
        (_, Expr::Literal("")) => Arguments::Constant(true),
        (Expr::Path(path), right) => {
            let text = text_of(right, column)?.into();
            Arguments::Subject(
                path,
                match function {
                    Function::Contains => ValueTest::Contains(text),
                    Function::StartsWith => ValueTest::StartsWith(text),
                },
            )
        }
        (left, Expr::Path(path)) => {
            let text = text_of(left, column)?.into();
            Arguments::Pattern(
                path,
                match function {
                    Function::Contains => ValueTest::ContainedIn(text),
                    Function::StartsWith => ValueTest::PrefixOf(text),
                },
            )
        }
        (left, right) => {
            let (left, right) = (text_of(left, column)?, text_of(right, column)?);
            Arguments::Constant(match function {
                Function::Contains => left.contains(&right),
                Function::StartsWith => left.starts_with(&right),
            })
        }
    })
}

fn call(
    function: Function,
    left: &Expr<'_>,
    right: &Expr<'_>,
    column: ast::Column,
    place: Place,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    match arguments(function, left, right, column)? {
        Arguments::Constant(value) => Ok(constant(value)),
        Arguments::Subject(path, test) => on_first(path, test, place, scope),
        Arguments::Pattern(path, test) => {
            let absent = not(anchored(path, Condition::True, place, scope)?);
            Ok(or([absent, on_first(path, test, place, scope)?]))
        }
    }
}

/// A test on the first node of a path. Where there can be but one node it is a plain test on that node.
fn on_first(
    path: &Path<'_>,
    test: ValueTest,
    place: Place,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    let single = path.steps.iter().all(|step| {
        step.axis == ast::Axis::SelfNode
            || step.axis == ast::Axis::Attribute
                && matches!(step.test, ast::NodeTest::Name(..))
                && !scope.ignore_namespaces
    });
    if single && (place == Place::Predicate || path.absolute) {
        return anchored(path, Condition::Value(test), place, scope);
    }
    let mut chain = first_steps(&path.steps, scope)?;
    if place == Place::Top && !path.absolute {
        let anywhere = NodePattern { test: NodeTest::Node, condition: Condition::True };
        chain.insert(0, FirstStep::Node(Axis::DESCENDANT_OR_SELF, anywhere));
    }
    let found = first(chain, test);
    Ok(if place == Place::Predicate && path.absolute {
        super::build::root(at_document(found))
    } else {
        found
    })
}

pub(crate) fn first_steps(steps: &[Step<'_>], scope: &mut Scope<'_>) -> Result<Vec<FirstStep>, XPathError> {
    let mut chain = Vec::new();
    for step in steps {
        let condition = predicates(step, scope)?;
        if step.axis == ast::Axis::Attribute {
            chain.push(FirstStep::Attribute(attribute_name(step, scope)?, condition));
        } else if let (ast::Axis::SelfNode, Some(FirstStep::Attribute(_, inner))) =
            (step.axis, chain.last_mut())
        {
            *inner = and([std::mem::replace(inner, Condition::True), condition]);
        } else {
            let test = node_test(step, scope)?;
            chain.push(FirstStep::Node(direction(step.axis), NodePattern { test, condition }));
        }
    }
    Ok(chain)
}

/// A constant as a string.
fn text_of(constant: &Expr<'_>, column: ast::Column) -> Result<String, XPathError> {
    match constant {
        Expr::Literal(text) => Ok((*text).to_owned()),
        // XPath prints integers plainly; other numbers print differently from one implementation to the next.
        Expr::Number(value) if value.fract() == 0.0 && value.abs() < 1e9 => Ok(format!("{}", *value as i64)),
        _ => Err(unsupported("a string function on this argument; write the text in quotes", column)),
    }
}

pub(crate) fn node_test(step: &Step<'_>, scope: &mut Scope<'_>) -> Result<NodeTest, XPathError> {
    Ok(match step.test {
        ast::NodeTest::Any => NodeTest::Element(NameTest::Any),
        ast::NodeTest::Name(prefix, local) => {
            NodeTest::Element(NameTest::Name(scope.name(prefix, local, true, step.column)?))
        }
        ast::NodeTest::Namespace(prefix) => NodeTest::Element(scope.namespace_test(prefix, step.column)?),
        ast::NodeTest::Node => NodeTest::Node,
        ast::NodeTest::Text => NodeTest::Text,
        ast::NodeTest::Comment => NodeTest::Comment,
        ast::NodeTest::Instruction(target) => NodeTest::Instruction(target.map(Into::into)),
    })
}

pub(crate) fn attribute_name(step: &Step<'_>, scope: &mut Scope<'_>) -> Result<NameTest, XPathError> {
    match step.test {
        ast::NodeTest::Any | ast::NodeTest::Node => Ok(NameTest::Any),
        ast::NodeTest::Name(prefix, local) => {
            Ok(NameTest::Name(scope.name(prefix, local, false, step.column)?))
        }
        ast::NodeTest::Namespace(prefix) => scope.namespace_test(prefix, step.column),
        _ => Err(unsupported("this node test on the attribute axis", step.column)),
    }
}

pub(crate) fn unsupported(construct: &str, column: ast::Column) -> XPathError {
    XPathError {
        kind: XPathErrorKind::Unsupported,
        message: format!("not supported: {construct}"),
        column: column.0 as usize,
    }
}

impl<'a> Scope<'a> {
    fn name(
        &mut self,
        prefix: Option<&str>,
        local: &str,
        element: bool,
        column: ast::Column,
    ) -> Result<NameId, XPathError> {
        let namespace = match prefix {
            Some(prefix) => self.namespace(prefix, column)?,
            None if element && !self.ignore_namespaces => {
                self.uri("").map_or(NamespaceId::NONE, |uri| self.names.intern_namespace(uri))
            }
            None => NamespaceId::NONE,
        };
        Ok(self.names.intern(namespace, local))
    }

    fn namespace_test(&mut self, prefix: &str, column: ast::Column) -> Result<NameTest, XPathError> {
        if self.ignore_namespaces {
            return Ok(NameTest::Any);
        }
        let namespace = self.namespace(prefix, column)?;
        Ok(NameTest::Namespace(self.names.intern(namespace, "*")))
    }

    fn namespace(&mut self, prefix: &str, column: ast::Column) -> Result<NamespaceId, XPathError> {
        if self.ignore_namespaces {
            return Ok(NamespaceId::NONE);
        }
        match self.uri(prefix) {
            Some(uri) => Ok(self.names.intern_namespace(uri)),
            None => Err(XPathError {
                kind: XPathErrorKind::UnboundPrefix,
                message: format!("no namespace is bound to the prefix '{prefix}'; pass it in namespaces="),
                column: column.0 as usize,
            }),
        }
    }

    fn uri(&self, prefix: &str) -> Option<&'a str> {
        let bound = self.namespaces.iter().flat_map(|map| map.iter()).find(|(name, _)| **name == *prefix);
        match bound {
            Some((_, uri)) => Some(uri),
            None => (prefix == "xml").then_some("http://www.w3.org/XML/1998/namespace"),
        }
    }
}
