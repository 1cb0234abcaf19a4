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

/// The names that may come next, each with where it leads.
type Successors = Vec<(Option<NameId>, Vec<u32>)>;

/// Where paths stand in an advertisement, and how far the merger and its members have come there.
type Situation = (Vec<u32>, Vec<Progress>);

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
    let mut followed: HashMap<Vec<u32>, Successors> = HashMap::default();
    let mut now: HashMap<Situation, f64> = HashMap::default();
    now.insert((vec![0], vec![1; members.len() + 1]), 1.0);
    let (mut selected, mut wanted) = (0.0, 0.0);
    for _ in 0..depth {
        let mut next: HashMap<Situation, f64> = HashMap::default();
        for ((states, progress), count) in now {
            if !followed.contains_key(&states) {
                followed.insert(states.clone(), successors(advertisement, &states));
            }
            for (label, below) in &followed[&states] {
                // Most names lead nowhere, and then the members need not be asked.
                let own = advance(&merger, progress[0], *label, names);
                if own == 0 {
                    continue;
                }
                let mut further = Vec::with_capacity(progress.len());
                further.push(own);
                let pairs = members.iter().zip(&progress[1..]);
                further.extend(pairs.map(|(levels, &progress)| advance(levels, progress, *label, names)));
                if own >> merger.len() & 1 == 1 {
                    selected += count;
                    let mut pairs = members.iter().zip(&further[1..]);
                    let is_wanted = pairs.any(|(levels, progress)| progress >> levels.len() & 1 == 1);
                    wanted += if is_wanted { count } else { 0.0 };
                }
                if own & !(1 << merger.len()) != 0 {
                    *next.entry((below.clone(), further)).or_default() += count;
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
fn successors(advertisement: &Advertisement, states: &[u32]) -> Successors {
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
