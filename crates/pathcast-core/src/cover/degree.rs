//! How imperfect a merger is: which share of the paths that it selects none of its members selects.
//!
//! Paths are those of the advertisement from the root to any element, down to a depth, each counted once: the
//! publications of "Routing of XML and XPath Queries in Data Dissemination Networks" taken as equally likely. The
//! automaton is made deterministic on the way, level by level; a path at which the merger can no longer be satisfied
//! is left, so narrow mergers cost little. Counts are doubles, their ratio is what is asked for.

use std::hash::BuildHasher;
use std::rc::Rc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::advertisement::Advertisement;
use crate::names::{NameId, Names};
use crate::pattern::{LinearPath, NameTest, Tail};

/// Different situations on one level before the answer is given up.
const SITUATIONS: usize = 20_000;

/// One level of a linear path.
#[derive(Clone, Copy)]
struct Level {
    name: NameTest,
    /// Whether levels may be passed over before it.
    open: bool,
}

fn levels(path: &LinearPath) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut push = |min: u32, exact: bool, name: NameTest| {
        for at in 1..=min {
            let name = if at == min { name } else { NameTest::Any };
            levels.push(Level { name, open: !exact && at == 1 });
        }
    };
    path.steps.iter().for_each(|step| push(step.min, step.exact, step.name));
    match path.tail {
        Tail::End => {}
        Tail::Wild(min) => push(min, true, NameTest::Any),
        Tail::Attribute { min, exact, .. } => push(min, exact, NameTest::Any),
    }
    levels
}

/// How far a path has come: which of its levels are satisfied, in all ways at once, as bits.
type Progress = u128;

/// Levels down to which paths are counted: a progress has a bit for each.
const DEEPEST: usize = 127;

fn advance(levels: &[Level], progress: Progress, label: Option<NameId>, names: &Names) -> Progress {
    let mut next = 0;
    let mut left = progress;
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        left &= left - 1;
        let Some(level) = levels.get(at) else { continue };
        let accepts = match (level.name, label) {
            (NameTest::Any, _) => true,
            (NameTest::Name(name), label) => label == Some(name),
            (NameTest::Partial(all), Some(label)) => names.is_one_of(label, all),
            (NameTest::Partial(_), None) => false,
        };
        next |= Progress::from(level.open) << at | Progress::from(accepts) << (at + 1);
    }
    next
}

/// The names that may come next, each with the set of states that it leads to.
type Successors = Vec<(Option<NameId>, u32)>;

/// Sets of states of an advertisement, by number, and what follows on each.
#[derive(Default)]
struct States {
    numbers: HashMap<Vec<u32>, u32>,
    sets: Vec<Vec<u32>>,
    followed: Vec<Option<Rc<Successors>>>,
}

