//! What follows from the paths and twigs that were found: the expressions that hold, and those to be decided.

use std::sync::Arc;

use super::expression::{Expression, ExpressionId, Kind};
use super::expressions::Expressions;
use super::memo::{Memo, Remembered};
use super::prepared::Prepared;
use crate::engine::{Engine, Found};
use crate::limits::Limits;
use crate::pattern::PathId;
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
    pub(super) fn document_bytes(&self) -> usize {
        self.automaton.text_bytes() + self.tree.memory_bytes() + self.memory.memory_bytes()
    }

    /// Heap bytes held, those that grow with the subscriptions included.
    pub(super) fn memory_bytes(&self) -> usize {
        self.automaton.memory_bytes() + self.tree.memory_bytes() + self.memory.memory_bytes()
    }
}

/// What a run remembers to answer sooner.
#[derive(Default)]
pub(super) struct Knowledge {
    memo: Memo,
    prepared: Prepared,
    /// The sets of paths that the document met.
    met: Vec<u32>,
    paths: Vec<PathId>,
}

impl Knowledge {
    pub(super) fn bytes(&self) -> usize {
        self.memo.bytes() + self.prepared.bytes()
    }

    /// What follows from the paths alone: remembered, put together from what the sets that were met mean, or looked up
    /// path by path.
    pub(super) fn answer<E: Engine>(
        &mut self,
        expressions: &Expressions,
        engine: &E,
        run: &mut E::Run,
        found: &mut Found,
        bytes: usize,
    ) -> Remembered {
        let Self { memo, prepared, met, paths } = self;
        let cache = engine.capabilities().cache;
        let Some((cache, signature)) = cache.and_then(|cache| Some((cache, cache.signature(run)?))) else {
            engine.finish(run, found);
            return collect(expressions, found);
        };
        met.clear();
        met.extend_from_slice(signature);
        let generation = cache.stats(run).generation;
        memo.revise(generation, expressions.changes());
        if let Some(known) = memo.get(met) {
            return known.clone();
        }
        prepared.revise(generation, bytes);
        for &number in met.iter() {
            if !prepared.knows(number, &expressions.paths) {
                paths.clear();
                cache.paths(run, number, paths);
                if !prepared.still_knows(number, paths, &expressions.paths) {
                    prepared.learn(number, paths, expressions);
                }
            }
        }
        let answer = if prepared.any_candidates(met) {
            engine.finish(run, found);
            collect(expressions, found)
        } else {
            let mut matched = prepared.matched(met, expressions.bound());
            matched.extend(expressions.always_true());
            Remembered { matched: matched.into(), candidates: [].into() }
        };
        if memo.seen(met) {
            memo.put(met, answer.clone(), bytes);
        }
        answer
    }
}

/// What follows from the paths found, looked up path by path.
fn collect(expressions: &Expressions, found: &Found) -> Remembered {
    let paths = &expressions.paths;
    let mut matched: Vec<ExpressionId> = expressions.always_true().into_iter().collect();
    let mut alternatives: Vec<ExpressionId> = Vec::new();
    let mut candidates: Vec<ExpressionId> = Vec::new();
    for &path in found.paths() {
        matched.extend(paths.expression(path));
        for &waiting in paths.waiting(path) {
            match expressions.get(waiting) {
                Kind::Other(Expression::Twig { required, .. }) => {
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
            Kind::Other(Expression::Twig { condition, exact: false, .. }) => evaluator.decide(*condition),
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
