//! How imperfect a merger is: which share of the paths that it selects none of its members selects.
//!
//! Paths are those of the advertisement from the root to any element, down to a depth, each counted once: the
//! publications of "Routing of XML and XPath Queries in Data Dissemination Networks" taken as equally likely. The
//! automaton is made deterministic on the way, level by level; a path at which the merger can no longer be satisfied
//! is left, so narrow mergers cost little. Counts are doubles, their ratio is what is asked for.

use hashbrown::HashMap;

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

/// How far a path has come: how many of its levels are satisfied, in all ways at once.
type Progress = Vec<bool>;

fn advance(levels: &[Level], progress: &[bool], label: Option<NameId>, names: &Names) -> Progress {
    let mut next = vec![false; levels.len() + 1];
    for (at, level) in levels.iter().enumerate().filter(|(at, _)| progress[*at]) {
        next[at] |= level.open;
        next[at + 1] |= match (level.name, label) {
            (NameTest::Any, _) => true,
            (NameTest::Name(name), label) => label == Some(name),
            (NameTest::Partial(all), Some(label)) => names.is_one_of(label, all),
            (NameTest::Partial(_), None) => false,
        };
    }
    next
}

fn start(levels: &[Level]) -> Progress {
    let mut progress = vec![false; levels.len() + 1];
    progress[0] = true;
    progress
}

/// The share of the merger's paths that no member selects; nothing when it selects none, or they are too many to say.
pub fn imperfect_degree(
    advertisement: &Advertisement,
    merger: &LinearPath,
    members: &[&LinearPath],
    names: &Names,
    depth: usize,
) -> Option<f64> {
    let patterns: Vec<Vec<Level>> =
        std::iter::once(merger).chain(members.iter().copied()).map(levels).collect();
    let mut now: HashMap<(Vec<u32>, Vec<Progress>), f64> = HashMap::default();
    now.insert((vec![0], patterns.iter().map(|levels| start(levels)).collect()), 1.0);
    let (mut selected, mut wanted) = (0.0, 0.0);
    for _ in 0..depth {
        let mut next: HashMap<(Vec<u32>, Vec<Progress>), f64> = HashMap::default();
        for ((states, progress), count) in now {
            for (label, below) in successors(advertisement, &states) {
                let progress: Vec<Progress> = patterns
                    .iter()
                    .zip(&progress)
                    .map(|(levels, progress)| advance(levels, progress, label, names))
                    .collect();
                let selects = |progress: &Progress| progress.last() == Some(&true);
                if selects(&progress[0]) {
                    selected += count;
                    wanted += if progress[1..].iter().any(selects) { count } else { 0.0 };
                }
                if progress[0].contains(&true) {
                    *next.entry((below, progress)).or_default() += count;
                }
            }
        }
        if next.len() > SITUATIONS {
            return None;
        }
        now = next;
    }
    (selected > 0.0).then(|| 1.0 - wanted / selected)
}

/// The names that may come next, and where each leads; a wildcard is one more name that nobody knows.
fn successors(advertisement: &Advertisement, states: &[u32]) -> Vec<(Option<NameId>, Vec<u32>)> {
    let below = || states.iter().flat_map(|&state| &advertisement.follow[state as usize]).copied();
    let mut labels: Vec<_> = below().map(|state| advertisement.labels[state as usize]).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut found = Vec::with_capacity(labels.len());
    for label in labels {
        let mut next: Vec<u32> = below()
            .filter(|&state| {
                let own = advertisement.labels[state as usize];
                own == label || own.is_none()
            })
            .collect();
        next.sort_unstable();
        next.dedup();
        found.push((label, next));
    }
    found
}
