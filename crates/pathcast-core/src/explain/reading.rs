//! An expression taken apart into paths, and paths into steps.

use crate::pattern::{
    Arguments, Axis, Comparand, Condition, NameTest, NodeTest, Place, Scope, and, arguments, attribute_name,
    comparand, convert, direction, node_test,
};
use crate::twig::{Arena, ConditionId};
use crate::xpath::XPathError;
use crate::xpath::ast::{self, Expr, Path};

/// One path with its comparison or function.
pub(super) struct Reading {
    pub(super) text: String,
    pub(super) verdict: ConditionId,
    pub(super) absolute: bool,
    pub(super) steps: Vec<ReadStep>,
    /// The comparison at the end of the path.
    pub(super) leaf: Option<(String, ConditionId)>,
}

pub(super) struct ReadStep {
    pub(super) text: String,
    /// Whether it is the `//` before another step, which is no step to the person who wrote it.
    pub(super) slashes: bool,
    pub(super) reach: Reach,
    /// All predicates together.
    pub(super) condition: ConditionId,
}

pub(super) enum Reach {
    Node(Axis, NodeTest),
    /// An attribute, with the predicates on it and with those and the leaf.
    Attribute {
        found: ConditionId,
        with_leaf: ConditionId,
    },
}

/// Every path of an expression that stands outside predicates.
pub(super) fn parts(
    expression: &Expr<'_>,
    scope: &mut Scope<'_>,
    arena: &mut Arena,
) -> Result<Vec<Reading>, XPathError> {
    Ok(match expression {
        Expr::Or(terms) | Expr::And(terms) => {
            let mut all = Vec::new();
            for term in terms {
                all.extend(parts(term, scope, arena)?);
            }
            all
        }
        Expr::Not(inner, _) => parts(inner, scope, arena)?,
        Expr::Union(paths) => {
            let read = |path: &Path<'_>| parts(&Expr::Path(path.clone()), scope, arena);
            paths.iter().map(read).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
        }
        Expr::Path(path) => vec![read(expression, path, Condition::True, None, scope, arena)?],
        Expr::Compare(comparison, left, right, _) => match comparand(*comparison, left, right) {
            Comparand::Nodes(Expr::Path(path), leaf) => {
                let constant = if matches!(**left, Expr::Path(_)) { right } else { left };
                let text = format!("{comparison} {constant}");
                vec![read(expression, path, leaf, Some(text), scope, arena)?]
            }
            _ => Vec::new(),
        },
        Expr::Call(function, left, right, column) => match arguments(*function, left, right, *column)? {
            Arguments::Subject(path, _) | Arguments::Pattern(path, _) => {
                vec![read(expression, path, Condition::True, None, scope, arena)?]
            }
            Arguments::Constant(_) => Vec::new(),
        },
        Expr::Literal(_) | Expr::Number(_) => Vec::new(),
    })
}

fn read(
    whole: &Expr<'_>,
    path: &Path<'_>,
    leaf: Condition,
    leaf_text: Option<String>,
    scope: &mut Scope<'_>,
    arena: &mut Arena,
) -> Result<Reading, XPathError> {
    let verdict = crate::pattern::normalise(whole, false, scope)?;
    let mut steps = Vec::new();
    let mut slashes = !path.absolute;
    for (at, step) in path.steps.iter().enumerate() {
        let predicates: Result<Vec<_>, _> =
            step.predicates.iter().map(|each| convert(each, Place::Predicate, scope)).collect();
        let predicates = and(predicates?);
        let reach = if step.axis == ast::Axis::Attribute {
            let name: NameTest = attribute_name(step, scope)?;
            let found = Condition::Attribute(name, Box::new(predicates.clone()));
            let with_leaf = Condition::Attribute(name, Box::new(and([predicates.clone(), leaf.clone()])));
            Reach::Attribute { found: arena.intern(&found), with_leaf: arena.intern(&with_leaf) }
        } else {
            Reach::Node(direction(step.axis), node_test(step, scope)?)
        };
        let leads_on = step.axis == ast::Axis::DescendantOrSelf
            && step.test == ast::NodeTest::Node
            && step.predicates.is_empty()
            && at + 1 < path.steps.len();
        let text = format!("{}{step}", if slashes { "//" } else { "/" });
        steps.push(ReadStep { text, slashes: leads_on, reach, condition: arena.intern(&predicates) });
        slashes = leads_on;
    }
    Ok(Reading {
        text: whole.to_string(),
        verdict: arena.intern(&verdict),
        absolute: path.absolute,
        steps,
        leaf: leaf_text.map(|text| (text, arena.intern(&leaf))),
    })
}
