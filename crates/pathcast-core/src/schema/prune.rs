//! Replaces wildcards and descendant operators by the elements that a schema allows there.
//!
//! After Algorithms 2 and 3 of "Schema-Conscious Filtering of XML Documents", on the gap normal form. Between two
//! named elements of a path is a gap, and gaps do not depend on each other: a path's replacements are all combinations
//! of one substitute for each gap, the one that is empty included (`b` directly in `a`), each followed by the element
//! that the gap leads to. Which gaps are replaced is a matter of limits only, those with the fewest substitutes first.
//!
//! **Why it is right.** A path with a gap filled in matches nothing that the path with the gap does not match, for any
//! document. And what a valid document has in the gap is one of the substitutes. So on valid documents the original
//! holds exactly if one of its replacements does.
//!
//! Plans of gaps are remembered: a hundred thousand paths over one schema share a few hundred gaps.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::consistency::check;
use super::graph::{ElementId, Graph};
use super::set::ElementSet;
use super::substitutes::{Goal, Hop, Plan, Planner};
use crate::names::{NameId, Names};
use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

/// How far to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneLimits {
    /// Substitutes for one gap.
    pub max_substitutes: usize,
    /// Elements in all substitutes for one gap together.
    pub max_length: usize,
    /// Replacements for one expression.
    pub max_results: usize,
    /// Replace a gap only when it has exactly one substitute: what comes out is never more than what went in.
    pub singleton: bool,
    /// With `singleton`, replace wildcards as well where no element that can stand there has another parent, or none of
    /// them has children: the paper's polynomial rule. What comes out is bounded by the size of the schema.
    pub single_parent: bool,
    /// Whether `//` at the start of a path is replaced too.
    pub expand_leading: bool,
}

impl Default for PruneLimits {
    fn default() -> Self {
        Self {
            max_substitutes: 16,
            max_length: 64,
            max_results: 64,
            singleton: false,
            single_parent: false,
            expand_leading: true,
        }
    }
}

impl PruneLimits {
    /// Substitutes that one gap may have.
    pub(super) fn substitutes(&self) -> usize {
        if self.singleton { 1 } else { self.max_substitutes }
    }
}

/// Remembered plans; more are forgotten all at once.
const PLANS: usize = 64 << 10;

/// From where, to what, how far.
type GapKey = (ElementId, Goal, u32, bool);

/// Prunes the expressions of one set of names by one schema.
#[derive(Debug)]
pub struct Pruner {
    pub(super) graph: Arc<Graph>,
    pub(super) limits: PruneLimits,
    plans: FxHashMap<GapKey, Option<Arc<Plan>>>,
    elements: FxHashMap<NameId, Option<ElementId>>,
    holders: FxHashMap<NameTest, Arc<ElementSet>>,
    /// By element: its name's number, or `OTHER` while no replacement uses it.
    names: Vec<NameId>,
}

/// A gap and the elements it may lead to.
struct Stop {
    min: u32,
    exact: bool,
    candidates: Vec<ElementId>,
}

/// What follows the last element.
#[derive(Clone, Copy)]
enum End {
    Here,
    Wild(u32),
    Attribute(u32, bool, NameTest),
}

impl Pruner {
    /// A pruner for one set of names: always pass the same names to it.
    pub fn new(graph: Arc<Graph>, limits: PruneLimits) -> Self {
        let names = vec![NameId::OTHER; graph.len()];
        Self {
            graph,
            limits,
            plans: FxHashMap::default(),
            elements: FxHashMap::default(),
            holders: FxHashMap::default(),
            names,
        }
    }

    /// The schema.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Paths of which at least one matches exactly when the path does, on valid documents; none if it never can.
    /// Names of elements that take the place of wildcards are given numbers.
    pub fn prune(&mut self, path: &LinearPath, names: &mut Names) -> Vec<LinearPath> {
        let mut stops = Vec::with_capacity(path.steps.len() + 1);
        for step in &path.steps {
            let candidates = self.candidates(step.name, names);
            if candidates.is_empty() {
                return Vec::new();
            }
            stops.push(Stop { min: step.min, exact: step.exact, candidates });
        }
        let mut results = Vec::new();
        let Some(routes) = self.routes(&stops) else {
            let possible = check(&self.graph, names, &path.to_condition()).is_possible();
            return if possible { vec![path.clone()] } else { results };
        };
        let share = (self.limits.max_results / routes.len().max(1)).max(1);
        for route in routes {
            self.by_route(path, &stops, &route, share, names, &mut results);
        }
        let mut seen = FxHashSet::default();
        results.retain(|result| seen.insert(result.clone()));
        results
    }

