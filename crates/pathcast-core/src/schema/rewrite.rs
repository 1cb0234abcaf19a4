//! Prunes tree patterns, gap by gap.
//!
//! A step of a pattern is asked of nodes that can only be certain elements, because of the steps that lead there. With
//! those, its gap is planned as in a linear path: the step becomes an alternative of chains, and what was said of its
//! node is said of the chain's last one. A wildcard that has conditions of its own becomes an alternative of names.
//! Everything else stays: order axes, text, the gaps of ordered branches.
//!
//! What is said of a node is copied into every alternative, so the number of copies is passed along and kept below
//! the limit on results.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::consistency::Feasible;
use super::graph::ElementId;
use super::prune::Pruner;
use super::set::ElementSet;
use super::substitutes::{Goal, Hop, Plan};
use crate::names::Names;
use crate::pattern::{
    Axis, Branch, Condition, LinearPath, NameTest, NodePattern, NodeTest, and, as_linear, exists, not, or,
    root,
};

impl Pruner {
    /// A condition on the document node that holds exactly when the given one does, on valid documents.
    pub fn prune_condition(&mut self, condition: &Condition, names: &mut Names) -> Condition {
        if let Some(path) = as_linear(condition) {
            return or(self.prune(&path, names).iter().map(LinearPath::to_condition));
        }
        let graph = self.graph.clone();
        let mut feasible = Feasible::new(&graph, names);
        if !feasible.holds(condition).contains(graph.document()) {
            return Condition::False;
        }
        let fitting = feasible.into_known();
        let document = ElementSet::one(graph.bound(), graph.document());
        Rewriter { pruner: self, fitting, names }.rewrite(condition, &document, 1)
    }
}

struct Rewriter<'a> {
    pruner: &'a mut Pruner,
    /// By the place of a pattern in memory: the elements that may fit it.
    fitting: FxHashMap<*const NodePattern, ElementSet>,
    names: &'a mut Names,
}

/// Where a step leads.
struct Reached {
    /// By its gap and its name.
    named: ElementSet,
    /// Those of them at which its condition may hold.
    fitting: ElementSet,
}

/// What a gap from several places becomes.
struct Choice {
    /// Its levels if it stays.
    min: u32,
    /// What it can be instead.
    ways: Option<Vec<Vec<Hop>>>,
}

