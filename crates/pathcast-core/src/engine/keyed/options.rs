//! The keys that a path could have.

use super::check::levels;
use super::shape::{Anchored, FARTHEST, LANES, Names, Place, Shape, WIDEST};
use crate::pattern::{LinearPath, LinearStep, NameTest};

/// Names with a fixed place that can be in a key.
const MOST: usize = 7;
/// Paths that have so many of them need no others.
const ENOUGH: usize = 4;

/// The names of a path by their places.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Those at a fixed distance from the element, nearest first, then those at a fixed distance from the root.
    fixed: Vec<Anchored>,
    /// Neighbours of which only the distance from each other is known.
    floating: Vec<Vec<Anchored>>,
    depth: Option<u32>,
}

/// The name of a step as a number.
pub(super) fn name_of(step: &LinearStep) -> u16 {
    if let NameTest::Name(id) = step.name { id.0 as u16 } else { 0 }
}

impl Options {
    /// Finds the places of a path. The root has one name for all elements of a document and tells nothing.
    pub(super) fn read(&mut self, path: &LinearPath) {
        let (steps, tail) = (&path.steps, levels(path.tail));
        self.fixed.clear();
        self.floating.clear();
        let total = tail + steps.iter().map(|step| step.min).sum::<u32>();
        let open = steps.iter().position(|step| !step.exact);
        self.depth = (open.is_none() && total <= FARTHEST).then_some(total);
        let mut above = tail;
        for step in steps.iter().rev() {
            if above <= FARTHEST && !(open.is_none() && total - above == 1) {
                self.fixed.push((Place::above(above), name_of(step)));
            }
            if !step.exact {
                break;
            }
            above += step.min;
        }
        let (Some(first), Some(last)) = (open, steps.iter().rposition(|step| !step.exact)) else {
            return self.fixed.truncate(MOST);
        };
        let mut level = 0;
        for step in &steps[..first] {
            level += step.min;
            if (2..=FARTHEST).contains(&level) {
                self.fixed.push((Place::level(level), name_of(step)));
            }
        }
        self.fixed.truncate(MOST);
        if self.fixed.len() < ENOUGH {
            self.float(&steps[first..last]);
        }
    }

    fn float(&mut self, steps: &[LinearStep]) {
        for at in 0..steps.len() {
            let mut names = vec![(Place::floating(0), name_of(&steps[at]))];
            self.floating.push(names.clone());
            for next in &steps[at + 1..] {
                if !next.exact || next.min > WIDEST || names.len() + 1 == LANES {
                    break;
                }
                names.push((Place::floating(next.min), name_of(next)));
                self.floating.push(names.clone());
            }
        }
    }

    /// The key of the nearest name, or of none.
    pub(super) fn nearest(&self) -> (Shape, Names) {
        Shape::of(&self.fixed[..self.fixed.len().min(1)], self.depth)
    }

    /// Calls back with every key.
    pub(super) fn each(&self, mut take: impl FnMut(Shape, Names)) {
        let mut places = Vec::with_capacity(LANES);
        for subset in 0_u32..1 << self.fixed.len() {
            if subset.count_ones() as usize > LANES {
                continue;
            }
            places.clear();
            places.extend((0..self.fixed.len()).filter(|at| subset >> at & 1 != 0).map(|at| self.fixed[at]));
            let (shape, names) = Shape::of(&places, self.depth);
            take(shape, names);
            let fixed = places.len();
            for floating in self.floating.iter().filter(|floating| fixed + floating.len() <= LANES) {
                places.extend_from_slice(floating);
                let (shape, names) = Shape::of(&places, self.depth);
                take(shape, names);
                places.truncate(fixed);
            }
        }
    }
}
