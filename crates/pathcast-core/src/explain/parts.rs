//! An expression taken apart into conditions, paths and steps, and followed on a document.

use super::near;
use super::{Part, Predicate, Step};
use crate::pattern::{NameTest, NodeTest, Place, Scope, TermStep, attribute_name, node_test, typed};
use crate::select::Picture;
use crate::twig::{Arena, Context, Evaluator, Ref, TermId};
use crate::xpath::XPathError;
use crate::xpath::ast::{self, Axis, Expr, Function, Origin, Path, Type};

/// How many nodes or values are named.
const NAMED: usize = 5;

/// One condition, ready to be asked.
pub(super) struct Plan {
    text: String,
    whole: TermId,
    routes: Vec<Route>,
}

/// One path.
struct Route {
    start: Start,
    steps: Vec<PlannedStep>,
    /// What its nodes are compared with, as written.
    comparison: Option<String>,
}

enum Start {
    Root,
    /// Anywhere in the document.
    Anywhere,
    /// The nodes of a term.
    Term(String, TermId),
}

struct PlannedStep {
    text: String,
    /// Whether it is the `//` before another step, which is no step to the person who wrote it.
    slashes: bool,
    step: TermStep<TermId>,
    local: Option<String>,
    predicates: Vec<PlannedPredicate>,
}

struct PlannedPredicate {
    text: String,
    /// A side of a comparison whose values tell why it fails.
    side: Option<TermId>,
}

/// Takes expressions apart.
pub(super) struct Planner<'a, 'n> {
    pub(super) scope: &'a mut Scope<'n>,
    pub(super) arena: &'a mut Arena,
}

impl Planner<'_, '_> {
    /// The conditions that an expression joins.
    pub(super) fn parts(&mut self, expression: &Expr<'_>) -> Result<Vec<Plan>, XPathError> {
        match expression {
            Expr::Or(terms) | Expr::And(terms) => {
                let mut plans = Vec::new();
                for term in terms {
                    plans.extend(self.parts(term)?);
                }
                Ok(plans)
            }
            Expr::Not(inner, _) => self.parts(inner),
            other => {
                let mut routes = Vec::new();
                self.routes(other, None, &mut routes)?;
                let whole = self.term(other, Place::Top)?;
                Ok(vec![Plan { text: other.to_string(), whole, routes }])
            }
        }
    }

    fn term(&mut self, expression: &Expr<'_>, place: Place) -> Result<TermId, XPathError> {
        Ok(self.arena.intern_typed(&typed(expression, place, self.scope)?))
    }

    /// The paths of one condition.
    fn routes(
        &mut self,
        expression: &Expr<'_>,
        comparison: Option<String>,
        routes: &mut Vec<Route>,
    ) -> Result<(), XPathError> {
        match expression {
            Expr::Path(path) => {
                let route = self.route(path, comparison)?;
                routes.push(route);
            }
            Expr::Union(paths) => {
                for path in paths {
                    let route = self.route(path, comparison.clone())?;
                    routes.push(route);
                }
            }
            Expr::Compare(operator, left, right, _) => {
                let nodes = (left.kind() == Type::Nodes, right.kind() == Type::Nodes);
                self.routes(left, nodes.0.then(|| format!("{operator} {right}")), routes)?;
                self.routes(right, nodes.1.then(|| format!("{left} {operator}")), routes)?;
            }
            Expr::Call(Function::Id, ..) => {
                let start = Start::Term(expression.to_string(), self.term(expression, Place::Top)?);
                routes.push(Route { start, steps: Vec::new(), comparison });
            }
            Expr::Call(_, arguments, _) => {
                arguments.iter().try_for_each(|argument| self.routes(argument, None, routes))?;
            }
            Expr::Arithmetic(first, rest, _) => {
                self.routes(first, None, routes)?;
                rest.iter().try_for_each(|(_, operand)| self.routes(operand, None, routes))?;
            }
            Expr::Negate(inner, _) | Expr::Not(inner, _) => self.routes(inner, None, routes)?,
            Expr::Or(terms) | Expr::And(terms) => {
                terms.iter().try_for_each(|term| self.routes(term, None, routes))?;
            }
            Expr::Variable(..) | Expr::Literal(_) | Expr::Number(_) => {}
        }
        Ok(())
    }

