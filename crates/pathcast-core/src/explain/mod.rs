//! Why a document satisfies an expression, or what of it fails first.
//!
//! Every path outside predicates is followed forwards, step by step and predicate by predicate, with the evaluator that
//! matching uses. Slow and plain: it is for one person who asks about one document.

mod near;
mod parts;

use crate::index::Settings;
use crate::names::Names;
use crate::pattern::{Printer, Scope, Written, normalise};
use crate::reader::DocumentError;
use crate::select::{Given, Picture};
use crate::twig::{Arena, Budget, Evaluator, Memory};
use crate::xpath::ast::Expr;
use crate::xpath::{Environment, XPathError, parse_with};
use parts::{Plan, Planner};
use std::slice::Iter;

/// Why, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The verdict.
    pub matched: bool,
    /// What the expression is rewritten to before it is matched.
    pub normal_form: String,
    /// The conditions that the expression joins with `and`, `or` and `not`.
    pub parts: Vec<Part>,
    /// The first thing that fails, for the nodes that came furthest.
    pub failure: Option<String>,
}

/// One condition and what its paths found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As written.
    pub text: String,
    /// Whether it holds.
    pub matched: bool,
    /// The steps of its paths, each path up to the first that found nothing.
    pub steps: Vec<Step>,
}

/// One step, or the comparison at the end, and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// As written, its predicates included.
    pub text: String,
    /// How many nodes it selects.
    pub count: usize,
    /// Where the first of them are.
    pub nodes: Vec<String>,
    /// What is nearly there: another case, another namespace.
    pub hints: Vec<String>,
    /// Its predicates, in the order written.
    pub predicates: Vec<Predicate>,
}

/// One predicate, or a comparison, and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// As written.
    pub text: String,
    /// How many nodes pass.
    pub kept: usize,
    /// Of how many.
    pub of: usize,
    /// Values that were found where others were wanted.
    pub found: Vec<String>,
}

/// Explains an expression on a document.
///
/// # Errors
/// The expression is refused; within, the document is.
pub fn explain(
    written: &Written,
    document: &Given<'_>,
    settings: &Settings,
) -> Result<Result<Explanation, DocumentError>, XPathError> {
    let environment = Environment::new(&written.variables, &settings.limits)?;
    let expression = parse_with(&written.xpath, &environment, &settings.limits)?;
    let mut names = Names::default();
    let mut arena = Arena::default();
    let mut scope = Scope {
        names: &mut names,
        namespaces: &[&written.namespaces, &settings.namespaces],
        ignore_namespaces: settings.ignore_namespaces,
    };
    let condition = normalise(&expression, written.ordered, &mut scope)?;
    let verdict = arena.intern(&condition);
    let plans = Planner { scope: &mut scope, arena: &mut arena }.parts(&expression)?;
    let printer = Printer {
        names: &names,
        namespaces: [&written.namespaces, &settings.namespaces],
        ignore_namespaces: settings.ignore_namespaces,
    };
    let normal_form = printer.alternatives(&condition).join(" or ");
    let picture = match Picture::draw(document, settings, &names) {
        Ok(picture) => picture,
        Err(error) => return Ok(Err(error)),
    };
    let mut memory = Memory::default();
    let budget = Budget::new(&settings.limits);
    let mut evaluator = Evaluator::new(&arena, &picture.tree, &mut memory, budget);
    let matched = evaluator.holds(verdict);
    let mut parts: Vec<Part> =
        plans.iter().map(|plan: &Plan| plan.follow(&picture, &mut evaluator)).collect();
    if written.ordered && !matched && parts.iter().all(|part| part.matched) {
        parts.extend(parts.last().cloned().map(|part| Part {
            matched: false,
            text: format!("{} in this order, under different children", part.text),
            steps: Vec::new(),
        }));
    }
    let failure = if matched { None } else { failure(&expression, &parts) };
    Ok(Ok(Explanation { matched, normal_form, parts, failure }))
}

/// What fails first in an expression that does not hold.
fn failure(expression: &Expr<'_>, parts: &[Part]) -> Option<String> {
    let mut left = parts.iter();
    // Of an expression in order, the part that is left says that it is the order.
    first_failure(expression, &mut left).or_else(|| left.next().map(Part::failure))
}

/// The same, if the expression does not hold; takes its parts away, which are in the order of `Planner::parts`.
fn first_failure(expression: &Expr<'_>, parts: &mut Iter<'_, Part>) -> Option<String> {
    match expression {
        Expr::And(terms) | Expr::Or(terms) => {
            let all: Vec<_> = terms.iter().map(|term| first_failure(term, parts)).collect();
            let holds = matches!(expression, Expr::Or(_)) && all.iter().any(Option::is_none);
            if holds { None } else { all.into_iter().flatten().next() }
        }
        Expr::Not(inner, _) => first_failure(inner, parts).is_none().then(|| expression.to_string()),
        _ => parts.next().filter(|part| !part.matched).map(Part::failure),
    }
}

impl Part {
    /// What fails first in it.
    fn failure(&self) -> String {
        let Some(step) = self.steps.iter().find(|step| step.count == 0) else { return self.text.clone() };
        let predicate = step.predicates.iter().find(|predicate| predicate.kept == 0);
        let (text, found) = match predicate {
            Some(predicate) => (&predicate.text, &predicate.found),
            None => (&step.text, &step.hints),
        };
        let detail = if found.is_empty() { "finds nothing".to_owned() } else { found.join(", ") };
        match predicate {
            Some(predicate) if !predicate.found.is_empty() => {
                format!("{text}: none of {}, found {detail}", predicate.of)
            }
            Some(predicate) => format!("{text}: none of {}", predicate.of),
            None => format!("{text}: {detail}"),
        }
    }
}
