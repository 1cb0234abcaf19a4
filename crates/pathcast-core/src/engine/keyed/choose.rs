//! Which shapes are looked up: few, and such that few paths are found in vain.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::options::{Options, name_of};
use super::shape::{Names, Shape};
use crate::pattern::LinearPath;

/// What it costs to find a path in vain, in look-ups.
const CANDIDATE: f64 = 1.0;
/// Look-ups for a shape whose names float.
const FLOATS: f64 = 5.0;
/// The share of elements at one depth.
const ONE_DEPTH: f64 = 0.125;

/// How often a name is counted that no path of the sample has.
const RAREST: f64 = 0.5;

/// Some of the paths.
#[derive(Debug, Default)]
pub(super) struct Sample {
    paths: Vec<LinearPath>,
}

/// The shapes that were chosen, and how often names are met.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    shapes: FxHashMap<Shape, ()>,
    /// By name: the share of the paths' names that it is. Number 0 stands for names that were not counted.
    shares: Vec<f64>,
}

/// What looking up a shape costs for an element, on average.
fn look_ups(shape: Shape) -> f64 {
    let times = if shape.floats() { FLOATS } else { 1.0 };
    if shape.is_exact() { times * ONE_DEPTH } else { times }
}

impl Sample {
    pub(super) fn add(&mut self, path: &LinearPath) {
        self.paths.push(path.clone());
    }

    /// Chooses shapes as long as the next spares more than it costs, for so many times as many paths.
    pub(super) fn choose(&self, times: f64) -> Chosen {
        let mut options = Options::default();
        let mut chosen = Chosen { shares: self.shares(), ..Chosen::default() };
        let mut by_shape: FxHashMap<Shape, Vec<(u32, f64)>> = FxHashMap::default();
        for (at, path) in self.paths.iter().enumerate() {
            options.read(path);
            options.each(|shape, names| {
                let vain = CANDIDATE * times * chosen.vain(shape, names);
                by_shape.entry(shape).or_default().push((at as u32, vain));
            });
        }
        // What each path costs now: at first all are found everywhere.
        let mut costs = vec![CANDIDATE * times; self.paths.len()];
        let gain = |shape: Shape, costs: &[f64]| {
            let spared = by_shape[&shape].iter().map(|&(at, vain)| (costs[at as usize] - vain).max(0.0));
            spared.sum::<f64>() - look_ups(shape)
        };
        let mut heap: BinaryHeap<(u64, Shape)> = BinaryHeap::new();
        for &shape in by_shape.keys() {
            heap.push((thousandths(gain(shape, &costs)), shape));
        }
        // A gain only shrinks as others are chosen, so one that was counted anew and is still the largest is it.
        while let Some((_, shape)) = heap.pop() {
            let now = thousandths(gain(shape, &costs));
            if now == 0 {
                continue;
            }
            if heap.peek().is_some_and(|&(next, _)| next > now) {
                heap.push((now, shape));
                continue;
            }
            for &(at, vain) in &by_shape[&shape] {
                let cost = &mut costs[at as usize];
                *cost = cost.min(vain);
            }
            chosen.shapes.insert(shape, ());
        }
        chosen
    }

    /// By name: the share of all names that it is.
    fn shares(&self) -> Vec<f64> {
        let mut counts = vec![RAREST];
        for step in self.paths.iter().flat_map(|path| &path.steps) {
            let name = usize::from(name_of(step));
            counts.resize(counts.len().max(name + 1), RAREST);
            counts[name] += 1.0;
        }
        let all: f64 = counts.iter().sum();
        counts.iter().map(|count| count / all).collect()
    }
}

/// A gain as a number that can be ordered; none is 0.
fn thousandths(gain: f64) -> u64 {
    (gain * 1000.0) as u64
}

impl Chosen {
    /// How often a key is met by chance, for an element.
    fn vain(&self, shape: Shape, names: Names) -> f64 {
        let share = |&name: &u16| self.shares.get(usize::from(name)).or(self.shares.first()).unwrap_or(&1.0);
        let met: f64 = names.iter().filter(|&&name| name != 0).map(share).product();
        met * look_ups(shape)
    }

    /// The key that a path gets.
    pub(super) fn key(&self, options: &Options) -> (Shape, Names) {
        let (mut best, mut least) = (options.nearest(), f64::INFINITY);
        options.each(|shape, names| {
            if self.shapes.contains_key(&shape) {
                let vain = self.vain(shape, names);
                if vain < least {
                    (best, least) = ((shape, names), vain);
                }
            }
        });
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameId;
    use crate::pattern::{LinearStep, NameTest, Tail};

    /// A path of child steps, `//` where a name is negative.
    fn path(names: &[i32]) -> LinearPath {
        let step = |&name: &i32| LinearStep {
            min: 1,
            exact: name > 0,
            name: NameTest::Name(NameId(name.unsigned_abs())),
        };
        LinearPath { steps: names.iter().map(step).collect(), tail: Tail::End }
    }

    fn sample(paths: impl Iterator<Item = LinearPath>) -> Sample {
        Sample { paths: paths.collect() }
    }

    #[test]
    fn many_paths_get_keys_of_more_names() {
        let names = |at: i32| [-1, 1 + at % 7, 1 + at / 7 % 7, 1 + at / 49 % 7];
        let few = sample((0..343).map(|at| path(&names(at))));
        let length = |times: f64| {
            let chosen = few.choose(times);
            let mut options = Options::default();
            options.read(&path(&[-1, 2, 3, 4]));
            chosen.key(&options).1.iter().filter(|&&name| name != 0).count()
        };
        assert_eq!((length(0.001), length(1.0)), (1, 4));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn a_path_with_few_fixed_names_gets_floating_ones() {
        let floating = sample((0..900).map(|at| path(&[-1 - at % 30, 1 + at / 30, -3])));
        let chosen = floating.choose(10.0);
        let mut options = Options::default();
        options.read(&path(&[-5, 7, -3]));
        let (shape, names) = chosen.key(&options);
        assert!(shape.floats(), "{shape:?}");
        assert!(names.contains(&5) && names.contains(&7), "{names:?}");
    }

    #[test]
    fn a_shape_that_was_not_chosen_gives_way_to_the_nearest_name() {
        let mut options = Options::default();
        options.read(&path(&[-5, 7, 9]));
        assert_eq!(Chosen::default().key(&options), options.nearest());
        assert_eq!(options.nearest().1, [9, 0, 0, 0]);
    }
}
