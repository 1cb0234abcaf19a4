//! Paths that wait for others that a rule may merge them with.
//!
//! Two paths that a merging rule takes have everything in common but one or two places. So a path waits under a *key*
//! for each way to leave such places out, and those that it may be merged with wait under the same key: nobody is
//! compared with everybody. A path of eight steps has some forty keys. A key is a sum of hashes, one for each place, so
//! that leaving a place out is one subtraction. Most keys have one path, which is kept as a number without a list.
//!
//! A key is a hash of 32 bits, and paths that meet under it by chance are found not to be alike when they are compared.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Handle;
use super::steps::PlainStep;
use crate::hashing::{Seed, spread};

/// What paths have in common that a rule may merge.
pub type MergeKey = u32;

/// Steps that the third rule may drop from either side.
const DROPPED: usize = 2;
/// Steps of a path for which pairs of names are left out; there are as many keys as pairs.
const LONGEST: usize = 12;
/// Steps of a path for which pairs of names may be left out: as many must be equal.
const SHORTEST: usize = 4;
/// How many must wait under a key before merging is tried, those that come included.
const PATIENCE: u32 = 2;
/// In a slot: what follows is the number of a list.
const LISTED: u32 = 1 << 31;

/// A key with the rule it belongs to and, for two names that are left out, where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// The key.
    pub key: MergeKey,
    /// The rule.
    pub rule: u8,
    /// The places of two names.
    pub places: Option<(u32, u32)>,
}

/// The keys of a path under some of the first three rules. `context` is what else must be equal.
pub fn merge_keys(path: &[PlainStep], rules: &[u8], context: &str, seed: Seed) -> Vec<Likeness> {
    Hashed::new(path, context, seed).keys(rules)
}

/// The key of what is equal in expressions whose values are listed.
pub fn listing_key(equal: &str, context: &str, seed: Seed) -> Likeness {
    Likeness { key: (seed.hash(&(equal, context)) >> 32) as MergeKey, rule: 4, places: None }
}

/// Hashes of the parts of a path.
struct Hashed<'a> {
    path: &'a [PlainStep],
    context: u64,
    /// By place: the step, its name alone, and its operator alone.
    steps: Vec<u64>,
    names: Vec<u64>,
    operators: Vec<u64>,
}

impl<'a> Hashed<'a> {
    fn new(path: &'a [PlainStep], context: &str, seed: Seed) -> Self {
        let names: Vec<u64> = path.iter().map(|(_, name)| seed.hash(&**name)).collect();
        let operators = path.iter().map(|(below, _)| spread(u64::from(*below) + 11)).collect();
        let steps =
            path.iter().zip(&names).map(|((below, _), name)| spread(name ^ u64::from(*below))).collect();
        Self { path, context: seed.hash(context), steps, names, operators }
    }

    fn key(&self, parts: [u64; 3], sum: u64) -> MergeKey {
        let number = parts.iter().fold(self.context ^ self.path.len() as u64, |all, part| spread(all ^ part));
        (spread(number ^ sum) >> 32) as MergeKey
    }

    fn keys(&self, rules: &[u8]) -> Vec<Likeness> {
        let length = self.path.len();
        let mut found = Vec::with_capacity(length * (length + 4));
        let steps = sum(&self.steps);
        let names = sum(&self.names);
        let operators = sum(&self.operators);
        if rules.contains(&1) {
            for at in (0..length).filter(|&at| self.path[at].1 != "*") {
                let rest = steps.wrapping_sub(placed(at, self.steps[at]));
                let key = self.key([1, at as u64, self.operators[at]], rest);
                found.push(Likeness { key, rule: 1, places: None });
            }
        }
        if rules.contains(&2) {
            for at in 0..length {
                let rest = names.wrapping_sub(placed(at, self.names[at]));
                found.push(Likeness { key: self.key([2, at as u64, 0], rest), rule: 2, places: None });
            }
            if (SHORTEST..=LONGEST).contains(&length) {
                for one in 0..length {
                    let without = names.wrapping_sub(placed(one, self.names[one]));
                    for other in one + 1..length {
                        let rest = without.wrapping_sub(placed(other, self.names[other]));
                        let key = self.key([3, (one * length + other) as u64, operators], rest);
                        found.push(Likeness { key, rule: 2, places: Some((one as u32, other as u32)) });
                    }
                }
            }
        }
        if rules.contains(&3) {
            self.cuts(&mut found);
        }
        found
    }

