//! What follows from the paths and twigs that were found: the expressions that hold, and those to be decided.

use std::sync::Arc;

use super::expression::{Expression, ExpressionId};
use super::expressions::Expressions;
use super::memo::{Memo, Remembered};
use crate::engine::{Engine, Found};
use crate::tree_automaton;
use crate::twig::{Evaluator, Memory, Tree};

/// What deciding twigs fills.
#[derive(Default)]
pub(super) struct Decision {
    pub(super) automaton: tree_automaton::Run,
    pub(super) tree: Tree,
    memory: Memory,
}

impl Decision {
    /// Heap bytes that a large document takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.automaton.text_bytes() + self.tree.memory_bytes() + self.memory.memory_bytes()
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
    let mut candidates: Vec<ExpressionId> = Vec::new();
    for &path in found.paths() {
        matched.extend(paths.expression(path));
        for &waiting in paths.waiting(path) {
            match expressions.get(waiting) {
                Expression::Twig { required, .. } => {
                    if required.iter().all(|&path| found.contains(path)) {
                        candidates.push(waiting);
                    }
                }
                _ => alternatives.push(waiting),
            }
        }
    }
    alternatives.sort_unstable();
    alternatives.dedup();
    matched.extend(alternatives);
    candidates.sort_unstable();
    candidates.dedup();
    Remembered { matched: matched.into(), candidates: candidates.into() }
}

/// Adds the twigs that hold.
pub(super) fn decide(
    expressions: &Expressions,
    answer: Remembered,
    decision: &mut Decision,
) -> Arc<[ExpressionId]> {
    let twigs = &expressions.twigs;
    let Decision { automaton, tree, memory } = decision;
    let found = if twigs.automaton.is_empty() { &[] } else { automaton.finish(&twigs.automaton) };
    if answer.candidates.is_empty() && found.is_empty() {
        return answer.matched;
    }
    if twigs.on_tree() == 0 {
        return answer.matched.iter().chain(found).copied().collect();
    }
    let mut evaluator = Evaluator::new(&twigs.arena, tree, memory);
    let holds = |id: &&ExpressionId| match expressions.get(**id) {
        Expression::Twig { condition, exact, .. } => *exact || evaluator.holds(*condition),
        _ => true,
    };
    let twigs: Vec<ExpressionId> = answer.candidates.iter().chain(found).filter(holds).copied().collect();
    answer.matched.iter().copied().chain(twigs).collect()
}
