//! From the values of a document to the tests they pass: an index over value tests.
//!
//! **Problem.** Thousands of subscriptions test the same attribute for different constants. Asking each of them costs as
//! much as there are. **Idea.** Turn it round: look up each value of the document. Equality is a hash look-up;
//! comparisons of numbers are sorted by their constant ([`super::thresholds`]), and the least and the largest number
//! of a document cut off all that pass. Each waiting expression names one test that it cannot do without.
//!
//! **Invariants.** A test is kept while somebody waits for it. What [`ValueIndex::passed`] reports passes for some node
//! of its subject, and nothing that passes is left out.
//!
//! **Cost.** A look-up for each value of a subject that is asked for, and for each test that passed its waiting list.
//! Waiting and leaving take constant time for equality, logarithmic time for comparisons.

use rustc_hash::FxHashMap;

use super::thresholds;
use super::thresholds::{Guard, Thresholds};
use crate::names::NameId;
use crate::pattern::PathId;
use crate::values::number::from_xpath_number;
use crate::values::{Comparison, Real, ValueTest};

/// What a value is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The element.
    pub element: Holder,
    /// Its attribute, or none for its own string-value.
    pub attribute: Option<NameId>,
}

/// Whose value or attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// An element of this name.
    Named(NameId),
    /// Any element.
    Any,
    /// A text node.
    Text,
}

/// How a test is found; the order is from the least to the most selective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selectivity {
    /// A comparison of numbers.
    Threshold,
    /// An equal number.
    Number,
    /// An equal string.
    Text,
}

/// A place in a waiting list.
pub type Ticket = u32;

type TestId = u32;
type SubjectId = u32;
const NONE: u32 = u32::MAX;

/// One test and who waits for it.
#[derive(Clone, Debug)]
struct Entry {
    subject: SubjectId,
    /// Of a comparison.
    guard: Guard,
    test: ValueTest,
    first: Ticket,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    waiter: u32,
    guard: Guard,
    test: TestId,
    next: Ticket,
    before: Ticket,
}

/// The tests of one subject.
#[derive(Clone, Debug, Default)]
struct Group {
    texts: FxHashMap<Box<str>, TestId>,
    /// The longest of them; longer values are not looked up.
    longest: usize,
    numbers: FxHashMap<Real, TestId>,
    /// How many comparisons there are.
    thresholds: usize,
}

impl Group {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && !self.compares()
    }

    fn compares(&self) -> bool {
        self.thresholds > 0 || !self.numbers.is_empty()
    }
}

/// The subjects of one element name.
#[derive(Clone, Debug, Default)]
struct Subjects {
    own: Option<SubjectId>,
    attributes: FxHashMap<NameId, SubjectId>,
}

/// All tests that somebody waits for.
#[derive(Clone, Debug, Default)]
pub struct ValueIndex {
    entries: Vec<Entry>,
    free_entries: Vec<TestId>,
    places: Vec<Place>,
    free_places: Vec<Ticket>,
    groups: Vec<Group>,
    thresholds: Thresholds,
    named: FxHashMap<NameId, Subjects>,
    any: Subjects,
    text: Subjects,
}

/// What one document fills; reused for the next.
#[derive(Debug, Default)]
pub struct Passing {
    tests: Vec<TestId>,
    /// By subject: the least and the largest number, and the document they are of.
    ranges: Vec<(u32, f64, f64)>,
    /// By path: the document that last had it.
    guards: Vec<u32>,
    document: u32,
}

impl ValueIndex {
    /// How well a test can be looked up; `None` when it cannot.
    pub fn selectivity(test: &ValueTest) -> Option<Selectivity> {
        match test {
            ValueTest::Equals(_) => Some(Selectivity::Text),
            ValueTest::Number(Comparison::Equal, _) => Some(Selectivity::Number),
            ValueTest::Number(Comparison::NotEqual, _) => None,
            ValueTest::Number(..) => Some(Selectivity::Threshold),
            _ => None,
        }
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.places.len() == self.free_places.len()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.places.len() - self.free_places.len()
    }

