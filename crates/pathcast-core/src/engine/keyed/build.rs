//! The table of all paths by their keys.

use hashbrown::{HashMap, HashTable};

use super::check::{self, Step, levels};
use super::shape::{Anchored, Shape, anchored};
use crate::engine::PathId;
use crate::engine::yfilter::{Walk, YFilter};
use crate::pattern::LinearPath;

/// Of so many paths, keys have three names in place of two.
const MANY: usize = 200_000;
/// Paths that are looked at to see which shapes are frequent.
const SAMPLE: usize = 20_000;
/// A shape is worth a look-up at every element if it has one of so many paths.
const SHARE: usize = 400;
/// Names that can be in a key.
const MOST: usize = 6;
/// Paths that one document waits for.
const PIECE: usize = 4_096;
/// Bits of a word that stand for names; the others for depths.
const NAME_BITS: u32 = 48;

/// A path as a candidate.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    path: u32,
    steps: u32,
    count: u16,
    tail: u16,
}

/// The candidates of a key.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    key: u64,
    from: u32,
    to: u32,
}

/// All paths of an automaton by their keys.
#[derive(Debug)]
pub(in crate::engine) struct Keyed {
    pub(super) shapes: Vec<(Shape, usize)>,
    buckets: HashTable<Bucket>,
    /// By candidate: the bits of what it needs.
    pub(super) needs: Vec<u64>,
    candidates: Vec<Candidate>,
    steps: Vec<Step>,
}

impl Keyed {
    /// The candidates of a key.
    #[inline]
    pub(super) fn candidates(&self, key: u64) -> Option<std::ops::Range<usize>> {
        let bucket = self.buckets.find(key, |bucket| bucket.key == key)?;
        Some(bucket.from as usize..bucket.to as usize)
    }

    /// The path of a candidate.
    #[inline]
    pub(super) fn path(&self, at: usize) -> PathId {
        PathId(self.candidates[at].path)
    }

    /// Whether a candidate ends at the last of some names.
    pub(super) fn ends_at(&self, at: usize, names: &[u16]) -> bool {
        let Candidate { steps, count, tail, .. } = self.candidates[at];
        let from = steps as usize;
        check::ends_at(&self.steps[from..from + usize::from(count)], u32::from(tail), names)
    }

    /// Heap bytes held.
    pub(in crate::engine) fn bytes(&self) -> usize {
        self.buckets.allocation_size()
            + self.needs.capacity() * 8
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.steps.capacity() * size_of::<Step>()
    }
}

/// A table that is being built, some paths at a time: to build it at once takes seconds for a million paths.
#[derive(Debug)]
pub(in crate::engine) struct Building {
    walk: Walk,
    /// One of so many paths is looked at to see which shapes are frequent.
    every: usize,
    seen: usize,
    /// Whether they are known.
    sampled: bool,
    budget: usize,
    written: Written,
}

/// How far a table has come.
pub(in crate::engine) enum Progress {
    /// There is more to do.
    More(Box<Building>),
    /// It is built.
    Done(Keyed),
    /// It takes too many bytes, or a path cannot be looked up so.
    Refused,
}

impl Building {
    /// Begins with so many paths of an automaton; nothing if some cannot be looked up by keys.
    pub(in crate::engine) fn new(automaton: &YFilter, paths: usize, budget: usize) -> Option<Box<Self>> {
        let written = Written { size: if paths > MANY { 3 } else { 2 }, ..Written::default() };
        let every = paths.div_ceil(SAMPLE).max(1);
        let walk = Walk::new(automaton)?;
        Some(Box::new(Self { walk, every, seen: 0, sampled: false, budget, written }))
    }

    /// Looks at some more paths of the automaton, which has not changed.
    pub(in crate::engine) fn more(mut self: Box<Self>, automaton: &YFilter) -> Progress {
        for _ in 0..PIECE {
            let Self { walk, every, seen, sampled, budget, written } = &mut *self;
            let Some((path, number)) = walk.next(automaton) else { return self.turn() };
            if *sampled {
                if written.bytes() > *budget || written.add(path, number).is_none() {
                    return Progress::Refused;
                }
            } else {
                if seen.is_multiple_of(*every) {
                    written.sample(path);
                }
                *seen += 1;
            }
        }
        Progress::More(self)
    }

    /// All paths were looked at, for the first time or the second.
    fn turn(mut self: Box<Self>) -> Progress {
        if self.sampled {
            return Progress::Done(self.written.finish());
        }
        let least = (self.seen.div_ceil(self.every) / SHARE) as u32;
        self.written.frequent.retain(|_, paths| *paths >= least);
        self.sampled = true;
        self.walk.restart();
        Progress::More(self)
    }
}

