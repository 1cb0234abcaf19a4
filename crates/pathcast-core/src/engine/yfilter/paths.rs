//! The paths of the automaton, read back from its states.

use super::YFilter;
use super::automaton::{NONE, StateId};
use crate::engine::PathId;
use crate::names::NameId;
use crate::pattern::{LinearPath, LinearStep, NameTest, Tail};

/// What leads to a state.
#[derive(Clone, Copy)]
enum Hop {
    Star,
    Descendant,
    Name(NameId),
}

impl YFilter {
    /// Hands over every path as long as they are taken; false if one was not, ends in an attribute, or tests a part of a
    /// name.
    pub(in crate::engine) fn each_path(&self, mut take: impl FnMut(&LinearPath, PathId) -> bool) -> bool {
        let mut edges = Vec::with_capacity(self.edges.len());
        for edge in &self.edges {
            let Some(name) = edge.symbol.whole_name() else { return false };
            edges.push((edge.from, name, edge.to));
        }
        edges.sort_unstable();
        // By state: its first edge, and behind all of them the end.
        let mut first = vec![0; self.states.len() + 1];
        for (from, ..) in &edges {
            first[*from as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut path = LinearPath::default();
        let mut hops: Vec<Hop> = Vec::new();
        let mut open: Vec<(StateId, usize, Option<Hop>)> = vec![(0, 0, None)];
        while let Some((id, depth, hop)) = open.pop() {
            hops.truncate(depth.saturating_sub(1));
            hops.extend(hop);
            let state = &self.states[id as usize];
            if let Some(number) = state.path() {
                write(&hops, &mut path);
                if !take(&path, number) {
                    return false;
                }
            }
            let by_name = &edges[first[id as usize]..first[id as usize + 1]];
            open.extend(by_name.iter().map(|&(_, name, to)| (to, depth + 1, Some(Hop::Name(name)))));
            for (to, hop) in [(state.star, Hop::Star), (state.descendant, Hop::Descendant)] {
                if to != NONE {
                    open.push((to, depth + 1, Some(hop)));
                }
            }
        }
        true
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
