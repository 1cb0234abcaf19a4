//! Atoms: what can be so of one element, each a number.
//!
//! An atom is a test of a subject's values, an element below that satisfies a rule, or one of several rules of the same
//! element. Equal atoms are one and are decided once, whoever asks.

use std::hash::Hash;
use std::io;

use hashbrown::HashTable;
use memchr::memmem;

use super::NONE;
use super::constants::{Constants, TextId};
use super::prefixes::Prefixes;
use super::rules::RuleId;
use super::subjects::SubjectId;
use super::summary::Summary;
use super::ways::WayId;
use super::words::Words;
use crate::hashing::hash;
use crate::image::{Flat, ImageError, Reader, Writer};
use crate::packed::Finder;
use crate::values::{Real, ValueTest, number::from_xpath_number};
use crate::xpath::ast::Comparison;

/// The number of an atom.
pub(super) type AtomId = u32;

/// A test of a value; the variants are those of [`ValueTest`] with their texts as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Test {
    /// There is a value.
    Present,
    Equals(TextId),
    Differs(TextId),
    Number(Comparison, Real),
    Contains(TextId),
    StartsWith(TextId),
    ContainedIn(TextId),
    PrefixOf(TextId),
}

impl Test {
    pub(super) fn text(self) -> Option<TextId> {
        match self {
            Self::Present | Self::Number(..) => None,
            Self::Equals(text)
            | Self::Differs(text)
            | Self::Contains(text)
            | Self::StartsWith(text)
            | Self::ContainedIn(text)
            | Self::PrefixOf(text) => Some(text),
        }
    }

    /// Whether it is asked of a summary and not told.
    pub(super) fn is_summed(self) -> bool {
        match self {
            Self::Differs(_) => true,
            Self::Number(comparison, _) => comparison != Comparison::Equal,
            _ => false,
        }
    }

    pub(super) fn intern(test: &ValueTest, constants: &mut Constants) -> Self {
        match test {
            ValueTest::Equals(text) => Self::Equals(constants.intern(text)),
            ValueTest::Differs(text) => Self::Differs(constants.intern(text)),
            ValueTest::Number(comparison, number) => Self::Number(*comparison, *number),
            ValueTest::Contains(text) => Self::Contains(constants.intern(text)),
            ValueTest::StartsWith(text) => Self::StartsWith(constants.intern(text)),
            ValueTest::ContainedIn(text) => Self::ContainedIn(constants.intern(text)),
            ValueTest::PrefixOf(text) => Self::PrefixOf(constants.intern(text)),
        }
    }
}

impl Flat for Test {
    const SIZE: usize = 2 + u64::SIZE;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, text) = match *self {
            Self::Number(comparison, number) => return (0_u8, (comparison, number)).put(out),
            Self::Present => (1_u8, 0),
            Self::Equals(text) => (2, text),
            Self::Differs(text) => (3, text),
            Self::Contains(text) => (4, text),
            Self::StartsWith(text) => (5, text),
            Self::ContainedIn(text) => (6, text),
            Self::PrefixOf(text) => (7, text),
        };
        ((kind, 0_u8), u64::from(text)).put(out);
    }

    #[inline]
    fn get(bytes: &[u8]) -> Self {
        let ((kind, _), text) = <((u8, u8), u64)>::get(bytes);
        let text = text as TextId;
        match kind {
            0 => {
                let (_, (comparison, number)) = <(u8, (Comparison, Real))>::get(bytes);
                Self::Number(comparison, number)
            }
            1 => Self::Present,
            2 => Self::Equals(text),
            3 => Self::Differs(text),
            4 => Self::Contains(text),
            5 => Self::StartsWith(text),
            6 => Self::ContainedIn(text),
            _ => Self::PrefixOf(text),
        }
    }
}

/// What an atom says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// No atom.
    Free,
    /// Some value of the subject passes the test.
    Value { subject: SubjectId, test: Test },
    /// Some element, from which the way leads here, satisfies the rule.
    Below { way: WayId, rule: RuleId },
    /// The element satisfies one of these rules.
    Either(Box<[RuleId]>),
}

/// An atom, and who asks for it.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    pub(super) kind: Kind,
    /// Rules that ask for it.
    pub(super) users: u32,
    /// How many levels of [`Kind::Either`] lie below: lower ones are decided before.
    pub(super) stratum: u32,
}

impl Flat for Atom {
    const SIZE: usize = 1 + 4 + Test::SIZE + 8;

