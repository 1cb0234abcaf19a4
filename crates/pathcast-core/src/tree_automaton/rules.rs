//! Rules: an element for which all literals hold is one that somebody looks for.
//!
//! A rule waits for one of its literals, its *key*, and costs nothing until that is so; then the others are asked. The
//! key is the literal that is so most seldom: as documents were counted, and until then the one that fewest rules ask
//! for. What rules ask for is counted as they come, so keys are chosen anew whenever their number has doubled.

use hashbrown::HashTable;

use super::NONE;
use super::atoms::AtomId;
use super::place::At;
use crate::hashing::hash;

/// The number of a rule.
pub(super) type RuleId = u32;

/// An atom that must be so or must not: its number, whether it is asked of a summary, whether it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal(u32);

impl Literal {
    const NONE: Self = Self(NONE);

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
    /// The atom it waits for, or none.
    pub(super) key: AtomId,
    pub(super) next: RuleId,
    pub(super) before: RuleId,
    pub(super) stratum: u32,
    /// A subscription, or the first of several targets.
    pub(super) target: u32,
}

/// Marks [`Rule::target`] as a subscription that any such element satisfies, which most are.
pub(super) const SUBSCRIPTION: u32 = 1 << 31;

/// What follows when a rule holds for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A subscription, if the element is so deep.
    Subscription { min: u32, exact: bool, expression: u32 },
    /// An atom of the elements above that are meant.
    Above { at: At, min: u32, exact: bool, atom: AtomId },
    /// An atom of the element itself.
    Same(AtomId),
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    many: Vec<Box<[Literal]>>,
    free_many: Vec<u32>,
    index: HashTable<RuleId>,
    free: Vec<RuleId>,
    targets: Vec<(Target, u32)>,
    free_targets: Vec<u32>,
}

impl Rules {
    #[inline]
    pub(super) fn get(&self, id: RuleId) -> &Rule {
        &self.rules[id as usize]
    }

    pub(super) fn get_mut(&mut self, id: RuleId) -> &mut Rule {
        &mut self.rules[id as usize]
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
        let rule = Rule { few, at, key: NONE, next: NONE, before: NONE, stratum, target: NONE };
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

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// What follows from a rule: one subscription at any depth, or several targets.
    pub(super) fn targets(&self, rule: &Rule) -> impl Iterator<Item = Target> {
        let (mut single, mut next) = (None, rule.target);
        if next != NONE && next & SUBSCRIPTION != 0 {
            single = Some(subscription(next & !SUBSCRIPTION));
            next = NONE;
        }
        single.into_iter().chain(std::iter::from_fn(move || {
            let &(target, after) = self.targets.get(next as usize)?;
            next = after;
            Some(target)
        }))
    }

    pub(super) fn aim(&mut self, id: RuleId, target: Target) {
        let first = self.rules[id as usize].target;
        let put = |targets: &mut Vec<_>, free: &mut Vec<_>, item| super::put(targets, free, item);
        let compact = match target {
            Target::Subscription { min: 1, exact: false, expression } if first == NONE => {
                Some(expression | SUBSCRIPTION)
            }
            _ => None,
        };
        self.rules[id as usize].target = compact.unwrap_or_else(|| {
            let mut next = first;
            if first != NONE && first & SUBSCRIPTION != 0 {
                let item = (subscription(first & !SUBSCRIPTION), NONE);
                next = put(&mut self.targets, &mut self.free_targets, item);
            }
            put(&mut self.targets, &mut self.free_targets, (target, next))
        });
    }

    /// Takes a target away; whether it was the last.
    pub(super) fn miss(&mut self, id: RuleId, wanted: impl Fn(Target) -> bool) -> bool {
        let first = self.rules[id as usize].target;
        if first != NONE && first & SUBSCRIPTION != 0 {
            self.rules[id as usize].target = NONE;
            return true;
        }
        let (mut before, mut at) = (NONE, first);
        while let Some(&(target, next)) = self.targets.get(at as usize) {
            if wanted(target) {
                match self.targets.get_mut(before as usize) {
                    Some(before) => before.1 = next,
                    None => self.rules[id as usize].target = next,
                }
                self.free_targets.push(at);
                break;
            }
            (before, at) = (at, next);
        }
        self.rules[id as usize].target == NONE
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let many: usize = self.many.iter().map(|literals| literals.len() * 4 + 16).sum();
        many + self.rules.capacity() * size_of::<Rule>()
            + self.index.allocation_size()
            + self.targets.capacity() * size_of::<(Target, u32)>()
            + (self.free.capacity() + self.free_many.capacity() + self.free_targets.capacity()) * 4
    }
}

fn subscription(expression: u32) -> Target {
    Target::Subscription { min: 1, exact: false, expression }
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
