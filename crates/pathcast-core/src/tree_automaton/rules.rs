//! Rules: an element for which all literals hold is one that somebody looks for.
//!
//! A rule waits for one of its literals, its *key*, and costs nothing until that is so; then the others are asked.

use hashbrown::HashTable;

use super::NONE;
use super::atoms::AtomId;
use super::place::At;
use super::ways::{WayId, Ways};
use crate::hashing::hash;

/// The number of a rule.
pub(super) type RuleId = u32;

/// An atom that must be so or must not: its number, whether it is asked of a summary, whether it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal(u32);

impl Literal {
    pub(super) const NONE: Self = Self(NONE);

    pub(super) fn new(atom: AtomId, summed: bool) -> Self {
        Self(atom << 2 | u32::from(summed) << 1)
    }

    pub(super) fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }

    #[inline]
    pub(super) fn atom(self) -> AtomId {
        self.0 >> 2
    }

    #[inline]
    pub(super) fn is_summed(self) -> bool {
        self.0 & 2 != 0
    }

    #[inline]
    pub(super) fn is_negated(self) -> bool {
        self.0 & 1 != 0
    }
}

const FEW: usize = 3;

/// A conjunction of literals about one element.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The literals, if they are few, or the place of many.
    few: [Literal; FEW],
    pub(super) at: At,
    pub(super) stratum: u32,
    pub(super) aim: Aim,
}

/// A rule in the list that it waits in, with what is needed most: to go through a list must not mean to go through memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// The rule, perhaps with [`Waiting::LOOK`].
    rule: u32,
    /// Another literal, if there is one.
    pub(super) check: Literal,
    /// What follows.
    pub(super) aim: Aim,
}

impl Waiting {
    pub(super) const NOBODY: Self = Self { rule: NONE, check: Literal::NONE, aim: Aim::NOTHING };
    /// Marks a rule that has more literals, or is decided later.
    const LOOK: u32 = 1 << 31;

    pub(super) fn new(rule: RuleId, look: bool, check: Literal, aim: Aim) -> Self {
        Self { rule: if look { rule | Self::LOOK } else { rule }, check, aim }
    }

    #[inline]
    pub(super) fn rule(self) -> RuleId {
        self.rule & !Self::LOOK
    }

    /// Whether there is more to it than the check.
    #[inline]
    pub(super) fn must_look(self) -> bool {
        self.rule & Self::LOOK != 0
    }
}

/// What follows from a rule, small enough to lie beside it: most have one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    One(Target),
    /// Several targets, by number, or none.
    Several(u32),
}

impl Aim {
    pub(super) const NOTHING: Self = Self::Several(NONE);
}

/// What follows when a rule holds for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A subscription, if the way fits.
    Subscription { way: WayId, expression: u32 },
    /// An atom of the elements that the way leads to.
    Above { way: WayId, atom: AtomId },
    /// An atom of the element itself.
    Same(AtomId),
}

/// What follows when a rule has several targets.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets {
    /// Those that ask for a parent, sorted by that.
    pub(super) parents: Vec<(At, Target)>,
    pub(super) others: Vec<Target>,
    /// Atoms of the element itself.
    pub(super) same: Vec<AtomId>,
}

impl Targets {
    fn insert(&mut self, target: Target, ways: &Ways) {
        let way = match target {
            Target::Same(atom) => return self.same.push(atom),
            Target::Subscription { way, .. } | Target::Above { way, .. } => way,
        };
        match ways.get(way).parent() {
            Some(at) => {
                let place = self.parents.partition_point(|&(each, _)| each < at);
                self.parents.insert(place, (at, target));
            }
            None => self.others.push(target),
        }
    }

    fn remove(&mut self, wanted: impl Fn(Target) -> bool) -> Option<Target> {
        if let Some(at) = self.parents.iter().position(|&(_, target)| wanted(target)) {
            return Some(self.parents.remove(at).1);
        }
        if let Some(at) = self.others.iter().position(|&target| wanted(target)) {
            return Some(self.others.swap_remove(at));
        }
        let at = self.same.iter().position(|&atom| wanted(Target::Same(atom)))?;
        Some(Target::Same(self.same.swap_remove(at)))
    }

    fn is_empty(&self) -> bool {
        self.parents.is_empty() && self.others.is_empty() && self.same.is_empty()
    }

    /// Those that ask for a parent of this kind.
    #[inline]
    pub(super) fn of_parent(&self, at: At) -> impl Iterator<Item = Target> {
        let from =
            if self.parents.len() > 8 { self.parents.partition_point(|&(each, _)| each < at) } else { 0 };
        let near = self.parents[from..].iter().skip_while(move |&&(each, _)| each < at);
        near.take_while(move |&&(each, _)| each == at).map(|&(_, target)| target)
    }
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    many: Vec<Box<[Literal]>>,
    free_many: Vec<u32>,
    index: HashTable<RuleId>,
    free: Vec<RuleId>,
    targets: Vec<Targets>,
    free_targets: Vec<u32>,
}

