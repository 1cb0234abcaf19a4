//! The table of all paths by their keys.

use rustc_hash::FxHashMap;

use super::bits;
use super::check::{self, Step, levels};
use super::choose::{Chosen, Sample};
use super::options::Options;
use super::shape::{LANES, Shape, key};
use crate::engine::PathId;
use crate::engine::yfilter::{Walk, YFilter};
use crate::pattern::LinearPath;

/// One of so many paths is looked at to choose shapes, within bounds.
const EVERY: usize = 25;
const SAMPLE: std::ops::RangeInclusive<usize> = 4_000..=20_000;
/// Paths that one document waits for.
const PIECE: usize = 4_096;
/// Candidates in a line.
pub(super) const WIDTH: usize = 4;
/// Room for candidates, in hundredths of how many there are.
const ROOM: usize = 140;
/// The bit of what stands for several candidates.
const SEVERAL: u32 = 1 << 31;
/// Bits for each path that say whether a key is there.
const BITS: usize = 4;
/// Elements that are deeper have no look-ups.
pub(in crate::engine) const DEEPEST: usize = 32;

/// A look-up: the levels of the names of its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookUp {
    pub(super) seed: u64,
    pub(super) levels: [u8; LANES],
}

/// All paths of an automaton by their keys.
#[derive(Debug)]
pub(in crate::engine) struct Keyed {
    /// By depth: what is looked up for an element.
    pub(super) look_ups: Vec<Vec<LookUp>>,
    /// By the highest bits of a key: a bit that is set if some path has it. Small enough to stay near the processor.
    pub(super) present: Vec<u64>,
    /// By the lowest half of a key: the paths there.
    lines: Vec<Line>,
    /// Those of lines that have too many.
    more: Vec<Candidate>,
    /// By candidate: how many steps and the tail, then the steps.
    steps: Vec<Step>,
}

/// A path that may end at an element, or several that lie elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) needs: u64,
    /// The path; of several the first.
    pub(super) path: u32,
    /// Where its steps begin; of several how many there are, and a bit.
    pub(super) steps: u32,
}

/// So many candidates as lie side by side.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [Candidate; WIDTH]);

impl Candidate {
    /// No path.
    pub(super) const NONE: Self = Self { needs: bits::NEVER, path: 0, steps: 0 };
}

impl Keyed {
    /// The candidates of a key, and those of some others.
    #[inline]
    pub(super) fn line(&self, key: u32) -> &Line {
        &self.lines[line_of(key, self.lines.len())]
    }

    /// The candidates that one stands for.
    #[inline]
    pub(super) fn several(&self, one: &Candidate) -> Option<&[Candidate]> {
        let from = one.path as usize;
        (one.steps >= SEVERAL).then(|| &self.more[from..from + (one.steps - SEVERAL) as usize])
    }

    /// What stands before the steps of a candidate.
    #[inline]
    pub(super) fn steps(&self, candidate: &Candidate) -> Step {
        self.steps[candidate.steps as usize]
    }

    /// Whether the path whose steps are here ends at the last of some names.
    pub(super) fn ends_at(&self, Step(size): Step, at: u32, names: &[u16]) -> bool {
        let from = at as usize + 1;
        check::ends_at(&self.steps[from..from + (size >> 16) as usize], size & 0xffff, names)
    }

    /// Heap bytes held.
    pub(in crate::engine) fn bytes(&self) -> usize {
        let look_ups: usize = self.look_ups.iter().map(Vec::capacity).sum();
        look_ups * size_of::<LookUp>()
            + self.present.capacity() * 8
            + self.lines.capacity() * size_of::<Line>()
            + self.more.capacity() * size_of::<Candidate>()
            + self.steps.capacity() * size_of::<Step>()
    }
}

/// The line of a key.
#[inline]
fn line_of(key: u32, lines: usize) -> usize {
    ((u64::from(key) * lines as u64) >> 32) as usize
}

