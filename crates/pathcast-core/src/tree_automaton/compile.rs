//! From a condition to rules, and their release.

use super::atoms::{AtomId, Kind, Test};
use super::computed::{Computation, Computed, computation};
use super::keys::Counts;
use super::place::At;
use super::rules::{Literal, RuleId, Target};
use super::subjects::{Leaf, Subject};
use super::ways::{Way, WayId};
use super::{NONE, TreeAutomaton};
use crate::pattern::{Axis, Condition, FirstStep, NameTest, NodePattern, NodeTest, Typed};
use crate::values::ValueTest;

impl TreeAutomaton {
    /// Makes an expression known: it is reported for every document that satisfies the condition, which must be one
    /// that [`super::gate`] gives.
    pub fn insert(&mut self, condition: &Condition, expression: u32) {
        let mut rules = Vec::new();
        self.top(condition, expression, &mut rules);
        self.held.resize(self.held.len().max(expression as usize + 1), NONE);
        self.expressions += 1;
        match rules.as_slice() {
            [] => {}
            [single] => self.held[expression as usize] = *single,
            _ => drop(self.held_many.insert(expression, rules.into())),
        }
        self.choose_keys_if_due();
    }

    /// Takes an expression out.
    pub fn remove(&mut self, expression: u32) {
        self.expressions -= 1;
        let single = std::mem::replace(&mut self.held[expression as usize], NONE);
        let many = if single == NONE { self.held_many.remove(&expression) } else { None };
        let wanted =
            |target| matches!(target, Target::Subscription { expression: each, .. } if each == expression);
        for &rule in many.iter().flatten().chain((single != NONE).then_some(&single)) {
            self.release_rule(rule, wanted);
        }
    }

    fn top(&mut self, condition: &Condition, expression: u32, rules: &mut Vec<RuleId>) {
        let (rule, way) = match condition {
            Condition::False => return,
            Condition::Or(parts) => {
                parts.iter().for_each(|part| self.top(part, expression, rules));
                return;
            }
            Condition::Exists(Axis::Down { min, exact }, pattern)
                if matches!(pattern.test, NodeTest::Element(_)) && !is_chain(condition) =>
            {
                self.path(At::DOCUMENT, *min, *exact, pattern)
            }
            other => {
                let here = Way { steps: [(0, At::DOCUMENT)].into(), any: false };
                (self.rule(At::DOCUMENT, other), self.ways.intern(here))
            }
        };
        self.aim(rule, Target::Subscription { way, expression });
        rules.push(rule);
    }

    /// The rule about the last element of a path, and the way from there up to the element that the path is of. An
    /// element in between makes no rule if it only leads on to values. What only asks for elements is the same for many
    /// subscriptions, so there each element tells its parent once for all of them.
    fn path(&mut self, of: At, min: u32, exact: bool, pattern: &NodePattern) -> (RuleId, WayId) {
        let mut steps = vec![(min, of)];
        let mut pattern = pattern;
        let leads_on = compares(&pattern.condition);
        loop {
            let at = match pattern.test {
                NodeTest::Element(name) => At::element(name),
                _ => At::DOCUMENT,
            };
            match &pattern.condition {
                Condition::Exists(Axis::Down { min, exact: true }, next)
                    if leads_on
                        && matches!(next.test, NodeTest::Element(_))
                        && !is_chain(&pattern.condition) =>
                {
                    steps.push((*min, at));
                    pattern = next;
                }
                condition => {
                    steps.reverse();
                    let way = self.ways.intern(Way { steps: steps.into(), any: !exact });
                    return (self.rule(at, condition), way);
                }
            }
        }
    }

