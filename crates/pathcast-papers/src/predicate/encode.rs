//! A path as an ordered set of predicates.
//!
//! The position of the first step, the distance between any two neighbours, and what must be below the last one.
//! Wildcards are not steps: they make distances longer. `(p, >=, 1)` says nothing and is left out when another
//! predicate follows, so `//a/b` and `/x/a/b` share `(d(a, b), =, 1)`.

use super::attributes::Attributes;
use super::constraint::{Distance, Predicate, PredicateId};
use super::index::PredicateIndex;
use super::places::{Places, bits};
use super::tags::{TagId, Tags};
use pathcast_core::engine::PathId;
use pathcast_core::pattern::{Condition, FilteredPath, FilteredStep, heap_bytes};

/// A path in terms of tag variables.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    pub(super) tags: Vec<TagId>,
    pub(super) predicates: Vec<Predicate>,
}

/// How the tag variable of a step is made.
fn filter_of(step: &FilteredStep, inline: bool) -> &Condition {
    if inline { &step.filter } else { &Condition::True }
}

/// Encodes a path, whose tag variables get one more user.
pub(super) fn intern(path: &FilteredPath, inline: bool, tags: &mut Tags) -> Encoded {
    let tags = path.steps.iter().map(|step| tags.intern(step.name, filter_of(step, inline))).collect();
    encode(path, tags)
}

/// Encodes a path that was interned.
pub(super) fn find(path: &FilteredPath, inline: bool, tags: &Tags) -> Option<Encoded> {
    let tag = |step: &FilteredStep| tags.find(step.name, filter_of(step, inline));
    Some(encode(path, path.steps.iter().map(tag).collect::<Option<_>>()?))
}

fn encode(path: &FilteredPath, tags: Vec<TagId>) -> Encoded {
    let mut predicates = Vec::with_capacity(tags.len() + 1);
    let mut before: Option<TagId> = None;
    for (step, &tag) in path.steps.iter().zip(&tags) {
        let distance = Distance { min: step.min, exact: step.exact };
        predicates.push(match before {
            None => Predicate::Absolute { tag, distance },
            Some(from) => Predicate::Relative { from, to: tag, distance },
        });
        before = Some(tag);
    }
    match (before, path.wild) {
        (_, 0) => {}
        (None, levels) => predicates.push(Predicate::Length { levels }),
        (Some(tag), levels) => predicates.push(Predicate::EndOfPath { tag, levels }),
    }
    let idle = Distance { min: 1, exact: false };
    if predicates.len() > 1
        && matches!(predicates[0], Predicate::Absolute { distance, .. } if distance == idle)
    {
        predicates.remove(0);
    }
    Encoded { tags, predicates }
}

/// Whether the predicates of a chain fit together on the current path.
pub(super) fn determine(
    chain: impl Iterator<Item = PredicateId>,
    index: &PredicateIndex,
    places: &Places,
    positions: &mut [Vec<u32>; 2],
) -> bool {
    if !places.is_deep() {
        let mut ends = None;
        for predicate in chain {
            let next = places.follow(ends, index.get(predicate));
            if next == 0 {
                return false;
            }
            ends = Some(next);
        }
        return true;
    }
    let [before, next] = positions;
    let mut first = true;
    for predicate in chain {
        places.follow_deep((!first).then_some(before.as_slice()), index.get(predicate), next);
        std::mem::swap(before, next);
        if before.is_empty() {
            return false;
        }
        first = false;
    }
    true
}

/// A path with filters whose structure is looked for without them.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) path: PathId,
    /// Each step as a predicate and what its element's attributes must be.
    steps: Box<[(Predicate, Condition)]>,
    end: Option<Predicate>,
}

impl Selection {
    /// The selection of a path that has filters.
    pub(super) fn new(path: &FilteredPath, tags: &[TagId], id: PathId) -> Option<Self> {
        if path.steps.iter().all(|step| step.filter == Condition::True) {
            return None;
        }
        let mut before = None;
        let mut steps = Vec::with_capacity(tags.len());
        for (step, &tag) in path.steps.iter().zip(tags) {
            let distance = Distance { min: step.min, exact: step.exact };
            let predicate = match before.replace(tag) {
                None => Predicate::Absolute { tag, distance },
                Some(from) => Predicate::Relative { from, to: tag, distance },
            };
            steps.push((predicate, step.filter.clone()));
        }
        let end = before.filter(|_| path.wild > 0);
        let end = end.map(|tag| Predicate::EndOfPath { tag, levels: path.wild });
        Some(Self { path: id, steps: steps.into(), end })
    }

    /// Occurrence determination once more, with the elements that pass.
    pub(super) fn holds(
        &self,
        places: &Places,
        attributes: &Attributes,
        positions: &mut [Vec<u32>; 2],
    ) -> bool {
        let steps = self.steps.iter().map(|(predicate, filter)| (*predicate, filter));
        let steps = steps.chain(self.end.map(|end| (end, &Condition::True)));
        let passes = |at: u32, filter: &Condition| {
            *filter == Condition::True || attributes.passes(at as usize - 1, filter)
        };
        if !places.is_deep() {
            let mut ends = None;
            for (predicate, filter) in steps {
                let mut next = places.follow(ends, predicate);
                for at in bits(next) {
                    if !passes(at, filter) {
                        next &= !(1 << (at - 1));
                    }
                }
                if next == 0 {
                    return false;
                }
                ends = Some(next);
            }
            return true;
        }
        let [before, next] = positions;
        let mut first = true;
        for (predicate, filter) in steps {
            places.follow_deep((!first).then_some(before.as_slice()), predicate, next);
            next.retain(|&at| passes(at, filter));
            std::mem::swap(before, next);
            if before.is_empty() {
                return false;
            }
            first = false;
        }
        true
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.steps.len() * size_of::<(Predicate, Condition)>() + self.filters().map(heap_bytes).sum::<usize>()
    }

    /// The filters.
    pub(super) fn filters(&self) -> impl Iterator<Item = &Condition> {
        self.steps.iter().map(|(_, filter)| filter)
    }
}
