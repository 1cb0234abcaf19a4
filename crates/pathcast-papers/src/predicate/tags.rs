//! Tag variables: what the predicates speak about.
//!
//! A tag variable stands for the elements of one name, of one namespace, or for all of them; with a filter it stands
//! for those of them whose attributes pass it. So a predicate on `a[@x = 3]` is a predicate like any other, and
//! attributes are looked at once an element, when its variables are found.
//!
//! Variables with filters lie in buckets by what an element must have before the filter can pass: its name, an
//! attribute, and for `=` the value too. A thousand filters `@id = '…'` on one name cost one look-up an element.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::attributes::Attributes;
use pathcast_core::hashing::hash;
use pathcast_core::names::{NameId, Resolved};
use pathcast_core::pattern::{Condition, NameTest, heap_bytes};
use pathcast_core::values::Comparison;
use pathcast_core::values::ValueTest;
use pathcast_core::values::number::from_xpath_number;

/// The number of a tag variable.
pub(super) type TagId = u32;

pub(super) const NO_TAG: TagId = TagId::MAX;

#[derive(Clone, Debug)]
struct Tag {
    name: NameTest,
    filter: Condition,
    users: u32,
    /// Where it lies in its bucket.
    place: u32,
}

/// The hash of what an element must have for a filter to pass; equal keys of different things only cost a test.
pub(super) type Key = u64;

#[derive(Clone, Debug)]
struct Bucket {
    key: Key,
    tags: Vec<TagId>,
}

/// An element's name, and an attribute that it must have.
type Need = (NameTest, Option<NameTest>);

/// All tag variables.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    items: Vec<Tag>,
    free: Vec<TagId>,
    /// By name or `n:*`: the variable without a filter.
    plain: Vec<TagId>,
    /// The variable of all elements.
    any: TagId,
    /// Those with a filter, by name and filter.
    filtered: HashTable<TagId>,
    buckets: HashTable<Bucket>,
    /// By need: how many filters ask for any value, for a text, for a number.
    needs: FxHashMap<Need, [u32; 3]>,
    /// By name: how many filters are on it.
    names: FxHashMap<NameTest, u32>,
}

impl Default for Tags {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
            plain: Vec::new(),
            any: NO_TAG,
            filtered: HashTable::new(),
            buckets: HashTable::new(),
            needs: FxHashMap::default(),
            names: FxHashMap::default(),
        }
    }
}