    /// The rules of an [`Kind::Either`] are elsewhere.
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, number, test) = match self.kind {
            Kind::Free => (0_u8, 0, Test::Present),
            Kind::Value { subject, test } => (1, subject, test),
            Kind::Below { way, rule } => (2, way, Test::Equals(rule)),
            Kind::Either(_) => (3, 0, Test::Present),
        };
        ((kind, (number, test)), (self.users, self.stratum)).put(out);
    }

    fn get(bytes: &[u8]) -> Self {
        let ((kind, (number, test)), (users, stratum)) = <((u8, (u32, Test)), (u32, u32))>::get(bytes);
        let kind = match kind {
            0 => Kind::Free,
            1 => Kind::Value { subject: number, test },
            2 => Kind::Below { way: number, rule: test.text().unwrap_or(NONE) },
            _ => Kind::Either(Box::default()),
        };
        Self { kind, users, stratum }
    }
}

/// All atoms.
#[derive(Clone, Debug, Default)]
pub(super) struct Atoms {
    atoms: Vec<Atom>,
    index: HashTable<AtomId>,
    free: Vec<AtomId>,
}

impl Atoms {
    #[inline]
    pub(super) fn get(&self, id: AtomId) -> &Atom {
        &self.atoms[id as usize]
    }

    pub(super) fn get_mut(&mut self, id: AtomId) -> &mut Atom {
        &mut self.atoms[id as usize]
    }

    #[inline]
    pub(super) fn find(&self, kind: &Kind) -> Option<AtomId> {
        self.index.find(hash(kind), |&id| self.atoms[id as usize].kind == *kind).copied()
    }

    /// A new atom.
    pub(super) fn insert(&mut self, kind: Kind, stratum: u32) -> AtomId {
        let place = hash(&kind);
        let atom = Atom { kind, users: 0, stratum };
        let id = super::put(&mut self.atoms, &mut self.free, atom);
        let atoms = &self.atoms;
        self.index.insert_unique(place, id, |&id| hash(&atoms[id as usize].kind));
        id
    }

    /// Takes an atom out that nobody uses.
    pub(super) fn remove(&mut self, id: AtomId) -> Kind {
        let kind = std::mem::replace(&mut self.atoms[id as usize].kind, Kind::Free);
        if let Ok(entry) = self.index.find_entry(hash(&kind), |&other| other == id) {
            entry.remove();
        }
        self.free.push(id);
        kind
    }

    /// The test that an atom is, if it is one.
    pub(super) fn test(&self, id: AtomId) -> Option<(SubjectId, Test)> {
        match self.atoms[id as usize].kind {
            Kind::Value { subject, test } => Some((subject, test)),
            _ => None,
        }
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.atoms.len()
    }

    pub(super) fn settle(&mut self) {
        self.atoms.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// All tests, each with its subject.
    pub(super) fn tests(&self) -> impl Iterator<Item = (AtomId, SubjectId, Test)> {
        (0..).zip(&self.atoms).filter_map(|(id, atom)| match atom.kind {
            Kind::Value { subject, test } => Some((id, subject, test)),
            _ => None,
        })
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.items(&self.atoms)?;
        let several = self.atoms.iter().filter_map(|atom| match &atom.kind {
            Kind::Either(rules) => Some(&**rules),
            _ => None,
        });
        image.lists(several.collect::<Vec<_>>().into_iter())?;
        image.items(&self.free)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let mut atoms: Vec<Atom> = image.items()?;
        let mut several = image.lists::<RuleId, Box<[RuleId]>>()?.into_iter();
        for atom in &mut atoms {
            if let Kind::Either(rules) = &mut atom.kind {
                *rules = several.next().ok_or(ImageError::Damaged)?;
            }
        }
        let free: Vec<AtomId> = image.items()?;
        let used = (0..).zip(&atoms).filter(|(_, atom)| atom.kind != Kind::Free).map(|(id, _)| id);
        let count = atoms.len().saturating_sub(free.len());
        let index = Finder::of(count, used, |id| hash(&atoms[id as usize].kind));
        Ok(Self { atoms, index, free })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let rules = |atom: &Atom| if let Kind::Either(rules) = &atom.kind { rules.len() * 4 } else { 0 };
        self.atoms.iter().map(rules).sum::<usize>()
            + self.atoms.capacity() * size_of::<Atom>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<AtomId>()
    }
}

/// The tests of one subject, so that a value finds those it passes.
#[derive(Clone, Debug)]
pub(super) struct Tests {
    present: AtomId,
    /// How many tests compare with a whole text, and the longest text so far.
    texts: u32,
    longest: u32,
    /// How many tests ask for an equal number.
    numbers: u32,
    /// How many tests are asked of a summary.
    summed: u32,
    /// Tests that look for a part; most subjects have none.
    parts: Option<Box<Parts>>,
}

/// Tests that look for one text in another.
#[derive(Clone, Debug, Default)]
struct Parts {
    words: Words,
    prefixes: Prefixes,
    /// Tests that look for the value in their constant.
    reversed: Vec<AtomId>,
}

impl Default for Tests {
    fn default() -> Self {
        Self { present: NONE, texts: 0, longest: 0, numbers: 0, summed: 0, parts: None }
    }
}

impl Tests {
    pub(super) fn insert(&mut self, test: Test, atom: AtomId, constants: &Constants) {
        match test {
            Test::Present => self.present = atom,
            Test::Equals(text) | Test::Differs(text) => {
                self.texts += 1;
                self.longest = self.longest.max(u32::try_from(constants.get(text).len()).unwrap_or(u32::MAX));
            }
            Test::Number(Comparison::Equal, _) => self.numbers += 1,
            Test::Number(..) => {}
            Test::Contains(text) => self.parts().words.insert(atom, text),
            Test::StartsWith(text) => self.parts().prefixes.insert(constants.get(text), atom),
            Test::ContainedIn(_) | Test::PrefixOf(_) => self.parts().reversed.push(atom),
        }
        self.summed += u32::from(test.is_summed());
    }