    /// What a path begins and ends with, a part in the middle left out. The operator before the end does not matter.
    fn cuts(&self, found: &mut Vec<Likeness>) {
        let length = self.path.len();
        for start in 0..length {
            let head = sum(&self.steps[..start]);
            for dropped in 0..=DROPPED {
                let Some(end) = (length - start).checked_sub(dropped) else { break };
                if end < 1 || start + end < 2 {
                    continue;
                }
                let at = length - end;
                let tail = sum(&self.steps[at + 1..]).wrapping_add(placed(end, self.names[at]));
                let number =
                    [4, start as u64, head].iter().fold(self.context, |all, part| spread(all ^ part));
                let key = (spread(spread(number ^ end as u64) ^ tail) >> 32) as MergeKey;
                found.push(Likeness { key, rule: 3, places: None });
            }
        }
    }
}

/// A part at a place.
fn placed(at: usize, part: u64) -> u64 {
    spread(part.wrapping_add(spread(at as u64 + 1)))
}

fn sum(parts: &[u64]) -> u64 {
    parts.iter().enumerate().fold(0, |all, (at, &part)| all.wrapping_add(placed(at, part)))
}

/// A path that waits.
#[derive(Clone, Debug)]
struct Waiting {
    /// When it came.
    turn: u32,
    keys: Box<[MergeKey]>,
}

/// Paths that wait, by their keys.
#[derive(Clone, Debug, Default)]
pub struct Mergeable {
    /// By key: a path that waits alone, or the number of a list.
    slots: FxHashMap<MergeKey, u32>,
    /// By turn.
    lists: Vec<BTreeSet<(u32, Handle)>>,
    free: Vec<u32>,
    waiting: FxHashMap<Handle, Waiting>,
    /// By key: how many must wait before merging is tried again, where that is not [`PATIENCE`].
    patience: FxHashMap<MergeKey, u32>,
    turn: u32,
}

impl Mergeable {
    /// Whether a path waits here.
    pub fn contains(&self, handle: Handle) -> bool {
        self.waiting.contains_key(&handle)
    }

    /// Lets a path wait under its keys.
    pub fn wait(&mut self, handle: Handle, keys: impl IntoIterator<Item = MergeKey>) {
        self.withdraw(handle);
        let mut keys: Vec<MergeKey> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let turn = self.turn;
        self.turn += 1;
        for &key in &keys {
            let Some(slot) = self.slots.get_mut(&key) else {
                self.slots.insert(key, handle);
                continue;
            };
            if *slot & LISTED == 0 {
                let first = (self.waiting.get(slot).map_or(0, |waiting| waiting.turn), *slot);
                let number = self.free.pop().unwrap_or(self.lists.len() as u32);
                if number as usize == self.lists.len() {
                    self.lists.push(BTreeSet::new());
                }
                self.lists[number as usize].insert(first);
                *slot = LISTED | number;
            }
            self.lists[(*slot & !LISTED) as usize].insert((turn, handle));
        }
        self.waiting.insert(handle, Waiting { turn, keys: keys.into() });
    }

    /// A path waits no longer.
    pub fn withdraw(&mut self, handle: Handle) {
        let Some(Waiting { turn, keys }) = self.waiting.remove(&handle) else { return };
        for key in keys {
            let Some(&slot) = self.slots.get(&key) else { continue };
            if slot & LISTED != 0 {
                let list = &mut self.lists[(slot & !LISTED) as usize];
                list.remove(&(turn, handle));
                if !list.is_empty() {
                    continue;
                }
                self.free.push(slot & !LISTED);
            }
            self.slots.remove(&key);
            self.patience.remove(&key);
        }
    }

    /// How many wait under a key.
    pub fn number(&self, key: MergeKey) -> u32 {
        match self.slots.get(&key) {
            None => 0,
            Some(slot) if slot & LISTED == 0 => 1,
            Some(slot) => self.lists[(slot & !LISTED) as usize].len() as u32,
        }
    }

