//! What follows from the paths and twigs that were found: the expressions that hold, and those to be decided.

use std::sync::Arc;

use super::expression::{Expression, ExpressionId};
use super::expressions::Expressions;
use super::memo::{Memo, Remembered};
use crate::engine::{Engine, Found};
use crate::limits::Limits;
use crate::reader::{DocumentError, DocumentErrorKind};
use crate::tree_automaton;
use crate::twig::{Budget, Evaluator, Exceeded, Memory, Tree};

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

/// The expressions that a document satisfies, and those that cost too much to decide.
#[derive(Clone, Debug, Default)]
pub struct Decided {
    pub(super) matched: Arc<[ExpressionId]>,
    pub(super) undecided: Arc<[ExpressionId]>,
}

/// Adds the twigs that hold.
///
/// # Errors
/// All together cost more than the limit on work.
pub(super) fn decide(
    expressions: &Expressions,
    answer: Remembered,
    decision: &mut Decision,
    limits: &Limits,
) -> Result<Decided, DocumentError> {
    let twigs = &expressions.twigs;
    let Decision { automaton, tree, memory } = decision;
    let found = if twigs.automaton.is_empty() { &[] } else { automaton.finish(&twigs.automaton) };
    if answer.candidates.is_empty() && found.is_empty() {
        return Ok(Decided { matched: answer.matched, undecided: Arc::default() });
    }
    if twigs.on_tree() == 0 {
        let matched = answer.matched.iter().chain(found).copied().collect();
        return Ok(Decided { matched, undecided: Arc::default() });
    }
    let mut evaluator = Evaluator::new(&twigs.arena, tree, memory, Budget::new(limits));
    let (mut matched, mut undecided) = (answer.matched.to_vec(), Vec::new());
    for &id in answer.candidates.iter().chain(found) {
        let holds = match expressions.get(id) {
            Expression::Twig { condition, exact: false, .. } => evaluator.decide(*condition),
            _ => Ok(true),
        };
        match holds {
            Ok(true) => matched.push(id),
            Ok(false) => {}
            Err(Exceeded::Steps) => undecided.push(id),
            Err(Exceeded::Work) => return Err(too_much_work(limits)),
        }
    }
    Ok(Decided { matched: matched.into(), undecided: undecided.into() })
}

#[cold]
fn too_much_work(limits: &Limits) -> DocumentError {
    let reason = format!("to match it takes more work than the limit of {} steps", limits.work);
    DocumentError { kind: DocumentErrorKind::Limit, reason, line: 0, column: 0 }
}
