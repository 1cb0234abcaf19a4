//! What a gap between two elements can be replaced by.
//!
//! The *substitutes* of a gap are the sequences of elements that the graph allows in it. They are listed by a walk that
//! never enters a dead end, so listing stops after the first one too many and costs no more than what was listed, however
//! many there are. Where a gap of at least `k` levels has no end of substitutes, because of recursion, the
//! wildcards in it can still go: `a/*//b` is `a/x//b` for the children `x` of `a`, and `//*/b` is `//x/b` for the
//! parents `x` of `b`.
//!
//! Whatever is left of a gap asks for as few levels as it can: if no path from `a` to `b` is shorter than three
//! levels, "three or more" is "any".
//!
//! Under the polynomial rule a gap with several substitutes goes too, if every wildcard in it stands for elements that
//! have one parent: then an element on a level is reached in one way, and there are no more ways than elements.

use super::PruneLimits;
use super::graph::{ElementId, Graph};
use super::set::ElementSet;

/// Gaps longer than any expression is are not looked into.
const LEVELS: u32 = 4_096;

/// Where a gap leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Goal {
    /// To this element.
    Element(ElementId),
    /// To any element.
    Any,
}

/// One level down, or any number of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Hop {
    pub(super) exact: bool,
    pub(super) element: ElementId,
}

/// A gap that documents can have.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// What it is if it stays.
    pub(super) min: u32,
    pub(super) exact: bool,
    /// What it can be instead, each to its end; none if that is without end or beyond the limits.
    pub(super) ways: Option<Vec<Vec<Hop>>>,
}

/// Plans gaps.
#[derive(Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) graph: &'a Graph,
    pub(super) limits: &'a PruneLimits,
}