    /// The elements that a name stands for.
    fn candidates(&mut self, test: NameTest, names: &Names) -> Vec<ElementId> {
        match test {
            NameTest::Name(id) => {
                let graph = &self.graph;
                let found = self.elements.entry(id).or_insert_with(|| {
                    let (uri, local) = names.parts(id);
                    graph.element(uri, local)
                });
                found.iter().copied().collect()
            }
            _ => self.graph.named(test, names).iter().collect(),
        }
    }

    /// All ways to choose an element for each stop so that every gap is possible; none if there are too many. With
    /// names there is one choice at most, only `n:*` leaves more.
    fn routes(&mut self, stops: &[Stop]) -> Option<Vec<Vec<ElementId>>> {
        let graph = self.graph.clone();
        if stops.iter().all(|stop| stop.candidates.len() == 1) {
            let route: Vec<ElementId> = stops.iter().map(|stop| stop.candidates[0]).collect();
            let before = [graph.document()].into_iter().chain(route.iter().copied());
            let possible = stops.iter().zip(before).all(|(stop, from)| {
                self.plan(from, Goal::Element(stop.candidates[0]), stop.min, stop.exact).is_some()
            });
            return Some(if possible { vec![route] } else { Vec::new() });
        }
        // From the end: which candidates lead to the end at all.
        let mut useful = vec![ElementSet::new(graph.bound()); stops.len()];
        let mut after = ElementSet::full(graph.bound());
        for (stop, useful) in stops.iter().zip(&mut useful).rev() {
            for &candidate in stop.candidates.iter().filter(|&&each| after.contains(each)) {
                useful.insert(candidate);
            }
            after = graph.ascend(useful, stop.min, stop.exact);
        }
        let mut routes = vec![Vec::new()];
        for (stop, useful) in stops.iter().zip(&useful) {
            let mut longer = Vec::new();
            for route in &routes {
                let from = route.last().copied().unwrap_or(graph.document());
                let mut reached = graph.descend(&ElementSet::one(graph.bound(), from), stop.min, stop.exact);
                reached.intersect(useful);
                longer.extend(reached.iter().map(|to| [&route[..], &[to]].concat()));
                if longer.len() > self.limits.max_results.min(self.limits.substitutes()) {
                    return None;
                }
            }
            routes = longer;
        }
        Some(routes)
    }

    pub(super) fn plan(&mut self, from: ElementId, goal: Goal, min: u32, exact: bool) -> Option<Arc<Plan>> {
        let key = (from, goal, min, exact);
        if let Some(known) = self.plans.get(&key) {
            return known.clone();
        }
        let planner = Planner { graph: &self.graph, limits: &self.limits };
        let plan = planner.plan(from, goal, min, exact).map(Arc::new);
        if self.plans.len() >= PLANS {
            self.plans.clear();
        }
        self.plans.insert(key, plan.clone());
        plan
    }

    /// The replacements of a path whose elements are these.
    fn by_route(
        &mut self,
        path: &LinearPath,
        stops: &[Stop],
        route: &[ElementId],
        share: usize,
        names: &mut Names,
        out: &mut Vec<LinearPath>,
    ) {
        let document = self.graph.document();
        let mut gaps = Vec::with_capacity(stops.len() + 1);
        let mut from = document;
        for (stop, &to) in stops.iter().zip(route) {
            let Some(plan) = self.plan(from, Goal::Element(to), stop.min, stop.exact) else { return };
            gaps.push((plan, Some(to)));
            from = to;
        }
        for (end, goal) in self.ends(path.tail, from, names) {
            let mut gaps = gaps.clone();
            let mut end = end;
            match (end, goal) {
                (End::Wild(levels), _) => match self.plan(from, Goal::Any, levels, true) {
                    Some(plan) => gaps.push((plan, None)),
                    None => continue,
                },
                (End::Attribute(min, exact, name), Some(to)) => {
                    let Some(plan) = self.plan(from, Goal::Element(to), min, exact) else { continue };
                    gaps.push((plan, Some(to)));
                    end = End::Attribute(0, true, name);
                }
                _ => {}
            }
            self.combine(&gaps, end, share, names, out);
        }
    }

