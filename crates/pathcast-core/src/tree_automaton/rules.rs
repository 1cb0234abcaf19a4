//! Rules: an element for which all literals hold is one that somebody looks for.
//!
//! A rule waits for one of its literals, its *key*, and costs nothing until that is so; then the others are asked.

use std::io;

use hashbrown::HashTable;

use super::NONE;
use super::atoms::AtomId;
use super::place::At;
use super::ways::{WayId, Ways};
use crate::hashing::hash;
use crate::image::{Flat, ImageError, Reader, Writer, flat};
use crate::packed::Finder;

/// The number of a rule.
pub(super) type RuleId = u32;

/// An atom that must be so or must not: its number, whether it is asked of a summary, whether it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal(u32);

flat!(Literal { 0: u32 });

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
/// In an image: what is no target, but the number of several.
const SEVERAL: u32 = 3;
/// Literals that may lie there for nobody.
const LOOSE: usize = 1 << 10;

/// A conjunction of literals about one element.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The literals, if they are few, or the place of many.
    few: [Literal; FEW],
    pub(super) at: At,
    /// None if there is no such rule.
    pub(super) stratum: u32,
    pub(super) aim: Aim,
}

flat!(Rule { few: [Literal; FEW], at: At, stratum: u32, aim: Aim });

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

flat!(Waiting { rule: u32, check: Literal, aim: Aim });

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

impl Flat for Target {
    const SIZE: usize = 12;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        let parts = match *self {
            Self::Subscription { way, expression } => [0, way, expression],
            Self::Above { way, atom } => [1, way, atom],
            Self::Same(atom) => [2, 0, atom],
        };
        parts.put(out);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Self {
        match <[u32; 3]>::get(bytes) {
            [0, way, expression] => Self::Subscription { way, expression },
            [1, way, atom] => Self::Above { way, atom },
            [_, _, atom] => Self::Same(atom),
        }
    }
}

impl Flat for Aim {
    const SIZE: usize = Target::SIZE;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Self::One(target) => target.put(out),
            Self::Several(several) => [SEVERAL, 0, several].put(out),
        }
    }

    #[inline]
    fn get(bytes: &[u8]) -> Self {
        match <[u32; 3]>::get(bytes) {
            [SEVERAL, _, several] => Self::Several(several),
            _ => Self::One(Target::get(bytes)),
        }
    }
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
    /// Those of rules that have more than a few, how many they are in front of them.
    many: Vec<Literal>,
    /// How many of those are of rules that are gone.
    gone: usize,
    finder: Finder,
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
        self.finder.table(|| self.make()).find(hash(&(at, literals)), same).copied()
    }

    #[cold]
    fn make(&self) -> HashTable<RuleId> {
        Finder::of(self.len(), self.ids(), |id| {
            let rule = &self.rules[id as usize];
            hash(&(rule.at, self.literals(rule)))
        })
    }

    /// A new rule that waits for nothing yet.
    pub(super) fn insert(&mut self, at: At, given: &[Literal], stratum: u32) -> RuleId {
        let mut few = [Literal::NONE; FEW];
        if given.len() <= FEW {
            few[..given.len()].copy_from_slice(given);
        } else {
            few[1] = Literal(self.many.len() as u32);
            self.many.push(Literal(given.len() as u32));
            self.many.extend_from_slice(given);
        }
        let rule = Rule { few, at, stratum, aim: Aim::NOTHING };
        let id = super::put(&mut self.rules, &mut self.free, rule);
        let (rules, many) = (&self.rules, &self.many);
        if let Some(table) = self.finder.made() {
            table.insert_unique(hash(&(at, given)), id, |&id| {
                let rule = &rules[id as usize];
                hash(&(rule.at, literals(&rule.few, many)))
            });
        }
        id
    }

    /// Takes a rule out that waits for nothing; its literals.
    pub(super) fn remove(&mut self, id: RuleId) -> Box<[Literal]> {
        let rule = &self.rules[id as usize];
        let given: Box<[Literal]> = self.literals(rule).into();
        let at = rule.at;
        self.finder.remove(|| hash(&(at, &*given)), id);
        self.rules[id as usize].stratum = NONE;
        self.free.push(id);
        if given.len() > FEW {
            self.gone += given.len() + 1;
            if 2 * self.gone > self.many.len() + LOOSE {
                self.close_up();
            }
        }
        given
    }

    /// The numbers of all rules there are.
    pub(super) fn ids(&self) -> impl Iterator<Item = RuleId> {
        (0..).zip(&self.rules).filter(|(_, rule)| rule.stratum != NONE).map(|(id, _)| id)
    }

    /// Takes out the literals of rules that are gone.
    fn close_up(&mut self) {
        let mut many = Vec::with_capacity(self.many.len() - self.gone);
        for rule in self.rules.iter_mut().filter(|rule| rule.stratum != NONE) {
            let given = literals(&rule.few, &self.many);
            if given.len() > FEW {
                let place = many.len() as u32;
                many.push(Literal(given.len() as u32));
                many.extend_from_slice(given);
                rule.few[1] = Literal(place);
            }
        }
        (self.many, self.gone) = (many, 0);
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
        if self.gone > 0 {
            self.close_up();
        }
        self.many.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.rules.len() - self.free.len()
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

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.items(&self.rules)?;
        image.items(&self.many)?;
        image.number(self.gone)?;
        image.items(&self.free)?;
        image.lists(self.targets.iter().map(|targets| &*targets.parents))?;
        image.lists(self.targets.iter().map(|targets| &*targets.others))?;
        image.lists(self.targets.iter().map(|targets| &*targets.same))?;
        image.items(&self.free_targets)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let (rules, many, gone, free) = (image.items()?, image.items()?, image.number()?, image.items()?);
        let parents: Vec<Vec<(At, Target)>> = image.lists()?;
        let (others, same): (Vec<Vec<Target>>, Vec<Vec<AtomId>>) = (image.lists()?, image.lists()?);
        let targets = parents.into_iter().zip(others).zip(same);
        let targets = targets.map(|((parents, others), same)| Targets { parents, others, same }).collect();
        let (finder, free_targets) = (Finder::later(), image.items()?);
        Ok(Self { rules, many, gone, finder, free, targets, free_targets })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let targets = self.targets.iter().map(|targets| {
            targets.parents.capacity() * size_of::<(At, Target)>()
                + targets.others.capacity() * size_of::<Target>()
                + targets.same.capacity() * size_of::<AtomId>()
        });
        targets.sum::<usize>()
            + self.many.capacity() * size_of::<Literal>()
            + self.rules.capacity() * size_of::<Rule>()
            + self.finder.memory_bytes()
            + self.targets.capacity() * size_of::<Targets>()
            + (self.free.capacity() + self.free_targets.capacity()) * 4
    }
}

#[inline]
fn literals<'r>(few: &'r [Literal; FEW], many: &'r [Literal]) -> &'r [Literal] {
    match few {
        [_, _, Literal::NONE] => match few {
            [Literal::NONE, Literal::NONE, _] => &[],
            [Literal::NONE, Literal(place), _] => {
                let from = *place as usize + 1;
                &many[from..from + many[from - 1].0 as usize]
            }
            [_, Literal::NONE, _] => &few[..1],
            _ => &few[..2],
        },
        all => all,
    }
}