    /// The rule that a condition on one element is.
    fn rule(&mut self, at: At, condition: &Condition) -> RuleId {
        let parts = match condition {
            Condition::True => &[],
            Condition::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut literals: Vec<Literal> = Vec::with_capacity(parts.len());
        for part in parts {
            let literal = self.literal(at, part);
            // Held while the others are made; several parts may be one literal.
            if !literals.contains(&literal) {
                self.atoms.get_mut(literal.atom()).users += 1;
                literals.push(literal);
            }
        }
        literals.sort_unstable();
        if let Some(known) = self.rules.find(at, &literals) {
            literals.iter().for_each(|literal| self.atoms.get_mut(literal.atom()).users -= 1);
            return known;
        }
        let stratum =
            literals.iter().map(|literal| self.atoms.get(literal.atom()).stratum).max().unwrap_or(0);
        let rule = self.rules.insert(at, &literals, stratum);
        self.wait(rule);
        rule
    }

    fn literal(&mut self, at: At, condition: &Condition) -> Literal {
        match condition {
            Condition::Not(inner) => self.literal(at, inner).negated(),
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                if is_chain(condition) {
                    return self.chain(at, condition);
                }
                match &pattern.test {
                    NodeTest::Element(_) => {}
                    NodeTest::Text if !exact => return self.either(at, &text_at_any_depth(*min, pattern)),
                    _ => return self.never(at),
                }
                let (rule, way) = self.path(at, *min, *exact, pattern);
                let kind = Kind::Below { way, rule };
                if let Some(known) = self.atoms.find(&kind) {
                    self.ways.release(way);
                    return Literal::new(known, false);
                }
                let atom = self.new_atom(kind, 0);
                self.aim(rule, Target::Above { way, atom });
                Literal::new(atom, false)
            }
            Condition::Or(parts) => self.either(at, parts),
            Condition::And(_) | Condition::True => self.either(at, std::slice::from_ref(condition)),
            Condition::First(path, test) => self.first(at, path, test),
            Condition::Typed(typed) => self.computed(at, typed),
            Condition::Value(test) => self.value(Subject::new(at, Box::default(), Leaf::Own), Some(test)),
            Condition::Attribute(name, value) => {
                self.value(Subject::new(at, Box::default(), Leaf::attribute(*name)), tested(value))
            }
            Condition::Is(NodeTest::Element(name)) => {
                // Asked of elements of that name, told to the same element if it is one that the rule is about.
                self.value(Subject::new(at, Box::new([(0, *name)]), Leaf::Here), None)
            }
            _ => self.never(at),
        }
    }

    /// One of several conditions on the same element.
    fn either(&mut self, at: At, parts: &[Condition]) -> Literal {
        let mut rules: Vec<RuleId> = Vec::with_capacity(parts.len());
        for part in parts {
            let rule = self.rule(at, part);
            // Held while the others are made.
            self.aim(rule, Target::Same(NONE));
            rules.push(rule);
        }
        let held = rules.clone();
        rules.sort_unstable();
        rules.dedup();
        let kind = Kind::Either(rules.into());
        let atom = self.atoms.find(&kind).unwrap_or_else(|| {
            let Kind::Either(rules) = &kind else { return NONE };
            let rules = rules.clone();
            let stratum = rules.iter().map(|&rule| self.rules.get(rule).stratum).max().unwrap_or(0);
            let atom = self.new_atom(kind, stratum + 1);
            rules.iter().for_each(|&rule| self.aim(rule, Target::Same(atom)));
            atom
        });
        for rule in held {
            self.rules.miss(rule, |target| target == Target::Same(NONE));
            self.retarget(rule);
        }
        Literal::new(atom, false)
    }

    /// A value at a fixed way down is asked for as one subject, so that the element that it is of is told at once.
    fn chain(&mut self, at: At, condition: &Condition) -> Literal {
        let mut steps = Vec::new();
        let mut next = condition;
        let (leaf, test) = loop {
            match next {
                Condition::Exists(Axis::Down { min, .. }, pattern) => {
                    if let NodeTest::Element(name) = &pattern.test {
                        steps.push((*min, *name));
                        next = &pattern.condition;
                        continue;
                    }
                    if *min > 1 {
                        steps.push((*min - 1, NameTest::Any));
                    }
                    break (Leaf::Text, tested(&pattern.condition));
                }
                Condition::Value(test) => break (Leaf::Own, Some(test)),
                Condition::Attribute(name, value) => break (Leaf::attribute(*name), tested(value)),
                _ => return self.never(at),
            }
        };
        self.value(Subject::new(at, steps.into(), leaf), test)
    }

    fn first(&mut self, at: At, path: &[FirstStep], test: &ValueTest) -> Literal {
        let mut steps = Vec::new();
        let mut leaf = Leaf::Own;
        for step in path {
            match step {
                FirstStep::Attribute(name, _) => leaf = Leaf::attribute(*name),
                FirstStep::Node(Axis::Down { min, .. }, pattern) => match &pattern.test {
                    NodeTest::Element(name) => steps.push((*min, *name)),
                    _ => {
                        leaf = Leaf::Text;
                        if *min > 1 {
                            steps.push((*min - 1, NameTest::Any));
                        }
                    }
                },
                FirstStep::Node(..) => return self.never(at),
            }
        }
        self.value(Subject { first: true, ..Subject::new(at, steps.into(), leaf) }, Some(test))
    }