impl Rewriter<'_> {
    /// Rewrites a condition that is only asked of these elements, and stands in so many copies.
    fn rewrite(&mut self, condition: &Condition, places: &ElementSet, copies: usize) -> Condition {
        match condition {
            Condition::And(parts) => and(parts.iter().map(|part| self.rewrite(part, places, copies))),
            Condition::Or(parts) => or(parts.iter().map(|part| self.rewrite(part, places, copies))),
            Condition::Not(inner) => not(self.rewrite(inner, places, copies)),
            Condition::Root(inner) => {
                let graph = &self.pruner.graph;
                let document = ElementSet::one(graph.bound(), graph.document());
                root(self.rewrite(inner, &document, copies))
            }
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                match self.reached(*min, *exact, pattern, places) {
                    Some(reached) if reached.fitting.is_empty() => Condition::False,
                    Some(reached) => self.step((*min, *exact), pattern, places, &reached, copies),
                    None => condition.clone(),
                }
            }
            Condition::Ordered(branches) => Condition::Ordered(
                branches.iter().map(|branch| self.branch(branch, places, copies)).collect(),
            ),
            _ => condition.clone(),
        }
    }

    /// The elements that a step may lead to; none if it may lead to other nodes.
    fn reached(&self, min: u32, exact: bool, pattern: &NodePattern, places: &ElementSet) -> Option<Reached> {
        let NodeTest::Element(name) = pattern.test else { return None };
        let known = self.fitting.get(&std::ptr::from_ref(pattern))?;
        let mut named = self.pruner.graph.descend(places, min, exact);
        named.intersect(&self.pruner.graph.named(name, self.names));
        let mut fitting = named.clone();
        fitting.intersect(known);
        Some(Reached { named, fitting })
    }

    /// Only what is said of the node at its end changes: an alternative cannot stand in the order of branches.
    fn branch(&mut self, branch: &Branch, places: &ElementSet, copies: usize) -> Branch {
        let Branch::Exists { min, exact, pattern } = branch else { return branch.clone() };
        let Some(reached) = self.reached(*min, *exact, pattern, places) else { return branch.clone() };
        let condition = self.rewrite(&pattern.condition, &reached.named, copies);
        let pattern = NodePattern { test: pattern.test.clone(), condition };
        Branch::Exists { min: *min, exact: *exact, pattern }
    }

    fn step(
        &mut self,
        (min, exact): (u32, bool),
        pattern: &NodePattern,
        places: &ElementSet,
        reached: &Reached,
        copies: usize,
    ) -> Condition {
        let room = self.pruner.limits.max_results / copies.max(1);
        let one = matches!(pattern.test, NodeTest::Element(NameTest::Name(_)));
        let many = !one && reached.fitting.len() > self.pruner.limits.substitutes().min(room);
        if min == 0 || many {
            // Also asked where it cannot hold: it must not hold there in its new form either.
            let condition = self.rewrite(&pattern.condition, &reached.named, copies);
            return exists(Axis::Down { min, exact }, pattern.test.clone(), condition);
        }
        let mut choices: Vec<(ElementId, Choice)> =
            reached.fitting.iter().map(|to| (to, self.choice(places, to, min, exact))).collect();
        let ways = |choice: &Choice| choice.ways.as_ref().map_or(1, Vec::len);
        let mut total: usize = choices.iter().map(|(_, choice)| ways(choice)).sum();
        if total > room {
            total = choices.len();
            choices.iter_mut().for_each(|(_, choice)| choice.ways = None);
        }
        let mut alternatives = Vec::with_capacity(total);
        for (to, choice) in choices {
            let place = ElementSet::one(self.pruner.graph.bound(), to);
            let condition = self.rewrite(&pattern.condition, &place, copies.saturating_mul(total));
            match choice.ways {
                Some(ways) => alternatives.extend(ways.iter().map(|way| self.chain(way, condition.clone()))),
                None => {
                    let test = NodeTest::Element(NameTest::Name(self.pruner.name(to, self.names)));
                    alternatives.push(exists(Axis::Down { min: choice.min, exact }, test, condition));
                }
            }
        }
        or(alternatives)
    }

    /// A gap from any of some places to an element.
    ///
    /// A substitute for one place does no harm at another, because it lies within the gap. That is not so where a gap
    /// asks for fewer levels than it did: what is as good for one place may be more than was asked for at another.
    fn choice(&mut self, places: &ElementSet, to: ElementId, min: u32, exact: bool) -> Choice {
        let most = self.pruner.limits.substitutes().max(1);
        if places.len() > most {
            return Choice { min, ways: None };
        }
        let plans: Vec<Arc<Plan>> =
            places.iter().filter_map(|from| self.pruner.plan(from, Goal::Element(to), min, exact)).collect();
        let alone = places.len() == 1;
        let everywhere = plans.len() == places.len();
        let least = plans.iter().map(|plan| plan.min).max().filter(|_| everywhere).unwrap_or(min);
        let mut ways: Vec<Vec<Hop>> = Vec::new();
        for plan in &plans {
            match &plan.ways {
                Some(more) if alone || plan.min == min || more.iter().flatten().all(|hop| hop.exact) => {
                    ways.extend_from_slice(more);
                }
                _ => return Choice { min: least, ways: None },
            }
        }
        ways.sort_unstable();
        ways.dedup();
        Choice { min: least, ways: Some(ways).filter(|ways| alone || ways.len() <= most) }
    }

    fn chain(&mut self, way: &[Hop], last: Condition) -> Condition {
        way.iter().rev().fold(last, |condition, hop| {
            let name = NameTest::Name(self.pruner.name(hop.element, self.names));
            exists(Axis::Down { min: 1, exact: hop.exact }, NodeTest::Element(name), condition)
        })
    }
}