    /// Lets somebody wait for a test that can be looked up; the ticket is for [`ValueIndex::leave`]. If there is one
    /// path that the waiter cannot do without, it is its guard: see [`ValueIndex::passed`].
    pub fn wait(&mut self, subject: Subject, test: &ValueTest, waiter: u32, paths: &[PathId]) -> Ticket {
        let guard = if let [path] = paths { path.0 } else { thresholds::NONE };
        let test = self.intern(subject, test, guard);
        let next = self.entries[test as usize].first;
        let place = Place { waiter, guard, test, next, before: NONE };
        let ticket = put(&mut self.places, &mut self.free_places, place);
        self.entries[test as usize].first = ticket;
        if next != NONE {
            self.places[next as usize].before = ticket;
        }
        ticket
    }

    /// Takes somebody out.
    pub fn leave(&mut self, ticket: Ticket) {
        let Place { test, next, before, .. } = self.places[ticket as usize];
        self.free_places.push(ticket);
        if next != NONE {
            self.places[next as usize].before = before;
        }
        if before != NONE {
            self.places[before as usize].next = next;
            return;
        }
        self.entries[test as usize].first = next;
        if next == NONE {
            self.forget(test);
        }
    }

    fn subject(&mut self, subject: Subject) -> SubjectId {
        let subjects = match subject.element {
            Holder::Named(name) => self.named.entry(name).or_default(),
            Holder::Any => &mut self.any,
            Holder::Text => &mut self.text,
        };
        let known = match subject.attribute {
            Some(name) => subjects.attributes.entry(name).or_insert(NONE),
            None => subjects.own.get_or_insert(NONE),
        };
        if *known == NONE {
            *known = self.groups.len() as SubjectId;
            self.groups.push(Group::default());
        }
        *known
    }

    fn intern(&mut self, subject: Subject, test: &ValueTest, guard: Guard) -> TestId {
        let subject = self.subject(subject);
        let group = &mut self.groups[subject as usize];
        let known = match test {
            ValueTest::Equals(text) => group.texts.get(text).copied(),
            ValueTest::Number(Comparison::Equal, number) => group.numbers.get(number).copied(),
            ValueTest::Number(comparison, number) => {
                self.thresholds.get(guard, subject, (*comparison, *number))
            }
            _ => None,
        };
        if let Some(known) = known {
            return known;
        }
        let entry = Entry { subject, guard, test: test.clone(), first: NONE };
        let id = put(&mut self.entries, &mut self.free_entries, entry);
        match test {
            ValueTest::Equals(text) => {
                group.longest = group.longest.max(text.len());
                group.texts.insert(text.clone(), id);
            }
            ValueTest::Number(Comparison::Equal, number) => drop(group.numbers.insert(*number, id)),
            ValueTest::Number(comparison, number) => {
                group.thresholds += 1;
                self.thresholds.insert(guard, subject, (*comparison, *number), id);
            }
            _ => debug_assert!(false, "{test:?} cannot be looked up"),
        }
        id
    }

    fn forget(&mut self, id: TestId) {
        let Entry { subject, guard, test, .. } = &self.entries[id as usize];
        let group = &mut self.groups[*subject as usize];
        match test {
            ValueTest::Equals(text) => drop(group.texts.remove(text)),
            ValueTest::Number(Comparison::Equal, number) => drop(group.numbers.remove(number)),
            ValueTest::Number(comparison, number) => {
                group.thresholds -= 1;
                self.thresholds.remove(*guard, *subject, (*comparison, *number));
            }
            _ => {}
        }
        if group.is_empty() {
            *group = Group::default();
        }
        self.free_entries.push(id);
    }

    /// Starts on a document.
    pub fn begin(&self, passing: &mut Passing) {
        passing.tests.clear();
        passing.document = passing.document.wrapping_add(1);
        if passing.document == 0 {
            passing.ranges.clear();
            passing.guards.clear();
            passing.document = 1;
        }
        passing.ranges.resize(self.groups.len(), (0, 0.0, 0.0));
    }

    /// Whether anything is asked about elements of a name, or of any.
    pub fn asks(&self, name: NameId) -> bool {
        self.asks_any() || self.named.contains_key(&name)
    }

    fn asks_any(&self) -> bool {
        self.any.own.is_some() || !self.any.attributes.is_empty()
    }

