//! From a condition to rules, and their release.

use super::atoms::{AtomId, Kind, Test};
use super::place::At;
use super::rules::{Literal, RuleId, Target};
use super::subjects::{Leaf, Subject};
use super::{NONE, TreeAutomaton};
use crate::pattern::{Axis, Condition, FirstStep, NameTest, NodePattern, NodeTest};
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
        let (rule, min, exact) = match condition {
            Condition::False => return,
            Condition::Or(parts) => {
                parts.iter().for_each(|part| self.top(part, expression, rules));
                return;
            }
            Condition::Exists(Axis::Down { min, exact }, pattern) => match &**pattern {
                NodePattern { test: NodeTest::Element(name), condition } => {
                    (self.rule(At::element(*name), condition), *min, *exact)
                }
                _ => (self.rule(At::DOCUMENT, condition), 0, true),
            },
            other => (self.rule(At::DOCUMENT, other), 0, true),
        };
        self.aim(rule, Target::Subscription { min, exact, expression });
        rules.push(rule);
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
            let literal = self.literal(at, part, parts.len() > 1);
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
        let key = self.rarest(&literals);
        self.wait(rule, key);
        rule
    }

    fn literal(&mut self, at: At, condition: &Condition, among_others: bool) -> Literal {
        match condition {
            Condition::Not(inner) => self.literal(at, inner, among_others).negated(),
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                if let Some(literal) = self.chain(at, condition, among_others) {
                    return literal;
                }
                let (min, exact) = (*min, *exact);
                let name = match &pattern.test {
                    NodeTest::Element(name) => *name,
                    NodeTest::Text if !exact => return self.either(at, &text_at_any_depth(min, pattern)),
                    _ => return self.never(at),
                };
                let rule = self.rule(At::element(name), &pattern.condition);
                let kind = Kind::Below { at, min, exact, rule };
                let known = self.atoms.find(&kind);
                let atom = known.unwrap_or_else(|| {
                    let atom = self.atoms.insert(kind, 0);
                    self.aim(rule, Target::Above { at, min, exact, atom });
                    atom
                });
                Literal::new(atom, false)
            }
            Condition::Or(parts) => self.either(at, parts),
            Condition::And(_) | Condition::True => self.either(at, std::slice::from_ref(condition)),
            Condition::First(path, test) => self.first(at, path, test),
            Condition::Value(test) => self.value(at, Box::default(), Leaf::Own, false, Some(test)),
            Condition::Attribute(name, value) => {
                self.value(at, Box::default(), Leaf::Attribute(*name), false, tested(value))
            }
            Condition::Is(NodeTest::Element(name)) => {
                // Asked of elements of that name, told to the same element if it is one that the rule is about.
                self.value(at, Box::new([(0, *name)]), Leaf::Here, false, None)
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
            let atom = self.atoms.insert(kind, stratum + 1);
            rules.iter().for_each(|&rule| self.aim(rule, Target::Same(atom)));
            atom
        });
        for rule in held {
            self.rules.miss(rule, |target| target == Target::Same(NONE));
            self.retarget(rule);
        }
        Literal::new(atom, false)
    }

    /// A value at a fixed way down: together with others it is asked for as one subject, so that the element that they
    /// are all of is told of it at once.
    fn chain(&mut self, at: At, condition: &Condition, among_others: bool) -> Option<Literal> {
        let mut steps = Vec::new();
        let mut next = condition;
        let (leaf, test) = loop {
            match next {
                Condition::Exists(Axis::Down { min, exact: true }, pattern) => match &pattern.test {
                    NodeTest::Element(name) if among_others => {
                        steps.push((*min, *name));
                        next = &pattern.condition;
                    }
                    NodeTest::Text => {
                        if *min > 1 {
                            steps.push((*min - 1, NameTest::Any));
                        }
                        break (Leaf::Text, tested(&pattern.condition));
                    }
                    _ => return None,
                },
                Condition::Value(test) => break (Leaf::Own, Some(test)),
                Condition::Attribute(name, value) => break (Leaf::Attribute(*name), tested(value)),
                _ => return None,
            }
        };
        Some(self.value(at, steps.into(), leaf, false, test))
    }

    fn first(&mut self, at: At, path: &[FirstStep], test: &ValueTest) -> Literal {
        let mut steps = Vec::new();
        let mut leaf = Leaf::Own;
        for step in path {
            match step {
                FirstStep::Attribute(name, _) => leaf = Leaf::Attribute(*name),
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
        self.value(at, steps.into(), leaf, true, Some(test))
    }

    fn value(
        &mut self,
        of: At,
        steps: Box<[(u32, NameTest)]>,
        leaf: Leaf,
        first: bool,
        test: Option<&ValueTest>,
    ) -> Literal {
        let subject = self.subjects.intern(Subject { of, steps, leaf, first }, &mut self.places);
        self.tests.resize_with(self.subjects.bound(), Default::default);
        let test = test.map_or(Test::Present, |test| Test::intern(test, &mut self.constants));
        let kind = Kind::Value { subject, test };
        let atom = match self.atoms.find(&kind) {
            Some(known) => {
                self.release_value(subject, test);
                known
            }
            None => {
                let atom = self.atoms.insert(kind, 0);
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
        }
    }

    /// An atom that is never so.
    fn never(&mut self, _: At) -> Literal {
        debug_assert!(false, "only what a gate gives");
        self.either(At::DOCUMENT, &[])
    }

    /// A rule has one target more.
    fn aim(&mut self, id: RuleId, target: Target) {
        self.rules.aim(id, target);
        self.retarget(id);
    }

    /// A rule has one target less; the last takes it out.
    fn release_rule(&mut self, id: RuleId, wanted: impl Fn(Target) -> bool) {
        if !self.rules.miss(id, wanted) {
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