    /// Those that wait under a key, in the order in which they came.
    pub fn under(&self, key: MergeKey) -> Vec<Handle> {
        match self.slots.get(&key) {
            None => Vec::new(),
            Some(&slot) if slot & LISTED == 0 => vec![slot],
            Some(slot) => self.lists[(slot & !LISTED) as usize].iter().map(|&(_, handle)| handle).collect(),
        }
    }

    /// How many must have gathered under a key before merging is tried.
    pub fn patience(&self, key: MergeKey) -> u32 {
        self.patience.get(&key).copied().unwrap_or(PATIENCE)
    }

    /// Tries again when so many have gathered; with nothing, as at first.
    pub fn set_patience(&mut self, key: MergeKey, number: Option<u32>) {
        match number {
            Some(number) => drop(self.patience.insert(key, number)),
            None => drop(self.patience.remove(&key)),
        }
    }

    /// How many paths wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.slots.capacity() * 9
            + self.lists.iter().map(|list| size_of_val(list) + list.len() * 12).sum::<usize>()
            + self.waiting.capacity() * (size_of::<(Handle, Waiting)>() + 1)
            + self.waiting.values().map(|waiting| waiting.keys.len() * 4).sum::<usize>()
            + self.patience.capacity() * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover::plain_steps;
    use crate::limits::Limits;

    fn alike(one: &str, other: &str, rules: &[u8]) -> Vec<Likeness> {
        let keys = |text| {
            merge_keys(&plain_steps(text, &Limits::default()).unwrap().unwrap(), rules, "", Seed::new(1))
        };
        let others = keys(other);
        keys(one).into_iter().filter(|each| others.contains(each)).collect()
    }

    #[test]
    fn paths_that_a_rule_merges_have_a_key_in_common() {
        for (one, other, rule) in [
            ("/a/b/c", "/a/x/c", 1),
            ("/a/b/c/d", "/a/x/c/y", 2),
            ("/a/b//c/d", "/a//b/c/d", 2),
            ("/a//b/c", "/a/b/x", 2),
            ("/a/b/c/d", "/a/x/d", 3),
            ("/a/b/c/d", "/a/b//d", 3),
        ] {
            let found = alike(one, other, &[rule]);
            assert!(!found.is_empty(), "{one} {other}");
            assert!(found.iter().all(|each| each.rule == rule));
        }
        let places = alike("/a/b/c/d", "/a/x/c/y", &[1, 2]);
        assert_eq!(places.iter().map(|each| each.places).collect::<Vec<_>>(), [Some((1, 3))]);
        for (one, other) in
            [("/a/b/c", "/a/x/y"), ("/a/b/c/d", "/b/a/d/c"), ("/a/b", "/b/a"), ("/a/a/b", "/a/b")]
        {
            assert!(alike(one, other, &[1, 2]).is_empty(), "{one} {other}");
        }
        // What else must be equal is not.
        let path = plain_steps("/a/b/c", &Limits::default()).unwrap().unwrap();
        let keys = |context, seed| merge_keys(&path, &[1, 2, 3], context, Seed::new(seed));
        let (one, other) = (keys("", 1), keys("x", 1));
        assert!(one.iter().all(|each| !other.contains(each)));
        // Whoever does not know the seed cannot tell what meets.
        assert!(keys("", 2).iter().all(|each| !one.contains(each)));
    }

    #[test]
    fn those_that_wait_come_in_order_and_leave_nothing() {
        let mut mergeable = Mergeable::default();
        mergeable.wait(5, [1, 2, 2]);
        mergeable.wait(3, [2, 7]);
        mergeable.wait(9, [2]);
        assert_eq!(
            (mergeable.number(2), mergeable.under(2), mergeable.under(1)),
            (3, vec![5, 3, 9], vec![5])
        );
        mergeable.set_patience(2, Some(8));
        mergeable.withdraw(5);
        assert_eq!((mergeable.under(2), mergeable.number(1), mergeable.patience(2)), (vec![3, 9], 0, 8));
        mergeable.wait(3, [2]);
        assert_eq!((mergeable.under(2), mergeable.under(7)), (vec![9, 3], vec![]));
        mergeable.withdraw(3);
        mergeable.withdraw(9);
        mergeable.withdraw(9);
        assert!(mergeable.is_empty() && mergeable.slots.is_empty() && mergeable.patience.is_empty());
        assert_eq!(mergeable.patience(2), PATIENCE);
    }
}
