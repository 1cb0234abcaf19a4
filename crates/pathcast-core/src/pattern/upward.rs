//! Predicates that look up, said on the way down.
//!
//! The parent of a child is the node that its step starts from, so `a[../b = 1]` is `self::node()[b = 1]/a`. All children of
//! one parent pass such a predicate or none does, so positions before and behind it stay what they are. Below the
//! document node `//a[ancestor::b]` is `//b//a`.

use std::borrow::Cow;

use super::steps::leads;
use crate::xpath::ast::{Axis, Expr, Function, NodeTest, Origin, Path, Step};

/// A chain of steps whose predicates about the parent stand one step earlier.
pub(super) fn lifted<'e, 'a>(chain: &'e [Step<'a>]) -> Cow<'e, [Step<'a>]> {
    let down = |step: &Step<'_>| matches!(step.axis, Axis::Child | Axis::Attribute);
    let any = |step: &Step<'a>| down(step) && step.predicates.iter().any(|each| asks_parent(each).is_some());
    if !chain.iter().any(any) {
        return Cow::Borrowed(chain);
    }
    let mut steps = Vec::with_capacity(chain.len() + 1);
    for step in chain {
        let mut step = step.clone();
        if down(&step) {
            let mut about = Vec::new();
            step.predicates = take(step.predicates, |term| {
                let found = asks_parent(term);
                let is_some = found.is_some();
                about.extend(found);
                is_some
            });
            if !about.is_empty() {
                let (axis, test) = (Axis::SelfNode, NodeTest::Node);
                steps.push(Step { axis, test, predicates: about, column: step.column });
            }
        }
        steps.push(step);
    }
    Cow::Owned(steps)
}

/// `//a[ancestor::b]` as `//b//a`, for a chain that starts at the document node: `anywhere` if its first step may be
/// taken from any node.
pub(super) fn under_ancestor<'a>(chain: &[Step<'a>], anywhere: bool) -> Option<Vec<Step<'a>>> {
    let (front, rest) = match chain.split_first() {
        Some((first, rest)) if !anywhere && leads(first) => (Some(first), rest),
        _ if anywhere => (None, chain),
        _ => return None,
    };
    let (low, rest) = rest.split_first()?;
    if low.axis != Axis::Child {
        return None;
    }
    let mut above = None;
    let predicates = take(low.predicates.clone(), |term| {
        let found = if above.is_none() { ancestor(term) } else { None };
        let is_some = found.is_some();
        above = above.take().or(found);
        is_some
    });
    let (axis, test, column) = (Axis::DescendantOrSelf, NodeTest::Node, low.column);
    let between = Step { axis, test, predicates: Vec::new(), column };
    let low = Step { predicates, ..low.clone() };
    let mut steps: Vec<_> = front.cloned().into_iter().collect();
    steps.extend([above?, between, low]);
    steps.extend(rest.iter().cloned());
    Some(steps)
}

/// The predicates without those of their conjuncts that are taken.
fn take<'a>(predicates: Vec<Expr<'a>>, mut takes: impl FnMut(&Expr<'a>) -> bool) -> Vec<Expr<'a>> {
    let mut left = Vec::with_capacity(predicates.len());
    for predicate in predicates {
        if predicate.is_positional() {
            left.push(predicate);
            continue;
        }
        let mut terms = match predicate {
            Expr::And(terms) => terms,
            single => vec![single],
        };
        terms.retain(|term| !takes(term));
        left.extend(Expr::all(terms));
    }
    left
}

/// The step down to an ancestor that a predicate asks for.
fn ancestor<'a>(term: &Expr<'a>) -> Option<Step<'a>> {
    let Expr::Path(Path { origin: Origin::Context, steps, column }) = term else { return None };
    let (first, rest) = steps.split_first()?;
    let free = !first.predicates.iter().any(Expr::is_positional);
    if first.axis != Axis::Ancestor || !free || !first.test.is_name() {
        return None;
    }
    let mut step = Step { axis: Axis::Child, ..first.clone() };
    if !rest.is_empty() {
        let (origin, steps) = (Origin::Context, rest.to_vec());
        step.predicates.push(Expr::Path(Path { origin, steps, column: *column }));
    }
    Some(step)
}

/// A predicate about the parent and nothing else, as it is asked of the parent itself.
fn asks_parent<'a>(term: &Expr<'a>) -> Option<Expr<'a>> {
    if term.is_positional() {
        return None;
    }
    let mut looks_up = false;
    let own = of_parent(term, &mut looks_up)?;
    looks_up.then_some(own)
}

fn of_parent<'a>(term: &Expr<'a>, looks_up: &mut bool) -> Option<Expr<'a>> {
    let mut all = |terms: &[Expr<'a>]| -> Option<Vec<_>> {
        terms.iter().map(|each| of_parent(each, looks_up)).collect()
    };
    Some(match term {
        Expr::Or(terms) => Expr::Or(all(terms)?),
        Expr::And(terms) => Expr::And(all(terms)?),
        Expr::Not(inner, column) => Expr::Not(Box::new(of_parent(inner, looks_up)?), *column),
        Expr::Compare(comparison, left, right, column) => {
            let left = Box::new(of_parent(left, looks_up)?);
            Expr::Compare(*comparison, left, Box::new(of_parent(right, looks_up)?), *column)
        }
        // Without an argument these would be asked of the node itself.
        Expr::Call(Function::Position | Function::Last | Function::Lang, ..) => return None,
        Expr::Call(Function::True | Function::False, ..) => term.clone(),
        Expr::Call(_, arguments, _) if arguments.is_empty() => return None,
        Expr::Call(function, arguments, column) => Expr::Call(*function, all(arguments)?, *column),
        Expr::Union(paths) => {
            let paths: Option<_> = paths.iter().map(|path| path_of_parent(path, looks_up)).collect();
            Expr::Union(paths?)
        }
        Expr::Path(path) => Expr::Path(path_of_parent(path, looks_up)?),
        Expr::Literal(_) | Expr::Number(_) => term.clone(),
        Expr::Arithmetic(..) | Expr::Negate(..) | Expr::Variable(..) => return None,
    })
}

fn path_of_parent<'a>(path: &Path<'a>, looks_up: &mut bool) -> Option<Path<'a>> {
    match path.origin {
        Origin::Root => return Some(path.clone()),
        Origin::Context => {}
        Origin::Filter(..) => return None,
    }
    let (first, _) = path.steps.split_first()?;
    if first.axis != Axis::Parent || first.predicates.iter().any(Expr::is_positional) {
        return None;
    }
    *looks_up = true;
    let mut own = path.clone();
    if own.steps.len() > 1 && first.test == NodeTest::Node && first.predicates.is_empty() {
        own.steps.remove(0);
    } else {
        own.steps[0].axis = Axis::SelfNode;
    }
    Some(own)
}