    /// An element with its string-value.
    pub fn element(&self, name: NameId, value: &str, passing: &mut Passing) {
        let own = self.named.get(&name).and_then(|subjects| subjects.own);
        for subject in own.into_iter().chain(self.any.own) {
            self.value(subject, value, passing);
        }
    }

    /// An attribute of an element.
    pub fn attribute(&self, element: NameId, name: NameId, value: &str, passing: &mut Passing) {
        let named = self.named.get(&element).and_then(|subjects| subjects.attributes.get(&name));
        for &subject in named.into_iter().chain(self.any.attributes.get(&name)) {
            self.value(subject, value, passing);
        }
    }

    /// A text node.
    pub fn text(&self, value: &str, passing: &mut Passing) {
        if let Some(subject) = self.text.own {
            self.value(subject, value, passing);
        }
    }

    fn value(&self, subject: SubjectId, value: &str, passing: &mut Passing) {
        let group = &self.groups[subject as usize];
        if value.len() <= group.longest {
            passing.tests.extend(group.texts.get(value));
        }
        if !group.compares() {
            return;
        }
        let Some(number) = Real::new(from_xpath_number(value)) else { return };
        passing.tests.extend(group.numbers.get(&number));
        let (document, least, largest) = &mut passing.ranges[subject as usize];
        if *document == passing.document {
            *least = least.min(number.get());
            *largest = largest.max(number.get());
        } else {
            (*document, *least, *largest) = (passing.document, number.get(), number.get());
        }
    }

    /// Everybody who waits for a test that some value passed, each once, and whose guard is among the paths found.
    pub fn passed(&self, paths: &[PathId], passing: &mut Passing) -> impl Iterator<Item = u32> {
        let Passing { tests, ranges, guards, document } = passing;
        let document = *document;
        let range = |subject: SubjectId| {
            let (seen, least, largest) = ranges[subject as usize];
            if seen == document { Real::new(least).zip(Real::new(largest)) } else { None }
        };
        if let Some(last) = paths.iter().max() {
            guards.resize(guards.len().max(last.0 as usize + 1), 0);
        }
        for &PathId(guard) in paths {
            guards[guard as usize] = document;
            self.thresholds.passed(guard, range, tests);
        }
        self.thresholds.passed(thresholds::NONE, range, tests);
        tests.sort_unstable();
        tests.dedup();
        let guards = &*guards;
        let found = move |guard: Guard| {
            guard == thresholds::NONE || guards.get(guard as usize).is_some_and(|&seen| seen == document)
        };
        tests.iter().flat_map(move |&test| {
            let next = |ticket: u32| (ticket != NONE).then(|| &self.places[ticket as usize]);
            std::iter::successors(next(self.entries[test as usize].first), move |place| next(place.next))
                .filter(move |place| found(place.guard))
                .map(|place| place.waiter)
        })
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        let texts: usize = self.entries.iter().map(|entry| 2 * entry.test.memory_bytes()).sum();
        let tests = |group: &Group| group.texts.capacity() * 25 + group.numbers.capacity() * 17;
        texts
            + self.groups.iter().map(tests).sum::<usize>()
            + self.groups.capacity() * size_of::<Group>()
            + self.thresholds.memory_bytes()
            + self.named.capacity() * (size_of::<Subjects>() + 5)
            + self.entries.capacity() * size_of::<Entry>()
            + self.places.capacity() * size_of::<Place>()
            + (self.free_entries.capacity() + self.free_places.capacity()) * 4
    }
}

