//! What values are of: the way from an element that a rule is about down to where the value is.
//!
//! `meta/category` and `author/@id` of an `item` are subjects. All tests of one subject are looked up together, and what
//! passes is told to the `item` at once, so patterns that differ in a constant alone differ in one number.

use std::io;

use hashbrown::HashTable;

use super::computed::Computed;
use super::place::{Asker, At, Places};
use crate::hashing::hash;
use crate::image::{Flat, ImageError, Reader, Writer};
use crate::names::NameId;
use crate::packed::Finder;
use crate::pattern::NameTest;

/// The number of a subject.
pub(super) type SubjectId = u32;

/// Elements, each so many levels below the one before.
pub(super) type Steps = Box<[(u32, NameTest)]>;

/// The way to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Subject {
    /// The element that is asked.
    pub(super) of: At,
    /// Elements below it.
    pub(super) steps: Steps,
    /// What is looked at of the last of them.
    pub(super) leaf: Leaf,
    /// Whether only the first in document order counts.
    pub(super) first: bool,
    /// What is done with it before it is tested.
    pub(super) computed: Computed,
}

/// What of an element is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Leaf {
    /// That it is there.
    Here,
    /// Its string-value.
    Own,
    /// Each of its text nodes.
    Text,
    /// Its attribute of this name.
    Attribute(NameId),
    /// Its attributes of a namespace, of a local part or of any name.
    Wild(NameTest),
}

impl Flat for Leaf {
    const SIZE: usize = 1 + NameTest::SIZE;

    fn put(&self, out: &mut Vec<u8>) {
        let (kind, name) = match *self {
            Self::Here => (0_u8, NameTest::Any),
            Self::Own => (1, NameTest::Any),
            Self::Text => (2, NameTest::Any),
            Self::Attribute(name) => (3, NameTest::Name(name)),
            Self::Wild(name) => (4, name),
        };
        (kind, name).put(out);
    }

    fn get(bytes: &[u8]) -> Self {
        match <(u8, NameTest)>::get(bytes) {
            (0, _) => Self::Here,
            (1, _) => Self::Own,
            (2, _) => Self::Text,
            (3, NameTest::Name(name)) => Self::Attribute(name),
            (_, name) => Self::Wild(name),
        }
    }
}

impl Leaf {
    pub(super) fn attribute(name: NameTest) -> Self {
        if let NameTest::Name(name) = name { Self::Attribute(name) } else { Self::Wild(name) }
    }
}

/// All subjects that some test asks about.
#[derive(Clone, Debug, Default)]
pub(super) struct Subjects {
    subjects: Vec<(Subject, u32)>,
    finder: Finder,
    free: Vec<SubjectId>,
    /// Those that look at text.
    text: usize,
}

impl Subject {
    /// All values of some kind, as they are.
    pub(super) fn new(of: At, steps: Steps, leaf: Leaf) -> Self {
        Self { of, steps, leaf, first: false, computed: Computed::Nothing }
    }

    fn end(&self) -> At {
        self.steps.last().map_or(self.of, |&(_, name)| At::element(name))
    }

    /// The first element above its end that it asks for.
    fn asker(&self, subject: SubjectId) -> Asker {
        match *self.steps {
            [] => Asker { subject, up: 0, at: self.of },
            [(up, _)] => Asker { subject, up, at: self.of },
            [.., (_, name), (up, _)] => Asker { subject, up, at: At::element(name) },
        }
    }

    fn looks_at_text(&self) -> bool {
        matches!(self.leaf, Leaf::Own | Leaf::Text)
    }
}

impl Subjects {
    /// The number of a subject with one more user, and whether it is new.
    pub(super) fn intern(&mut self, subject: Subject, places: &mut Places) -> SubjectId {
        let place = hash(&subject);
        let table = self.finder.table(|| self.make());
        if let Some(&known) = table.find(place, |&id| self.subjects[id as usize].0 == subject) {
            self.subjects[known as usize].1 += 1;
            return known;
        }
        self.text += usize::from(subject.looks_at_text());
        let (end, leaf, mut asker) = (subject.end(), subject.leaf, subject.asker(0));
        let id = super::put(&mut self.subjects, &mut self.free, (subject, 1));
        asker.subject = id;
        let subjects = &self.subjects;
        if let Some(table) = self.finder.made() {
            table.insert_unique(place, id, |&id| hash(&subjects[id as usize].0));
        }
        places.change(end, |asked| asked.insert(leaf, asker));
        id
    }

    /// One user less; whether it was the last.
    pub(super) fn release(&mut self, id: SubjectId, places: &mut Places) -> bool {
        let (subject, users) = &mut self.subjects[id as usize];
        *users -= 1;
        if *users > 0 {
            return false;
        }
        self.finder.remove(|| hash(subject), id);
        self.text -= usize::from(subject.looks_at_text());
        places.change(subject.end(), |asked| asked.remove(subject.leaf, subject.asker(id)));
        self.free.push(id);
        true
    }

    #[cold]
    fn make(&self) -> HashTable<SubjectId> {
        let used = (0..).zip(&self.subjects).filter(|(_, (_, users))| *users > 0).map(|(id, _)| id);
        let count = self.subjects.len() - self.free.len();
        Finder::of(count, used, |id| hash(&self.subjects[id as usize].0))
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.number(self.subjects.len())?;
        for (Subject { of, leaf, first, computed, .. }, users) in &self.subjects {
            image.one(&((*of, *leaf), ((*first, *computed), *users)))?;
        }
        image.lists(self.subjects.iter().map(|(subject, _)| &*subject.steps))?;
        image.items(&self.free)?;
        image.number(self.text)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        type Row = ((At, Leaf), ((bool, Computed), u32));
        let rows: Vec<Row> = image.items()?;
        let steps: Vec<Steps> = image.lists()?;
        let subjects =
            rows.into_iter().zip(steps).map(|(((of, leaf), ((first, computed), users)), steps)| {
                (Subject { of, steps, leaf, first, computed }, users)
            });
        Ok(Self {
            subjects: subjects.collect(),
            finder: Finder::later(),
            free: image.items()?,
            text: image.number()?,
        })
    }

    #[inline]
    pub(super) fn get(&self, id: SubjectId) -> &Subject {
        &self.subjects[id as usize].0
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.subjects.len()
    }

    pub(super) fn look_at_text(&self) -> bool {
        self.text > 0
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let steps: usize = self.subjects.iter().map(|(subject, _)| subject.steps.len()).sum();
        steps * size_of::<(u32, NameTest)>()
            + self.subjects.capacity() * size_of::<(Subject, u32)>()
            + self.finder.memory_bytes()
            + self.free.capacity() * size_of::<SubjectId>()
    }
}