    /// How a path may end, and for the gap before an attribute the element that has it.
    fn ends(&mut self, tail: Tail, from: ElementId, names: &Names) -> Vec<(End, Option<ElementId>)> {
        let (min, exact, name) = match tail {
            Tail::End => return vec![(End::Here, None)],
            Tail::Wild(levels) => return vec![(End::Wild(levels), None)],
            Tail::Attribute { min, exact, name } => (min, exact, name),
        };
        let graph = self.graph.clone();
        let holders =
            self.holders.entry(name).or_insert_with(|| Arc::new(graph.holders(name, names))).clone();
        let mut ends = Vec::new();
        if min == 0 && holders.contains(from) {
            ends.push((End::Attribute(0, true, name), None));
        }
        if min == 0 && exact {
            return ends;
        }
        let mut below = graph.descend(&ElementSet::one(graph.bound(), from), min.max(1), exact);
        below.intersect(&holders);
        if below.len() + ends.len() > self.limits.substitutes() {
            return vec![(End::Attribute(min, exact, name), None)];
        }
        ends.extend(below.iter().map(|to| (End::Attribute(min.max(1), exact, name), Some(to))));
        ends
    }

    /// All combinations of what the gaps may be, as far as the limits allow.
    fn combine(
        &mut self,
        gaps: &[(Arc<Plan>, Option<ElementId>)],
        end: End,
        share: usize,
        names: &mut Names,
        out: &mut Vec<LinearPath>,
    ) {
        let mut fewest: Vec<usize> = (0..gaps.len()).collect();
        let count = |at: usize| gaps[at].0.ways.as_ref().map_or(usize::MAX, Vec::len);
        fewest.sort_by_key(|&at| count(at));
        let (mut replaced, mut total) = (vec![false; gaps.len()], 1_usize);
        for at in fewest {
            match total.checked_mul(count(at)) {
                Some(more) if more <= share => (replaced[at], total) = (true, more),
                _ => break,
            }
        }
        let mut paths = vec![LinearPath::default()];
        for ((plan, to), replaced) in gaps.iter().zip(replaced) {
            match (&plan.ways, to) {
                (Some(ways), _) if replaced => {
                    let mut longer = Vec::with_capacity(paths.len() * ways.len());
                    for path in &paths {
                        for way in ways {
                            let mut path = path.clone();
                            path.steps.extend(way.iter().map(|hop| self.step(1, hop, names)));
                            longer.push(path);
                        }
                    }
                    paths = longer;
                }
                (_, &Some(element)) => {
                    let step = self.step(plan.min, &Hop { exact: plan.exact, element }, names);
                    paths.iter_mut().for_each(|path| path.steps.push(step));
                }
                (_, None) => paths.iter_mut().for_each(|path| path.tail = Tail::Wild(plan.min)),
            }
        }
        if let End::Attribute(min, exact, name) = end {
            paths.iter_mut().for_each(|path| path.tail = Tail::Attribute { min, exact, name });
        }
        out.extend(paths);
    }

    fn step(&mut self, min: u32, hop: &Hop, names: &mut Names) -> LinearStep {
        LinearStep { min, exact: hop.exact, name: NameTest::Name(self.name(hop.element, names)) }
    }

    /// The number of an element's name, given now if it has none.
    pub(super) fn name(&mut self, element: ElementId, names: &mut Names) -> NameId {
        let known = self.names[element as usize];
        if known != NameId::OTHER {
            return known;
        }
        let (uri, local) = self.graph.name(element);
        let namespace = names.intern_namespace(uri);
        let id = names.intern(namespace, local);
        self.names[element as usize] = id;
        id
    }

    /// Heap bytes held, without the schema's.
    pub fn memory_bytes(&self) -> usize {
        let hops = |plan: &Arc<Plan>| {
            let ways = plan.ways.iter().flatten();
            size_of::<Plan>() + ways.map(|way| way.capacity() * size_of::<Hop>() + 24).sum::<usize>()
        };
        let plans: usize = self.plans.values().flatten().map(hops).sum();
        plans + self.plans.capacity() * 32 + self.elements.capacity() * 16 + self.names.capacity() * 4
    }
}
