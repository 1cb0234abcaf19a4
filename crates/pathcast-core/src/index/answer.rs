//! What follows from the paths that were found: the expressions that hold, and those to be decided.

use std::sync::Arc;

use super::expression::{Expression, ExpressionId};
use super::expressions::Expressions;
use super::memo::{Memo, Remembered};
use crate::engine::{Engine, Found};
use crate::twig::{Evaluator, Memory, Passing, Tree, look_up};

/// What deciding twigs fills.
#[derive(Default)]
pub(super) struct Decision {
    pub(super) tree: Tree,
    memory: Memory,
    passing: Passing,
}

impl Decision {
    pub(super) fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes() + self.memory.memory_bytes()
    }
}

/// What follows from the paths alone, remembered or found out.
pub(super) fn answer<E: Engine>(
    expressions: &Expressions,
    engine: &E,
    run: &mut E::Run,
    found: &mut Found,
    memo: &mut Memo,
    memo_bytes: usize,
) -> Remembered {
    let cache = engine.capabilities().cache;
    memo.revise(cache.map_or(0, |cache| cache.stats(run).generation), expressions.changes());
    if let Some(signature) = cache.and_then(|cache| cache.signature(run))
        && let Some(known) = memo.get(signature)
    {
        return known.clone();
    }
    engine.finish(run, found);
    let answer = collect(expressions, found);
    if let Some(signature) = cache.and_then(|cache| cache.signature(run))
        && memo.seen(signature)
    {
        memo.put(signature, answer.clone(), memo_bytes);
    }
    answer
}

fn collect(expressions: &Expressions, found: &Found) -> Remembered {
    let paths = &expressions.paths;
    let mut matched: Vec<ExpressionId> = expressions.always_true().into_iter().collect();
    let mut alternatives: Vec<ExpressionId> = Vec::new();
    let mut candidates: Vec<ExpressionId> = expressions.twigs.always.iter().copied().collect();
    let mut guards = Vec::new();
    for &path in found.paths() {
        if paths.is_guard(path) {
            guards.push(path);
        }
        matched.extend(paths.expression(path));
        for &waiting in paths.waiting(path) {
            let decided = matches!(expressions.get(waiting), Expression::AnyOf(_));
            if decided { &mut alternatives } else { &mut candidates }.push(waiting);
        }
    }
    alternatives.sort_unstable();
    alternatives.dedup();
    matched.extend(alternatives);
    candidates.sort_unstable();
    candidates.dedup();
    candidates.retain(|&id| match expressions.get(id) {
        Expression::Twig(twig) => twig.required.iter().all(|&path| found.contains(path)),
        _ => true,
    });
    guards.sort_unstable();
    Remembered { matched: matched.into(), candidates: candidates.into(), guards: guards.into() }
}

/// Adds the candidates that hold, and those that some value calls for.
pub(super) fn decide(
    expressions: &Expressions,
    answer: Remembered,
    decision: &mut Decision,
) -> Arc<[ExpressionId]> {
    let twigs = &expressions.twigs;
    let by_value = !twigs.values.is_empty() && (twigs.unguarded > 0 || !answer.guards.is_empty());
    if answer.candidates.is_empty() && !by_value {
        return answer.matched;
    }
    let Decision { tree, memory, passing } = decision;
    let mut evaluator = Evaluator::new(&twigs.arena, tree, memory);
    let mut matched = answer.matched.to_vec();
    if by_value {
        look_up(&twigs.values, tree, passing);
        for id in twigs.values.passed(&answer.guards, passing) {
            if let Expression::Twig(twig) = expressions.get(id)
                && (twig.triggers.len() < 2
                    || twig.triggers.iter().any(|path| answer.guards.binary_search(path).is_ok()))
                && evaluator.has(&twig.necessary)
                && evaluator.holds(twig.condition)
            {
                matched.push(id);
            }
        }
    }
    let holds = |id: &ExpressionId| match expressions.get(*id) {
        Expression::Twig(twig) => evaluator.has(&twig.necessary) && evaluator.holds(twig.condition),
        _ => false,
    };
    matched.extend(answer.candidates.iter().copied().filter(holds));
    matched.into()
}
