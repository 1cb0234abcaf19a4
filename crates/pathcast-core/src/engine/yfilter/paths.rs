//! The paths of the automaton, read back from its states.

use super::YFilter;
use super::automaton::{NONE, StateId};
use crate::engine::PathId;
use crate::names::NameId;
use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

/// What leads to a state.
#[derive(Clone, Copy, Debug)]
enum Hop {
    Star,
    Descendant,
    Name(NameId),
}

/// A walk over all paths, which may pause as long as the automaton does not change.
#[derive(Debug)]
pub(in crate::engine) struct Walk {
    /// The edges by name, by where they start.
    edges: Vec<(StateId, NameId, StateId)>,
    /// By state: its first edge, and behind all of them the end.
    first: Vec<u32>,
    /// States to be visited, with their depth and what leads there.
    open: Vec<(StateId, u32, Option<Hop>)>,
    hops: Vec<Hop>,
    path: LinearPath,
}

impl Walk {
    /// A walk from the beginning; nothing if a path ends in an attribute or tests a part of a name.
    pub(in crate::engine) fn new(automaton: &YFilter) -> Option<Self> {
        let mut edges = Vec::with_capacity(automaton.edges.len());
        for edge in &automaton.edges {
            edges.push((edge.from, edge.symbol.whole_name()?, edge.to));
        }
        edges.sort_unstable();
        let mut first = vec![0; automaton.states.len() + 1];
        for (from, ..) in &edges {
            first[*from as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let (hops, path) = (Vec::new(), LinearPath::default());
        Some(Self { edges, first, open: vec![(0, 0, None)], hops, path })
    }

    /// Begins again.
    pub(in crate::engine) fn restart(&mut self) {
        self.open = vec![(0, 0, None)];
    }

    /// The next path.
    pub(in crate::engine) fn next(&mut self, automaton: &YFilter) -> Option<(&LinearPath, PathId)> {
        while let Some((id, depth, hop)) = self.open.pop() {
            self.hops.truncate(depth.saturating_sub(1) as usize);
            self.hops.extend(hop);
            let state = &automaton.states[id as usize];
            let by_name = self.first[id as usize] as usize..self.first[id as usize + 1] as usize;
            let named = self.edges[by_name].iter();
            self.open.extend(named.map(|&(_, name, to)| (to, depth + 1, Some(Hop::Name(name)))));
            for (to, hop) in [(state.star, Hop::Star), (state.descendant, Hop::Descendant)] {
                if to != NONE {
                    self.open.push((to, depth + 1, Some(hop)));
                }
            }
            if let Some(number) = state.path() {
                write(&self.hops, &mut self.path);
                return Some((&self.path, number));
            }
        }
        None
    }
}

/// The path that some hops are.
fn write(hops: &[Hop], path: &mut LinearPath) {
    path.steps.clear();
    let (mut min, mut exact) = (1, true);
    for hop in hops {
        match *hop {
            Hop::Star => min += 1,
            Hop::Descendant => exact = false,
            Hop::Name(name) => {
                path.steps.push(LinearStep { min, exact, name: NameTest::Name(name) });
                (min, exact) = (1, true);
            }
        }
    }
    path.tail = if min > 1 { Tail::Wild(min - 1) } else { Tail::End };
}