fn put<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(id) => {
            items[id as usize] = item;
            id
        }
        None => {
            items.push(item);
            (items.len() - 1) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject { element: Holder::Named(NameId(1)), attribute: Some(NameId(2)) };

    fn tests() -> Vec<ValueTest> {
        let comparisons = [
            Comparison::Equal,
            Comparison::Less,
            Comparison::LessEqual,
            Comparison::Greater,
            Comparison::GreaterEqual,
        ];
        let numbers = [-1.5, 0.0, -0.0, 1.0, 2.0, f64::INFINITY, f64::NEG_INFINITY];
        let reals: Vec<_> = numbers.iter().filter_map(|&number| Real::new(number)).collect();
        let compared = comparisons.iter().flat_map(|&c| reals.iter().map(move |&n| ValueTest::Number(c, n)));
        let equal = ["", "1", "1.0", "x", "-0"].map(|text| ValueTest::Equals(text.into()));
        compared.chain(equal).collect()
    }

    fn passed(index: &ValueIndex, passing: &mut Passing, values: &[&str]) -> Vec<u32> {
        index.begin(passing);
        for value in values {
            index.attribute(NameId(1), NameId(2), value, passing);
            index.attribute(NameId(1), NameId(3), "1", passing);
            index.attribute(NameId(4), NameId(2), "1", passing);
        }
        let mut passed: Vec<_> = index.passed(&[], passing).collect();
        passed.sort_unstable();
        passed
    }

    #[test]
    fn what_passes_is_found_and_nothing_else() {
        let tests = tests();
        let mut index = ValueIndex::default();
        let tickets: Vec<_> =
            (0..).zip(&tests).map(|(at, test)| index.wait(SUBJECT, test, at, &[])).collect();
        let mut passing = Passing::default();
        let values = ["", "1", " 1 ", "-0", "0", "x", "NaN", "1e400", "-1e400", "1.5", "-7", "2"];
        for first in values {
            for second in values {
                let given = [first, second];
                let passes = |test: &ValueTest| given.iter().any(|value| test.accepts(value));
                let expected = |keep: fn(usize) -> bool| -> Vec<u32> {
                    let all = (0..tests.len()).filter(|&at| keep(at) && passes(&tests[at]));
                    all.map(|at| at as u32).collect()
                };
                assert_eq!(passed(&index, &mut passing, &given), expected(|_| true), "{given:?}");
            }
        }
        for ticket in tickets.iter().skip(1).step_by(2) {
            index.leave(*ticket);
        }
        let odd_gone = passed(&index, &mut passing, &["1", "x"]);
        let expected: Vec<u32> = (0..tests.len())
            .filter(|at| at % 2 == 0 && ["1", "x"].iter().any(|value| tests[*at].accepts(value)))
            .map(|at| at as u32)
            .collect();
        assert_eq!(odd_gone, expected);
        tickets.iter().step_by(2).for_each(|&ticket| index.leave(ticket));
        assert!(index.is_empty());
        assert_eq!(passed(&index, &mut passing, &["1", "x"]), Vec::<u32>::new());
    }

    #[test]
    fn many_may_wait_for_one_test_and_leave_in_any_order() {
        let mut index = ValueIndex::default();
        let test = ValueTest::Equals("x".into());
        let tickets: Vec<_> = (0..4).map(|waiter| index.wait(SUBJECT, &test, waiter, &[])).collect();
        let mut passing = Passing::default();
        for (gone, left) in [(1, vec![0, 2, 3]), (3, vec![0, 2]), (0, vec![2]), (2, vec![])] {
            index.leave(tickets[gone]);
            assert_eq!(passed(&index, &mut passing, &["x"]), left);
        }
    }

    #[test]
    fn whose_guard_is_not_found_is_left_out() {
        let mut index = ValueIndex::default();
        let guards = [vec![PathId(5)], vec![PathId(6)], vec![PathId(5), PathId(6)], vec![]];
        let comparison = ValueTest::Number(Comparison::Greater, Real::new(1.0).expect("a number"));
        let mut tickets = Vec::new();
        for (at, paths) in (0..).zip(&guards) {
            tickets.push(index.wait(SUBJECT, &comparison, at, paths));
            tickets.push(index.wait(SUBJECT, &ValueTest::Equals("7".into()), at, paths));
        }
        let mut passing = Passing::default();
        for (paths, expected) in
            [(&[][..], vec![2, 3]), (&[PathId(5)], vec![0, 2, 3]), (&[PathId(7)], vec![2, 3])]
        {
            index.begin(&mut passing);
            index.attribute(NameId(1), NameId(2), "7", &mut passing);
            let mut passed: Vec<_> = index.passed(paths, &mut passing).collect();
            passed.sort_unstable();
            let twice: Vec<u32> = expected.iter().flat_map(|&at| [at, at]).collect();
            assert_eq!(passed, twice, "{paths:?}");
        }
        tickets.iter().for_each(|&ticket| index.leave(ticket));
        assert!(index.is_empty() && index.thresholds.memory_bytes() < 1_000);
    }
}