    pub(super) fn remove(&mut self, test: Test, atom: AtomId, constants: &Constants) {
        match test {
            Test::Present => self.present = NONE,
            Test::Equals(_) | Test::Differs(_) => self.texts -= 1,
            Test::Number(Comparison::Equal, _) => self.numbers -= 1,
            Test::Number(..) => {}
            Test::Contains(_) => self.parts().words.remove(atom),
            Test::StartsWith(text) => self.parts().prefixes.remove(constants.get(text)),
            Test::ContainedIn(_) | Test::PrefixOf(_) => self.parts().reversed.retain(|&each| each != atom),
        }
        self.summed -= u32::from(test.is_summed());
        self.parts.take_if(|parts| parts.is_empty());
    }

    fn parts(&mut self) -> &mut Parts {
        self.parts.get_or_insert_default()
    }

    /// Reports the atoms that a value of the subject makes so, some perhaps twice; and the value summed up, if that is
    /// asked for.
    pub(super) fn look_up(
        &self,
        subject: SubjectId,
        value: &str,
        (atoms, constants): (&Atoms, &Constants),
        mut report: impl FnMut(AtomId),
    ) -> Option<Summary> {
        if self.present != NONE {
            report(self.present);
        }
        let mut tell =
            |test: Test| atoms.find(&Kind::Value { subject, test }).into_iter().for_each(&mut report);
        let mut text = None;
        if self.texts > 0 && value.len() <= self.longest as usize {
            text = constants.find(value);
            text.into_iter().for_each(|text| tell(Test::Equals(text)));
        }
        let mut number = f64::NAN;
        if self.numbers > 0 || self.summed > 0 {
            number = from_xpath_number(value);
        }
        if self.numbers > 0
            && let Some(number) = Real::new(number)
        {
            tell(Test::Number(Comparison::Equal, number));
        }
        if let Some(parts) = &self.parts {
            parts.look_up(value, (atoms, constants), &mut report);
        }
        (self.summed > 0).then(|| Summary::new(text, number))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.parts.as_ref().map_or(0, |parts| size_of::<Parts>() + parts.memory_bytes())
    }
}

impl Parts {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.prefixes.is_empty() && self.reversed.is_empty()
    }

    fn look_up(&self, value: &str, (atoms, constants): (&Atoms, &Constants), mut report: impl FnMut(AtomId)) {
        if !self.words.is_empty() {
            self.words.find(value, constants, &mut report);
        }
        if !self.prefixes.is_empty() {
            self.prefixes.find(value, &mut report);
        }
        for &atom in &self.reversed {
            let passes = match atoms.test(atom) {
                Some((_, Test::ContainedIn(text))) => {
                    memmem::find(constants.get(text), value.as_bytes()).is_some()
                }
                Some((_, Test::PrefixOf(text))) => constants.get(text).starts_with(value.as_bytes()),
                _ => false,
            };
            if passes {
                report(atom);
            }
        }
    }

    fn memory_bytes(&self) -> usize {
        self.words.memory_bytes()
            + self.prefixes.memory_bytes()
            + self.reversed.capacity() * size_of::<AtomId>()
    }
}