impl Tags {
    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.items.len()
    }

    /// Whether there are filters.
    pub(super) fn any_filtered(&self) -> bool {
        !self.filtered.is_empty()
    }

    /// The variable for a name and a filter, if there is one.
    pub(super) fn find(&self, name: NameTest, filter: &Condition) -> Option<TagId> {
        if *filter != Condition::True {
            let equal = |&id: &TagId| self.items[id as usize].is(name, filter);
            return self.filtered.find(hash(&(name, filter)), equal).copied();
        }
        let tag = match name {
            NameTest::Any => self.any,
            NameTest::Name(id) | NameTest::Partial(id) => {
                self.plain.get(id.0 as usize).copied().unwrap_or(NO_TAG)
            }
        };
        (tag != NO_TAG).then_some(tag)
    }

    /// The variable for a name and a filter, with one more user.
    pub(super) fn intern(&mut self, name: NameTest, filter: &Condition) -> TagId {
        if let Some(known) = self.find(name, filter) {
            self.items[known as usize].users += 1;
            return known;
        }
        let tag = Tag { name, filter: filter.clone(), users: 1, place: 0 };
        let id = match self.free.pop() {
            Some(id) => {
                self.items[id as usize] = tag;
                id
            }
            None => {
                self.items.push(tag);
                (self.items.len() - 1) as TagId
            }
        };
        if *filter == Condition::True {
            self.set_plain(name, id);
            return id;
        }
        self.file(id);
        id
    }

    /// Puts a variable with a filter where it is found.
    fn file(&mut self, id: TagId) {
        let items = &mut self.items;
        self.filtered.insert_unique(items[id as usize].hash(), id, |&id| items[id as usize].hash());
        let tag = &mut items[id as usize];
        let (attribute, value) = need(&tag.filter);
        let key = key(tag.name, attribute, value);
        self.needs.entry((tag.name, attribute)).or_default()[value.kind()] += 1;
        *self.names.entry(tag.name).or_default() += 1;
        let entry = self.buckets.entry(key, |each| each.key == key, |each| each.key);
        let mut bucket = entry.or_insert(Bucket { key, tags: Vec::new() });
        tag.place = bucket.get().tags.len() as u32;
        bucket.get_mut().tags.push(id);
    }

    fn unfile(&mut self, id: TagId) {
        let tag = &self.items[id as usize];
        let (name, place) = (tag.name, tag.place as usize);
        if let Ok(entry) = self.filtered.find_entry(tag.hash(), |&each| each == id) {
            entry.remove();
        }
        let (attribute, value) = need(&tag.filter);
        let key = key(name, attribute, value);
        if let Some(counts) = self.needs.get_mut(&(name, attribute)) {
            counts[value.kind()] -= 1;
            if *counts == [0; 3] {
                self.needs.remove(&(name, attribute));
            }
        }
        if let Some(count) = self.names.get_mut(&name) {
            *count -= 1;
            if *count == 0 {
                self.names.remove(&name);
            }
        }
        if let Ok(mut entry) = self.buckets.find_entry(key, |each| each.key == key) {
            let tags = &mut entry.get_mut().tags;
            tags.swap_remove(place);
            if let Some(&moved) = tags.get(place) {
                self.items[moved as usize].place = place as u32;
            }
            if tags.is_empty() {
                entry.remove();
            }
        }
        self.items[id as usize].filter = Condition::True;
    }

    fn set_plain(&mut self, name: NameTest, id: TagId) {
        match name {
            NameTest::Any => self.any = id,
            NameTest::Name(name) | NameTest::Partial(name) => {
                let at = name.0 as usize;
                if self.plain.len() <= at {
                    self.plain.resize(at + 1, NO_TAG);
                }
                self.plain[at] = id;
            }
        }
    }

    /// One user less; the last takes the variable out.
    pub(super) fn release(&mut self, id: TagId) {
        let tag = &mut self.items[id as usize];
        tag.users -= 1;
        if tag.users > 0 {
            return;
        }
        self.free.push(id);
        let name = tag.name;
        if tag.filter == Condition::True {
            self.set_plain(name, NO_TAG);
            return;
        }
        self.unfile(id);
    }

    /// Appends the variables without a filter that an element is one of.
    #[inline]
    pub(super) fn of_name(&self, element: Resolved, tags: &mut Vec<TagId>) {
        for name in element.known() {
            tags.extend(self.plain.get(name.0 as usize).filter(|&&tag| tag != NO_TAG));
        }
        if self.any != NO_TAG {
            tags.push(self.any);
        }
    }

    /// Appends the variables with a filter that an element is one of, the same ones always in the same order.
    ///
    /// Ten thousand attributes may lead to one bucket: the buckets are collected first and opened once.
    pub(super) fn of_attributes(
        &self,
        element: Resolved,
        attributes: &Attributes,
        opened: &mut Vec<(Key, NameTest)>,
        tags: &mut Vec<TagId>,
    ) {
        opened.clear();
        for name in tests(element).filter(|name| self.names.contains_key(name)) {
            if self.needs.contains_key(&(name, None)) {
                opened.push((key(name, None, Value::Free), name));
            }
            for (attribute, value) in attributes.last() {
                for test in tests(attribute).map(Some) {
                    let Some(&[free, text, number]) = self.needs.get(&(name, test)) else { continue };
                    if free > 0 {
                        opened.push((key(name, test, Value::Free), name));
                    }
                    if text > 0 {
                        opened.push((key(name, test, Value::Text(value)), name));
                    }
                    if number > 0 {
                        opened.push((key(name, test, Value::number(from_xpath_number(value))), name));
                    }
                }
            }
        }
        opened.sort_unstable();
        opened.dedup();
        for &(key, name) in &*opened {
            let Some(bucket) = self.buckets.find(key, |each| each.key == key) else { continue };
            let passing = |&&id: &&TagId| {
                let tag = &self.items[id as usize];
                tag.name == name && attributes.last_passes(&tag.filter)
            };
            tags.extend(bucket.tags.iter().filter(passing));
        }
    }

    #[cfg(test)]
    pub(super) fn is_vacant(&self) -> bool {
        self.items.len() == self.free.len()
            && self.any == NO_TAG
            && self.plain.iter().all(|&tag| tag == NO_TAG)
            && self.filtered.is_empty()
            && self.buckets.is_empty()
            && self.needs.is_empty()
            && self.names.is_empty()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.items.capacity() * size_of::<Tag>()
            + self.items.iter().map(|tag| heap_bytes(&tag.filter)).sum::<usize>()
            + self.needs.capacity() * size_of::<(Need, [u32; 3])>()
            + self.names.capacity() * size_of::<(NameTest, u32)>()
            + (self.plain.capacity() + self.free.capacity()) * size_of::<TagId>()
            + self.filtered.allocation_size()
            + self.buckets.allocation_size()
            + self.buckets.iter().map(|bucket| bucket.tags.capacity() * size_of::<TagId>()).sum::<usize>()
    }
}

impl Tag {
    fn is(&self, name: NameTest, filter: &Condition) -> bool {
        self.name == name && self.filter == *filter
    }

    fn hash(&self) -> u64 {
        hash(&(self.name, &self.filter))
    }
}

/// What an attribute's value must be.
#[derive(Clone, Copy, Hash)]
enum Value<'a> {
    Free,
    Text(&'a str),
    Number(u64),
}

impl Value<'_> {
    fn number(value: f64) -> Self {
        // One sign of zero; NaN equals nothing, so where it leads does not matter.
        Self::Number((value + 0.0).to_bits())
    }

    fn kind(self) -> usize {
        match self {
            Self::Free => 0,
            Self::Text(_) => 1,
            Self::Number(_) => 2,
        }
    }
}

fn key(name: NameTest, attribute: Option<NameTest>, value: Value<'_>) -> Key {
    hash(&(name, attribute, value))
}

fn tests(attribute: Resolved) -> impl Iterator<Item = NameTest> {
    let named = (attribute.name != NameId::OTHER).then_some(NameTest::Name(attribute.name));
    std::iter::once(NameTest::Any).chain(named).chain(attribute.partials().map(NameTest::Partial))
}

/// The attribute and the value that one conjunct of a filter asks for, the most telling one.
fn need(filter: &Condition) -> (Option<NameTest>, Value<'_>) {
    let parts = match filter {
        Condition::And(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut weaker = None;
    for part in parts {
        let Condition::Attribute(attribute, value) = part else { continue };
        match &**value {
            Condition::Value(ValueTest::Equals(text)) => return (Some(*attribute), Value::Text(text)),
            Condition::Value(ValueTest::Number(Comparison::Equal, number)) => {
                return (Some(*attribute), Value::number(number.get()));
            }
            _ => weaker = Some(*attribute),
        }
    }
    (weaker, Value::Free)
}