impl Rules {
    #[inline]
    pub(super) fn get(&self, id: RuleId) -> &Rule {
        &self.rules[id as usize]
    }

    #[inline]
    pub(super) fn literals<'r>(&'r self, rule: &'r Rule) -> &'r [Literal] {
        literals(&rule.few, &self.many)
    }

    pub(super) fn find(&self, at: At, literals: &[Literal]) -> Option<RuleId> {
        let same = |&id: &RuleId| {
            let rule = &self.rules[id as usize];
            rule.at == at && self.literals(rule) == literals
        };
        self.index.find(hash(&(at, literals)), same).copied()
    }

    /// A new rule that waits for nothing yet.
    pub(super) fn insert(&mut self, at: At, given: &[Literal], stratum: u32) -> RuleId {
        let mut few = [Literal::NONE; FEW];
        if given.len() <= FEW {
            few[..given.len()].copy_from_slice(given);
        } else {
            few[1] = Literal(super::put(&mut self.many, &mut self.free_many, given.into()));
        }
        let rule = Rule { few, at, stratum, aim: Aim::NOTHING };
        let id = super::put(&mut self.rules, &mut self.free, rule);
        let (rules, many) = (&self.rules, &self.many);
        self.index.insert_unique(hash(&(at, given)), id, |&id| {
            let rule = &rules[id as usize];
            hash(&(rule.at, literals(&rule.few, many)))
        });
        id
    }

    /// Takes a rule out that waits for nothing; its literals.
    pub(super) fn remove(&mut self, id: RuleId) -> Box<[Literal]> {
        let rule = &self.rules[id as usize];
        let given: Box<[Literal]> = self.literals(rule).into();
        if let Ok(entry) = self.index.find_entry(hash(&(rule.at, &*given)), |&other| other == id) {
            entry.remove();
        }
        if given.len() > FEW {
            let place = rule.few[1].0;
            self.many[place as usize] = Box::default();
            self.free_many.push(place);
        }
        self.free.push(id);
        given
    }

    /// The numbers of all rules there are.
    pub(super) fn ids(&self) -> Vec<RuleId> {
        self.index.iter().copied().collect()
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.rules.len()
    }

    pub(super) fn settle(&mut self) {
        for targets in &mut self.targets {
            targets.parents.shrink_to_fit();
            targets.others.shrink_to_fit();
            targets.same.shrink_to_fit();
        }
        self.targets.shrink_to_fit();
        self.rules.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// One more than the largest number of several targets.
    pub(super) fn several_bound(&self) -> usize {
        self.targets.len()
    }

    /// What follows from a rule that has several targets.
    #[inline]
    pub(super) fn targets(&self, several: u32) -> &Targets {
        &self.targets[several as usize]
    }

    pub(super) fn aim(&mut self, id: RuleId, target: Target, ways: &Ways) {
        let known = self.rules[id as usize].aim;
        self.rules[id as usize].aim = match known {
            Aim::NOTHING => Aim::One(target),
            Aim::Several(several) => {
                self.targets[several as usize].insert(target, ways);
                known
            }
            Aim::One(first) => {
                let mut targets = Targets::default();
                targets.insert(first, ways);
                targets.insert(target, ways);
                Aim::Several(super::put(&mut self.targets, &mut self.free_targets, targets))
            }
        };
    }

    /// Takes a target away; which, and whether it was the last.
    pub(super) fn miss(&mut self, id: RuleId, wanted: impl Fn(Target) -> bool) -> (Option<Target>, bool) {
        let missed = match self.rules[id as usize].aim {
            Aim::One(target) => Some(target),
            Aim::NOTHING => None,
            Aim::Several(several) => {
                let targets = &mut self.targets[several as usize];
                let missed = targets.remove(wanted);
                if !targets.is_empty() {
                    return (missed, false);
                }
                *targets = Targets::default();
                self.free_targets.push(several);
                missed
            }
        };
        self.rules[id as usize].aim = Aim::NOTHING;
        (missed, true)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let many: usize = self.many.iter().map(|literals| literals.len() * 4 + 16).sum();
        let targets = self.targets.iter().map(|targets| {
            targets.parents.capacity() * size_of::<(At, Target)>()
                + targets.others.capacity() * size_of::<Target>()
                + targets.same.capacity() * size_of::<AtomId>()
        });
        many + targets.sum::<usize>()
            + self.rules.capacity() * size_of::<Rule>()
            + self.index.allocation_size()
            + self.targets.capacity() * size_of::<Targets>()
            + (self.free.capacity() + self.free_many.capacity() + self.free_targets.capacity()) * 4
    }
}

#[inline]
fn literals<'r>(few: &'r [Literal; FEW], many: &'r [Box<[Literal]>]) -> &'r [Literal] {
    match few {
        [_, _, Literal::NONE] => match few {
            [Literal::NONE, Literal::NONE, _] => &[],
            [Literal::NONE, Literal(place), _] => &many[*place as usize],
            [_, Literal::NONE, _] => &few[..1],
            _ => &few[..2],
        },
        all => all,
    }
}