impl Planner<'_> {
    /// The plan of a gap; none if no valid document has it.
    pub(super) fn plan(self, from: ElementId, goal: Goal, min: u32, exact: bool) -> Option<Plan> {
        match (goal, exact) {
            (Goal::Element(to), true) => {
                let target = ElementSet::one(self.graph.bound(), to);
                self.exactly(from, target, min)
            }
            (Goal::Any, _) => self.exactly(from, self.graph.all_elements(), min),
            (Goal::Element(to), false) => self.at_least(from, to, min),
        }
    }

    fn exactly(self, from: ElementId, targets: ElementSet, min: u32) -> Option<Plan> {
        let plan = |ways| Some(Plan { min, exact: true, ways });
        if let (1, Some(to)) = (min, targets.single()) {
            return if self.graph.is_child(from, to) {
                plan(Some(vec![vec![Hop { exact: true, element: to }]]))
            } else {
                None
            };
        }
        if min as usize > self.limits.max_length + 1 {
            return if self.graph.ascend(&targets, min, true).contains(from) { plan(None) } else { None };
        }
        let named = targets.single().is_some();
        let layers = self.layers(targets, min);
        if !self.graph.children(from).any(|child| layers[0].contains(child)) {
            return None;
        }
        plan(self.filled(from, &layers, if named { 1 } else { 0 }).map(direct))
    }

    /// Where a walk of so many levels may be after each level, if it is to end in the targets.
    fn layers(self, targets: ElementSet, levels: u32) -> Vec<ElementSet> {
        let mut layers = vec![targets];
        for at in 1..levels as usize {
            layers.push(self.graph.parents_of(&layers[at - 1]));
        }
        layers.reverse();
        layers
    }

    fn at_least(self, from: ElementId, to: ElementId, min: u32) -> Option<Plan> {
        let target = ElementSet::one(self.graph.bound(), to);
        if !self.graph.ascend(&target, min, false).contains(from) {
            return None;
        }
        let min = self.least(from, &target, min);
        let leading = from == self.graph.document();
        let mut ways = None;
        if !leading || self.limits.expand_leading {
            ways = self.all_ways(from, to, min).map(direct);
        }
        if ways.is_none() && min > 1 && min as usize <= self.limits.max_length + 1 {
            ways = self.front(from, to, min);
            if !leading && let Some(back) = self.back(from, to, min) {
                ways = ways.filter(|front| front.len() < back.len()).or(Some(back));
            }
        }
        Some(Plan { min, exact: false, ways })
    }

    /// The fewest levels to ask for: shorter paths there are must stay excluded.
    fn least(self, from: ElementId, target: &ElementSet, min: u32) -> u32 {
        if min > LEVELS {
            return min;
        }
        let (mut above, mut least) = (target.clone(), 1);
        for level in 1..min {
            above = self.graph.parents_of(&above);
            if above.contains(from) {
                least = level + 1;
            }
            if above.is_empty() {
                break;
            }
        }
        least
    }

    /// All paths of at least so many levels; none if recursion makes them endless, or too many.
    fn all_ways(self, from: ElementId, to: ElementId, min: u32) -> Option<Vec<Vec<ElementId>>> {
        let graph = self.graph;
        let target = ElementSet::one(graph.bound(), to);
        let above = graph.ascend(&target, 0, false);
        let mut between = ElementSet::one(graph.bound(), from);
        let mut todo = vec![from];
        while let Some(element) = todo.pop() {
            if graph.recursive().contains(element) {
                return None;
            }
            todo.extend(graph.children(element).filter(|&next| above.contains(next) && between.insert(next)));
        }
        // The longest way to the end from each place: a walk that could no longer be long enough is not begun.
        let mut order: Vec<ElementId> = between.iter().collect();
        order.sort_unstable_by_key(|&element| graph.component(element));
        let mut longest = vec![0_u32; graph.bound()];
        for element in order {
            let below = graph.children(element).filter(|&child| between.contains(child));
            longest[element as usize] = below.map(|child| longest[child as usize] + 1).max().unwrap_or(0);
        }
        self.walks(from, |level, element| {
            let far = between.contains(element) && level + longest[element as usize] >= min;
            far.then_some(element == to)
        })
    }

    /// `//x/y/b`: what is directly above the end, after any number of levels.
    fn front(self, from: ElementId, to: ElementId, min: u32) -> Option<Vec<Vec<Hop>>> {
        let graph = self.graph;
        let mut layers = self.layers(ElementSet::one(graph.bound(), to), min);
        layers[0].intersect(&graph.reachable(from));
        let mut ways = Vec::new();
        let mut room = self.limits.max_length;
        for first in layers[0].iter() {
            for mut way in self.through(first, &layers[1..])? {
                way.insert(0, first);
                room = room.checked_sub(way.len() - 1)?;
                if ways.len() == self.limits.substitutes() {
                    return None;
                }
                ways.push(
                    way.iter().enumerate().map(|(at, &element)| Hop { exact: at > 0, element }).collect(),
                );
            }
        }
        Some(ways)
    }

    /// `a/x/y//b`: what is directly below the start, before any number of levels.
    fn back(self, from: ElementId, to: ElementId, min: u32) -> Option<Vec<Vec<Hop>>> {
        let graph = self.graph;
        let above = graph.ascend(&ElementSet::one(graph.bound(), to), 1, false);
        let ways = direct(self.filled(from, &self.layers(above, min - 1), 0)?);
        let end = Hop { exact: false, element: to };
        let room = ways.iter().map(Vec::len).sum::<usize>() <= self.limits.max_length;
        room.then(|| ways.into_iter().map(|way| way.into_iter().chain([end]).collect()).collect())
    }

    /// All walks through layers, the last `named` of which the path names, by the limits or the polynomial rule.
    fn filled(self, from: ElementId, layers: &[ElementSet], named: usize) -> Option<Vec<Vec<ElementId>>> {
        let few = self.through(from, layers);
        let PruneLimits { singleton, single_parent, .. } = *self.limits;
        if few.is_some() || !singleton || !single_parent || !self.owned(from, &layers[..layers.len() - named])
        {
            return few;
        }
        let limits = PruneLimits { singleton: false, ..self.limits.clone() };
        Planner { limits: &limits, ..self }.through(from, layers)
    }

    /// Whether each level that a walk from an element may be on is owned by the one before: its elements have no other
    /// parent, or no children.
    fn owned(self, from: ElementId, layers: &[ElementSet]) -> bool {
        let graph = self.graph;
        let mut above = vec![from];
        for layer in layers {
            let mut level = Vec::new();
            for &parent in &above {
                let below: Vec<ElementId> =
                    graph.children(parent).filter(|&child| layer.contains(child)).collect();
                let alone = |child: &ElementId| {
                    graph.parents_of(&ElementSet::one(graph.bound(), *child)).single() == Some(parent)
                };
                let leaf = |child: &ElementId| graph.children(*child).next().is_none();
                if !below.iter().all(alone) && !below.iter().all(leaf) {
                    return false;
                }
                level.extend(below);
            }
            above = level;
        }
        true
    }

    /// All walks through layers, if they are within the limits.
    fn through(self, from: ElementId, layers: &[ElementSet]) -> Option<Vec<Vec<ElementId>>> {
        self.walks(from, |level, element| {
            let at = level as usize;
            layers[at - 1].contains(element).then_some(at == layers.len())
        })
    }

    /// All walks from an element, if they are within the limits. `next` says of the element on a level whether a walk
    /// may take it, and whether it ends there; a walk that may go on must be able to end.
    fn walks(
        self,
        from: ElementId,
        next: impl Fn(u32, ElementId) -> Option<bool>,
    ) -> Option<Vec<Vec<ElementId>>> {
        let (mut found, mut path) = (Vec::new(), Vec::new());
        let mut room = self.limits.max_length;
        let mut open = vec![self.graph.children(from)];
        while let Some(children) = open.last_mut() {
            let level = path.len() as u32 + 1;
            let Some((child, end)) = children.find_map(|child| Some((child, next(level, child)?))) else {
                open.pop();
                path.pop();
                continue;
            };
            if path.len() > room || found.len() == self.limits.substitutes() {
                return None;
            }
            path.push(child);
            if end {
                room -= path.len() - 1;
                found.push(path.clone());
                path.pop();
            } else {
                open.push(self.graph.children(child));
            }
        }
        Some(found)
    }
}

fn direct(walks: Vec<Vec<ElementId>>) -> Vec<Vec<Hop>> {
    let hops = |walk: Vec<ElementId>| walk.into_iter().map(|element| Hop { exact: true, element }).collect();
    walks.into_iter().map(hops).collect()
}