    fn route(&mut self, path: &Path<'_>, comparison: Option<String>) -> Result<Route, XPathError> {
        let mut slashes = path.origin == Origin::Context;
        let start = match &path.origin {
            Origin::Root => Start::Root,
            Origin::Context => Start::Anywhere,
            Origin::Filter(..) => {
                let own = Path { steps: Vec::new(), ..path.clone() };
                let own = Expr::Path(own);
                Start::Term(own.to_string(), self.term(&own, Place::Top)?)
            }
        };
        let mut steps = Vec::new();
        for (at, step) in path.steps.iter().enumerate() {
            let leads_on = step.axis == Axis::DescendantOrSelf
                && step.test == ast::NodeTest::Node
                && step.predicates.is_empty()
                && at + 1 < path.steps.len();
            let test = match (step.axis, step.test) {
                (Axis::Attribute, test) if test.is_name() => {
                    NodeTest::Element(attribute_name(step, self.scope)?.unwrap_or(NameTest::Any))
                }
                _ => node_test(step, self.scope)?,
            };
            let (mut predicates, mut terms) = (Vec::new(), Vec::new());
            for predicate in &step.predicates {
                terms.push(self.term(predicate, Place::Predicate)?);
                let side = match predicate {
                    Expr::Compare(_, left, right, _) => {
                        let constant = |side: &Expr<'_>| matches!(side, Expr::Literal(_) | Expr::Number(_));
                        Some(if constant(left) { &**right } else { &**left })
                    }
                    Expr::Call(function, arguments, _) if function.result() == Type::Boolean => {
                        arguments.first()
                    }
                    _ => None,
                };
                let side = side.map(|side| self.term(side, Place::Predicate)).transpose()?;
                predicates.push(PlannedPredicate { text: predicate.to_string(), side });
            }
            let local =
                if let ast::NodeTest::Name(_, local) = step.test { Some(local.to_owned()) } else { None };
            steps.push(PlannedStep {
                text: format!("{}{step}", if slashes { "//" } else { "/" }),
                slashes: leads_on,
                step: TermStep { axis: step.axis, test, predicates: terms },
                local,
                predicates,
            });
            slashes = leads_on;
        }
        Ok(Route { start, steps, comparison })
    }
}

impl Plan {
    /// What a condition's paths find, up to the first step of each that finds nothing.
    pub(super) fn follow(&self, picture: &Picture, evaluator: &mut Evaluator<'_>) -> Part {
        let matched = evaluator.truth(self.whole, Context::at(Ref::ROOT));
        let mut steps = Vec::new();
        for route in &self.routes {
            route.follow(picture, evaluator, matched, &mut steps);
        }
        Part { text: self.text.clone(), matched, steps }
    }
}

impl Route {
    fn follow(&self, picture: &Picture, evaluator: &mut Evaluator<'_>, holds: bool, out: &mut Vec<Step>) {
        let everything =
            TermStep { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new() };
        let mut nodes = match &self.start {
            Start::Root => vec![Ref::ROOT],
            Start::Anywhere => evaluator.step(&everything, &[Ref::ROOT], false),
            Start::Term(text, term) => {
                let nodes = evaluator.nodes(*term, Context::at(Ref::ROOT)).to_vec();
                let mut step = step_of(text.clone(), &nodes, picture);
                if nodes.is_empty() && text.starts_with("id(") && picture.tree.ids().len() == 0 {
                    step.hints.push("the document declares no attribute as an ID".into());
                }
                out.push(step);
                nodes
            }
        };
        for planned in &self.steps {
            if nodes.is_empty() {
                return;
            }
            let from = std::mem::take(&mut nodes);
            let mut bare = TermStep { predicates: Vec::new(), ..planned.step.clone() };
            nodes = evaluator.step(&bare, &from, false);
            let mut predicates = Vec::new();
            for (predicate, &term) in planned.predicates.iter().zip(&planned.step.predicates) {
                let before = nodes;
                bare.predicates.push(term);
                nodes = evaluator.step(&bare, &from, false);
                let found = match predicate.side {
                    Some(side) if nodes.len() < before.len() => values(side, &before, evaluator),
                    _ => Vec::new(),
                };
                let (kept, of) = (nodes.len(), before.len());
                predicates.push(Predicate { text: predicate.text.clone(), kept, of, found });
                if nodes.is_empty() {
                    break;
                }
            }
            if planned.slashes {
                continue;
            }
            let mut step = step_of(planned.text.clone(), &nodes, picture);
            // Nothing of that name, whatever the predicates ask.
            let unknown = nodes.is_empty() && predicates.first().is_none_or(|each| each.of == 0);
            if let (true, Some(local)) = (unknown, &planned.local) {
                step.hints = near::misses(local, planned.step.axis, &from, picture, evaluator);
            }
            step.predicates = predicates;
            out.push(step);
        }
        if let (Some(comparison), false) = (&self.comparison, nodes.is_empty()) {
            let texts = distinct(nodes.iter().map(|&node| picture.text(node).to_owned()));
            let kept = if holds { nodes.len() } else { 0 };
            let mut step = step_of(comparison.clone(), if holds { &nodes } else { &[] }, picture);
            step.predicates =
                vec![Predicate { text: comparison.clone(), kept, of: nodes.len(), found: texts }];
            out.push(step);
        }
    }
}

/// The distinct values of a term on some nodes.
fn values(term: TermId, nodes: &[Ref], evaluator: &mut Evaluator<'_>) -> Vec<String> {
    let all = nodes.iter().take(1_000).flat_map(|&node| evaluator.shown(term, Context::at(node)));
    distinct(all.collect::<Vec<_>>().into_iter())
}

/// The first few that differ, in quotes.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        let shown = match text.char_indices().nth(40) {
            Some((end, _)) => format!("'{}…'", &text[..end]),
            None => format!("'{text}'"),
        };
        if known.len() < NAMED && !known.contains(&shown) {
            known.push(shown);
        }
    }
    known
}

fn step_of(text: String, nodes: &[Ref], picture: &Picture) -> Step {
    Step {
        text,
        count: nodes.len(),
        nodes: nodes.iter().take(NAMED).map(|&node| picture.label(node)).collect(),
        hints: Vec::new(),
        predicates: Vec::new(),
    }
}
