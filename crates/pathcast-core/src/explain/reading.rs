//! An expression taken apart into paths, and paths into steps.

use crate::pattern::{
    Arguments, Axis, Comparand, Condition, NodeTest, Place, Scope, and, arguments, attribute_name, comparand,
    convert, direction, node_test, normalise,
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
    pub(super) end: End,
}

/// What decides once the path has found something.
pub(super) enum End {
    /// Nothing more.
    Nothing,
    /// A comparison, which some node must pass.
    Comparison(String, ConditionId),
    /// Something that is about the path as a whole, so that only the verdict tells: a string function, an order.
    Whole(String),
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
    /// An attribute, with the predicates on it and with those and the comparison.
    Attribute {
        found: ConditionId,
        compared: ConditionId,
    },
}

pub(super) struct Reader<'a, 'n> {
    pub(super) ordered: bool,
    pub(super) scope: &'a mut Scope<'n>,
    pub(super) arena: &'a mut Arena,
}

impl Reader<'_, '_> {
    /// Every path of an expression that stands outside predicates.
    pub(super) fn parts(&mut self, expression: &Expr<'_>) -> Result<Vec<Reading>, XPathError> {
        let mut readings = Vec::new();
        match expression {
            Expr::Or(terms) | Expr::And(terms) => {
                for term in terms {
                    readings.extend(self.parts(term)?);
                }
            }
            Expr::Not(inner, _) => readings = self.parts(inner)?,
            Expr::Union(paths) => {
                for path in paths {
                    readings.push(self.read(&Expr::Path(path.clone()), path, Condition::True, None)?);
                }
            }
            Expr::Path(path) => readings.push(self.read(expression, path, Condition::True, None)?),
            Expr::Compare(comparison, left, right, column) => {
                if let Comparand::Nodes(nodes, leaf) = comparand(*comparison, left, right) {
                    let constant = if std::ptr::eq(nodes, &raw const **left) { right } else { left };
                    let paths = match nodes {
                        Expr::Path(path) => std::slice::from_ref(path),
                        Expr::Union(paths) => paths,
                        _ => &[],
                    };
                    for path in paths {
                        let nodes = Box::new(Expr::Path(path.clone()));
                        let one = Expr::Compare(*comparison, nodes, constant.clone(), *column);
                        let text = format!("{comparison} {constant}");
                        readings.push(self.read(&one, path, leaf.clone(), Some(text))?);
                    }
                }
            }
            Expr::Call(function, left, right, column) => match arguments(*function, left, right, *column)? {
                Arguments::Subject(path, _) | Arguments::Pattern(path, _) => {
                    let mut reading = self.read(expression, path, Condition::True, None)?;
                    reading.end = End::Whole(format!("{function}() of the first"));
                    readings.push(reading);
                }
                Arguments::Constant(_) => {}
            },
            Expr::Literal(_) | Expr::Number(_) => {}
        }
        Ok(readings)
    }

    fn read(
        &mut self,
        whole: &Expr<'_>,
        path: &Path<'_>,
        leaf: Condition,
        comparison: Option<String>,
    ) -> Result<Reading, XPathError> {
        let verdict = normalise(whole, self.ordered, self.scope)?;
        let mut steps = Vec::new();
        let mut slashes = !path.absolute;
        for (at, step) in path.steps.iter().enumerate() {
            let predicates: Result<Vec<_>, _> =
                step.predicates.iter().map(|each| convert(each, Place::Predicate, self.scope)).collect();
            let predicates = and(predicates?);
            let reach = if step.axis == ast::Axis::Attribute {
                let name = attribute_name(step, self.scope)?;
                let with = |condition: Condition| Condition::Attribute(name, Box::new(condition));
                let compared = with(and([predicates.clone(), leaf.clone()]));
                let found = self.arena.intern(&with(predicates.clone()));
                Reach::Attribute { found, compared: self.arena.intern(&compared) }
            } else {
                Reach::Node(direction(step.axis), node_test(step, self.scope)?)
            };
            let leads_on = step.axis == ast::Axis::DescendantOrSelf
                && step.test == ast::NodeTest::Node
                && step.predicates.is_empty()
                && at + 1 < path.steps.len();
            let text = format!("{}{step}", if slashes { "//" } else { "/" });
            steps.push(ReadStep {
                text,
                slashes: leads_on,
                reach,
                condition: self.arena.intern(&predicates),
            });
            slashes = leads_on;
        }
        let end = match comparison {
            Some(text) => End::Comparison(text, self.arena.intern(&leaf)),
            None if self.ordered => End::Whole("in this order, under different children".to_owned()),
            None => End::Nothing,
        };
        Ok(Reading {
            text: whole.to_string(),
            verdict: self.arena.intern(&verdict),
            absolute: path.absolute,
            steps,
            end,
        })
    }
}