/// The bit of a name; a name that no path has is none of them.
#[inline]
pub(super) fn name_bit(name: u16) -> u64 {
    if name == 0 { 0 } else { 1 << (u32::from(name) % NAME_BITS) }
}

/// The bit of a depth: an element has those of all depths up to its own.
#[inline]
pub(super) fn depth_bit(depth: usize) -> u64 {
    1 << (NAME_BITS + (depth as u32).clamp(1, 64 - NAME_BITS) - 1)
}

/// Every way to take so many of the places, or all if they are fewer.
fn choices(places: &[Anchored], size: usize, mut take: impl FnMut(&[Anchored])) {
    let places = &places[..places.len().min(MOST)];
    if places.len() <= size {
        return take(places);
    }
    for (third, &c) in places.iter().enumerate() {
        for (second, &b) in places[..third].iter().enumerate() {
            match size {
                3 => places[..second].iter().for_each(|&a| take(&[a, b, c])),
                _ => take(&[b, c]),
            }
        }
    }
}

/// What is written while paths are looked at.
#[derive(Debug, Default)]
struct Written {
    size: usize,
    /// Shapes, and how many paths could have them.
    frequent: HashMap<Shape, u32>,
    used: HashMap<Shape, ()>,
    places: Vec<Anchored>,
    /// By path: its key.
    keys: Vec<(u64, u32)>,
    needs: Vec<u64>,
    candidates: Vec<Candidate>,
    steps: Vec<Step>,
}

impl Written {
    fn bytes(&self) -> usize {
        self.keys.len() * 48 + self.steps.len() * size_of::<Step>()
    }

    /// Counts the shapes that a path could have.
    fn sample(&mut self, path: &LinearPath) {
        let Self { places, frequent, .. } = self;
        anchored(path, places);
        choices(places, self.size, |key| *frequent.entry(Shape::of(key)).or_default() += 1);
    }

    fn add(&mut self, path: &LinearPath, number: PathId) -> Option<()> {
        let steps = u32::try_from(self.steps.len()).ok()?;
        let (count, tail) = (path.steps.len().try_into().ok()?, levels(path.tail).try_into().ok()?);
        check::write(path, &mut self.steps)?;
        anchored(path, &mut self.places);
        let (mut best, mut chosen) = (0, Vec::new());
        choices(&self.places, self.size, |key| {
            if let Some(&paths) = self.frequent.get(&Shape::of(key))
                && paths > best
            {
                best = paths;
                chosen.clear();
                chosen.extend_from_slice(key);
            }
        });
        if best == 0 {
            // A rare shape gives way to the nearest name alone.
            chosen.extend(self.places.first());
        }
        let shape = Shape::of(&chosen);
        self.used.insert(shape, ());
        self.keys.push((shape.key_of(&chosen), self.candidates.len() as u32));
        let least: u32 = path.steps.iter().map(|step| step.min).sum::<u32>() + levels(path.tail);
        let names = self.steps[steps as usize..].iter().map(|step| name_bit(step.name));
        self.needs.push(names.fold(depth_bit(least as usize), |all, bit| all | bit));
        self.candidates.push(Candidate { path: number.0, steps, count, tail });
        Some(())
    }

    /// Puts the candidates of a key and their steps side by side.
    fn finish(mut self) -> Keyed {
        self.keys.sort_unstable();
        let mut shapes: Vec<_> = self.used.into_keys().map(|shape| (shape, shape.depth())).collect();
        shapes.sort_unstable();
        let mut buckets = HashTable::new();
        let mut needs = Vec::with_capacity(self.keys.len());
        let mut candidates = Vec::with_capacity(self.keys.len());
        let mut steps = Vec::with_capacity(self.steps.len());
        for same in self.keys.chunk_by(|one, other| one.0 == other.0) {
            let from = needs.len() as u32;
            needs.extend(same.iter().map(|&(_, at)| self.needs[at as usize]));
            for &(_, at) in same {
                let Candidate { steps: from, count, .. } = self.candidates[at as usize];
                candidates.push(Candidate { steps: steps.len() as u32, ..self.candidates[at as usize] });
                steps.extend_from_slice(&self.steps[from as usize..][..usize::from(count)]);
            }
            let bucket = Bucket { key: same[0].0, from, to: needs.len() as u32 };
            buckets.insert_unique(bucket.key, bucket, |bucket| bucket.key);
        }
        Keyed { shapes, buckets, needs, candidates, steps }
    }
}