impl States {
    fn number(&mut self, states: Vec<u32>) -> u32 {
        if let Some(&number) = self.numbers.get(&states) {
            return number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(states.clone());
        self.followed.push(None);
        self.numbers.insert(states, number);
        number
    }

    fn successors(&mut self, number: u32, advertisement: &Advertisement) -> Rc<Successors> {
        if let Some(found) = &self.followed[number as usize] {
            return found.clone();
        }
        let below = successors(advertisement, &self.sets[number as usize]);
        let found: Successors =
            below.into_iter().map(|(label, states)| (label, self.number(states))).collect();
        let found = Rc::new(found);
        self.followed[number as usize] = Some(found.clone());
        found
    }
}

/// The situations on one level: where paths stand in an advertisement, and how far the merger and its members have come
/// there. They stand in a row, so that a level costs no allocation for each.
#[derive(Default)]
struct Row {
    /// The number of a set of states, and how many paths lead here.
    places: Vec<(u32, f64)>,
    /// As many for each place: of the merger, then of its members.
    progress: Vec<Progress>,
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Row {
    fn clear(&mut self) {
        self.places.clear();
        self.progress.clear();
        self.known.clear();
    }

    /// The situation whose progress was pushed last, with so many more paths.
    fn add(&mut self, states: u32, width: usize, count: f64) {
        let (before, last) = self.progress.split_at(self.progress.len() - width);
        let hash = self.hasher.hash_one((states, last));
        let same = |&at: &u32| {
            let from = at as usize * width;
            self.places[at as usize].0 == states && before[from..from + width] == *last
        };
        if let Some(&at) = self.known.find(hash, same) {
            self.places[at as usize].1 += count;
            self.progress.truncate(before.len());
            return;
        }
        let (places, progress, hasher) = (&self.places, &self.progress, &self.hasher);
        let again = |&at: &u32| {
            let from = at as usize * width;
            hasher.hash_one((places[at as usize].0, &progress[from..from + width]))
        };
        self.known.insert_unique(hash, places.len() as u32, again);
        self.places.push((states, count));
    }
}

/// The share of the merger's paths that no member selects; nothing when it selects none, or they are too many to say.
pub fn imperfect_degree(
    advertisement: &Advertisement,
    merger: &LinearPath,
    members: &[&LinearPath],
    names: &Names,
    depth: usize,
) -> Option<f64> {
    let depth = depth.min(DEEPEST);
    let merger = levels(merger);
    // One that is longer than the paths that are counted selects none of them.
    let members: Vec<Vec<Level>> =
        members.iter().map(|member| levels(member)).filter(|levels| levels.len() <= depth).collect();
    if merger.len() > depth {
        return None;
    }
    let width = members.len() + 1;
    let mut states = States::default();
    let (mut now, mut next) = (Row::default(), Row::default());
    now.places.push((states.number(vec![0]), 1.0));
    now.progress.resize(width, 1);
    let (mut selected, mut wanted) = (0.0, 0.0);
    for _ in 0..depth {
        for (&(place, count), progress) in now.places.iter().zip(now.progress.chunks_exact(width)) {
            for &(label, below) in states.successors(place, advertisement).iter() {
                // Most names lead nowhere, and then the members need not be asked.
                let own = advance(&merger, progress[0], label, names);
                if own == 0 {
                    continue;
                }
                let from = next.progress.len();
                next.progress.push(own);
                let pairs = members.iter().zip(&progress[1..]);
                next.progress
                    .extend(pairs.map(|(levels, &progress)| advance(levels, progress, label, names)));
                if own >> merger.len() & 1 == 1 {
                    selected += count;
                    let mut pairs = members.iter().zip(&next.progress[from + 1..]);
                    let is_wanted = pairs.any(|(levels, progress)| progress >> levels.len() & 1 == 1);
                    wanted += if is_wanted { count } else { 0.0 };
                }
                if own & !(1 << merger.len()) == 0 {
                    next.progress.truncate(from);
                } else {
                    next.add(below, width, count);
                }
            }
        }
        if next.places.len() > SITUATIONS {
            return None;
        }
        std::mem::swap(&mut now, &mut next);
        next.clear();
    }
    (selected > 0.0).then(|| 1.0 - wanted / selected)
}

/// The names that may come next, and where each leads; a wildcard is one more name that nobody knows.
fn successors(advertisement: &Advertisement, states: &[u32]) -> Vec<(Option<NameId>, Vec<u32>)> {
    let below = states.iter().flat_map(|&state| &advertisement.follow[state as usize]);
    let mut below: Vec<(Option<NameId>, u32)> =
        below.map(|&state| (advertisement.labels[state as usize], state)).collect();
    below.sort_unstable();
    below.dedup();
    // Nothing comes before all names.
    let wild: Vec<u32> =
        below.iter().take_while(|(label, _)| label.is_none()).map(|&(_, state)| state).collect();
    let mut found = Vec::new();
    for group in below.chunk_by(|one, other| one.0 == other.0) {
        let label = group[0].0;
        let mut next: Vec<u32> = group.iter().map(|&(_, state)| state).collect();
        if label.is_some() {
            next.extend(&wild);
            next.sort_unstable();
        }
        found.push((label, next));
    }
    found
}