    fn computed(&mut self, at: At, typed: &Typed) -> Literal {
        let Some(Computation { steps, leaf, computed, test, negated }) = computation(typed) else {
            return self.never(at);
        };
        let first = computed != Computed::Counted;
        let literal = self.value(Subject { first, computed, ..Subject::new(at, steps, leaf) }, Some(&test));
        if negated { literal.negated() } else { literal }
    }

    fn value(&mut self, subject: Subject, test: Option<&ValueTest>) -> Literal {
        let subject = self.subjects.intern(subject, &mut self.places);
        self.tests.resize_with(self.subjects.bound(), Default::default);
        let test = test.map_or(Test::Present, |test| Test::intern(test, &mut self.constants));
        let kind = Kind::Value { subject, test };
        let atom = match self.atoms.find(&kind) {
            Some(known) => {
                self.release_value(subject, test);
                known
            }
            None => {
                let atom = self.new_atom(kind, 0);
                self.tests[subject as usize].insert(test, atom, &self.constants);
                atom
            }
        };
        Literal::new(atom, test.is_summed())
    }

    fn release_value(&mut self, subject: u32, test: Test) {
        test.text().into_iter().for_each(|text| self.constants.release(text));
        if self.subjects.release(subject, &mut self.places) {
            self.tests[subject as usize] = Default::default();
            Counts::forget(&mut self.counts().subjects, subject);
        }
    }

    fn new_atom(&mut self, kind: Kind, stratum: u32) -> AtomId {
        let atom = self.atoms.insert(kind, stratum);
        Counts::forget(&mut self.counts().atoms, atom);
        atom
    }

    /// An atom that is never so.
    fn never(&mut self, _: At) -> Literal {
        debug_assert!(false, "only what a gate gives");
        self.either(At::DOCUMENT, &[])
    }

    /// A rule has one target more.
    fn aim(&mut self, id: RuleId, target: Target) {
        self.rules.aim(id, target, &self.ways);
        self.retarget(id);
    }

    /// A rule has one target less; the last takes it out.
    fn release_rule(&mut self, id: RuleId, wanted: impl Fn(Target) -> bool) {
        let (missed, last) = self.rules.miss(id, wanted);
        if let Some(Target::Subscription { way, .. } | Target::Above { way, .. }) = missed {
            self.ways.release(way);
        }
        if !last {
            self.retarget(id);
            return;
        }
        self.stop_waiting(id);
        for literal in self.rules.remove(id) {
            self.release_atom(literal.atom());
        }
    }

    fn release_atom(&mut self, id: AtomId) {
        let atom = self.atoms.get_mut(id);
        atom.users -= 1;
        if atom.users > 0 {
            return;
        }
        match self.atoms.remove(id) {
            Kind::Value { subject, test } => {
                self.tests[subject as usize].remove(test, id, &self.constants);
                self.release_value(subject, test);
            }
            Kind::Below { rule, .. } => {
                self.release_rule(rule, |target| matches!(target, Target::Above { atom, .. } if atom == id));
            }
            Kind::Either(rules) => {
                for rule in rules {
                    self.release_rule(rule, |target| target == Target::Same(id));
                }
            }
            Kind::Free => {}
        }
    }
}

/// Whether a condition asks for one value a fixed number of levels down.
fn is_chain(condition: &Condition) -> bool {
    match condition {
        Condition::Exists(Axis::Down { exact, .. }, pattern) => {
            *exact
                && match &pattern.test {
                    NodeTest::Element(_) => is_chain(&pattern.condition),
                    test => *test == NodeTest::Text,
                }
        }
        Condition::Value(_) | Condition::Attribute(..) => true,
        _ => false,
    }
}

/// Whether a condition asks for values, and not for elements alone.
fn compares(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(compares),
        Condition::Not(inner) => compares(inner),
        Condition::Exists(_, pattern) => pattern.test == NodeTest::Text || compares(&pattern.condition),
        Condition::Value(_) | Condition::Attribute(..) | Condition::First(..) | Condition::Typed(_) => true,
        _ => false,
    }
}

fn tested(condition: &Condition) -> Option<&ValueTest> {
    if let Condition::Value(test) = condition { Some(test) } else { None }
}

/// Text `min` or more levels down is text at that level, or the text of an element at that level or below it.
fn text_at_any_depth(min: u32, text: &NodePattern) -> [Condition; 2] {
    let down = |min, exact, pattern| Condition::Exists(Axis::Down { min, exact }, Box::new(pattern));
    let condition = down(1, true, text.clone());
    let element = NodePattern { test: NodeTest::Element(NameTest::Any), condition };
    [down(min, true, text.clone()), down(min, false, element)]
}