/// The word and the bit of a key in as many words, a power of two.
#[inline]
pub(super) fn present_bit(words: &[u64], key: u64) -> (usize, u64) {
    ((key >> 38) as usize & (words.len() - 1), 1 << (key >> 32 & 63))
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
        let written = Written { paths, ..Written::default() };
        let sample = (paths / EVERY).clamp(*SAMPLE.start(), *SAMPLE.end());
        let every = paths.div_ceil(sample).max(1);
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
                    written.sample.add(path);
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
        let sample = std::mem::take(&mut self.written.sample);
        self.written.chosen = sample.choose(self.every as f64);
        self.sampled = true;
        self.walk.restart();
        Progress::More(self)
    }
}

/// What is written while paths are looked at.
#[derive(Debug, Default)]
struct Written {
    sample: Sample,
    chosen: Chosen,
    options: Options,
    used: FxHashMap<Shape, u64>,
    /// How many there are.
    paths: usize,
    /// By path: its key.
    placed: Vec<(u64, Candidate)>,
    steps: Vec<Step>,
}

impl Written {
    fn bytes(&self) -> usize {
        self.paths * 24 + self.placed.len() * 4 + self.steps.len() * 4
    }

    /// Writes a path; nothing if a number in it takes too many bytes.
    fn add(&mut self, path: &LinearPath, number: PathId) -> Option<()> {
        self.options.read(path);
        let (shape, names) = self.chosen.key(&self.options);
        let seed = *self.used.entry(shape).or_insert_with(|| shape.seed());
        let steps = u32::try_from(self.steps.len()).ok().filter(|&steps| steps < SEVERAL)?;
        let (count, tail) = (u16::try_from(path.steps.len()).ok()?, u16::try_from(levels(path.tail)).ok()?);
        self.steps.push(Step(u32::from(count) << 16 | u32::from(tail)));
        check::write(path, &mut self.steps)?;
        let needs = bits::needs(&self.steps[steps as usize + 1..], u32::from(tail));
        self.placed.push((key(seed, names), Candidate { needs, path: number.0, steps }));
        Some(())
    }

    /// Puts the candidates of a line and their steps side by side.
    fn finish(mut self) -> Keyed {
        let mut shapes: Vec<_> = self.used.into_iter().collect();
        shapes.sort_unstable();
        let mut look_ups = vec![Vec::new(); DEEPEST + 1];
        for (depth, look_ups) in look_ups.iter_mut().enumerate().skip(1) {
            for &(shape, seed) in &shapes {
                shape.levels(depth, |levels| look_ups.push(LookUp { seed, levels }));
            }
        }
        let mut present = vec![0; (self.placed.len() * BITS / 64).next_power_of_two()];
        for &(key, _) in &self.placed {
            let (word, bit) = present_bit(&present, key);
            present[word] |= bit;
        }
        let count = self.placed.len() * ROOM / WIDTH / 100 + 1;
        let line = |key: u64| line_of(key as u32, count);
        self.placed.sort_unstable_by_key(|&(key, candidate)| (line(key), candidate.path));
        let mut lines = vec![Line([Candidate::NONE; WIDTH]); count];
        let (mut more, mut steps) = (Vec::new(), Vec::with_capacity(self.steps.len()));
        for same in self.placed.chunk_by(|one, other| line(one.0) == line(other.0)) {
            let moved = same.iter().map(|&(_, candidate)| {
                let from = candidate.steps as usize;
                let at = steps.len() as u32;
                steps.extend_from_slice(&self.steps[from..=from + (self.steps[from].0 >> 16) as usize]);
                Candidate { steps: at, ..candidate }
            });
            let Line(here) = &mut lines[line(same[0].0)];
            if same.len() <= WIDTH {
                here.iter_mut().zip(moved).for_each(|(place, candidate)| *place = candidate);
                continue;
            }
            let first = more.len();
            more.extend(moved);
            let (last, few) = (WIDTH - 1, more.len() - (WIDTH - 1));
            here[..last].copy_from_slice(&more[few..]);
            more.truncate(few);
            let needs = more[first..].iter().fold(bits::NEVER, |all, candidate| all & candidate.needs);
            here[last] = Candidate { needs, path: first as u32, steps: SEVERAL + (few - first) as u32 };
        }
        Keyed { look_ups, present, lines, more, steps }
    }
}
