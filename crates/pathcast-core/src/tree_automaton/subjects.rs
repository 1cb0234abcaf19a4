//! What values are of: the way from an element that a rule is about down to where the value is.
//!
//! `meta/category` and `author/@id` of an `item` are subjects. All tests of one subject are looked up together, and what
//! passes is told to the `item` at once, so patterns that differ in a constant alone differ in one number.

use hashbrown::HashTable;

use super::place::{Asker, At, Places};
use crate::hashing::hash;
use crate::pattern::NameTest;

/// The number of a subject.
pub(super) type SubjectId = u32;

/// The way to a value, each step so many levels down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Subject {
    /// The element that is asked.
    pub(super) of: At,
    /// Elements below it.
    pub(super) steps: Box<[(u32, NameTest)]>,
    /// What is looked at of the last of them.
    pub(super) leaf: Leaf,
    /// Whether only the first in document order counts.
    pub(super) first: bool,
}

/// What of an element is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Leaf {
    /// That it is there.
    Here,
    /// Its string-value.
    Own,
    /// Each of its text nodes.
    Text,
    /// Its attributes of such a name.
    Attribute(NameTest),
}

/// All subjects that some test asks about.
#[derive(Clone, Debug, Default)]
pub(super) struct Subjects {
    subjects: Vec<(Subject, u32)>,
    index: HashTable<SubjectId>,
    free: Vec<SubjectId>,
    /// Those that look at text.
    text: usize,
}

impl Subject {
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
        if let Some(&known) = self.index.find(place, |&id| self.subjects[id as usize].0 == subject) {
            self.subjects[known as usize].1 += 1;
            return known;
        }
        self.text += usize::from(subject.looks_at_text());
        let (end, leaf, mut asker) = (subject.end(), subject.leaf, subject.asker(0));
        let id = super::put(&mut self.subjects, &mut self.free, (subject, 1));
        asker.subject = id;
        let subjects = &self.subjects;
        self.index.insert_unique(place, id, |&id| hash(&subjects[id as usize].0));
        places.change(end, |asked| match leaf {
            Leaf::Here => asked.here.push(asker),
            Leaf::Own => asked.own.push(asker),
            Leaf::Text => asked.text.push(asker),
            Leaf::Attribute(NameTest::Name(name)) => {
                let place = asked.attributes.partition_point(|&(each, _)| each < name);
                asked.attributes.insert(place, (name, asker));
            }
            Leaf::Attribute(name) => asked.wild.push((name, asker)),
        });
        id
    }

    /// One user less; whether it was the last.
    pub(super) fn release(&mut self, id: SubjectId, places: &mut Places) -> bool {
        let (subject, users) = &mut self.subjects[id as usize];
        *users -= 1;
        if *users > 0 {
            return false;
        }
        if let Ok(entry) = self.index.find_entry(hash(subject), |&other| other == id) {
            entry.remove();
        }
        self.text -= usize::from(subject.looks_at_text());
        places.change(subject.end(), |asked| match subject.leaf {
            Leaf::Here => asked.here.retain(|each| each.subject != id),
            Leaf::Own => asked.own.retain(|each| each.subject != id),
            Leaf::Text => asked.text.retain(|each| each.subject != id),
            Leaf::Attribute(NameTest::Name(_)) => asked.attributes.retain(|(_, each)| each.subject != id),
            Leaf::Attribute(_) => asked.wild.retain(|(_, each)| each.subject != id),
        });
        self.free.push(id);
        true
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
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<SubjectId>()
    }
}
