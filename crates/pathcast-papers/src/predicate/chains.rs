//! `predicate`: every expression on its own.
//!
//! Expressions share predicates and nothing else. An expression can become true only when its last predicate became
//! true with a new element, so each lies in the list of its last predicate.

use super::constraint::PredicateId;
use super::encode::{Selection, determine};
use super::index::PredicateIndex;
use super::publication::{Outcome, Publication};
use pathcast_core::engine::PathId;

#[derive(Clone, Debug)]
struct Chain {
    predicates: Box<[PredicateId]>,
    /// Where it lies in the list of its last predicate.
    place: u32,
    selection: Option<Box<Selection>>,
}

/// The expressions by the number of their path.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    items: Vec<Option<Chain>>,
    by_last: Vec<Vec<u32>>,
}

impl Chains {
    pub(super) fn insert(&mut self, predicates: &[PredicateId], id: PathId, selection: Option<Selection>) {
        let Some(&last) = predicates.last() else { return };
        let at = id.0 as usize;
        if self.items.len() <= at {
            self.items.resize_with(at + 1, || None);
        }
        if self.by_last.len() <= last as usize {
            self.by_last.resize_with(last as usize + 1, Vec::new);
        }
        let list = &mut self.by_last[last as usize];
        let place = list.len() as u32;
        list.push(id.0);
        self.items[at] =
            Some(Chain { predicates: predicates.into(), place, selection: selection.map(Box::new) });
    }

    /// Takes an expression out; the selection it had.
    pub(super) fn remove(&mut self, id: PathId) -> Option<Selection> {
        let chain = self.items.get_mut(id.0 as usize)?.take()?;
        let last = *chain.predicates.last()?;
        let list = &mut self.by_last[last as usize];
        list.swap_remove(chain.place as usize);
        if let Some(&moved) = list.get(chain.place as usize)
            && let Some(moved) = &mut self.items[moved as usize]
        {
            moved.place = chain.place;
        }
        if list.is_empty() {
            *list = Vec::new();
        }
        chain.selection.map(|selection| *selection)
    }

    /// Decides the expressions whose last predicate became true.
    pub(super) fn evaluate(&self, index: &PredicateIndex, path: &mut Publication, outcome: &mut Outcome) {
        for &last in path.fresh.iter().rev() {
            let Some(list) = self.by_last.get(last as usize) else { continue };
            for &id in list {
                if outcome.found.contains(PathId(id)) {
                    continue;
                }
                let Some(chain) = &self.items[id as usize] else { continue };
                let holds = chain.predicates.iter().all(|&each| path.matched[each as usize])
                    && determine(chain.predicates.iter().copied(), index, &path.places, &mut path.positions)
                    && chain.selection.as_ref().is_none_or(|selection| {
                        selection.holds(&path.places, &path.attributes, &mut path.positions)
                    });
                if holds {
                    outcome.found.add(PathId(id));
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_vacant(&self) -> bool {
        self.items.iter().all(Option::is_none) && self.by_last.iter().all(Vec::is_empty)
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let chain = |chain: &Chain| {
            let selection = chain.selection.as_ref();
            chain.predicates.len() * size_of::<PredicateId>()
                + selection.map_or(0, |each| size_of::<Selection>() + each.memory_bytes())
        };
        self.items.capacity() * size_of::<Option<Chain>>()
            + self.items.iter().flatten().map(chain).sum::<usize>()
            + self.by_last.capacity() * size_of::<Vec<u32>>()
            + self.by_last.iter().map(|list| list.capacity() * 4).sum::<usize>()
    }
}
