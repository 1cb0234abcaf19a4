//! The end of an element: which rules hold for it, and who is told.

use super::TreeAutomaton;
use super::atoms::AtomId;
use super::place::At;
use super::rules::{Aim, Literal, Rule, Target, Targets, Waiting};
use super::run::Run;
use crate::pattern::NameTest;

impl Run {
    /// Decides the rules of the innermost open element, or at last of the document node.
    pub(super) fn decide(&mut self, automaton: &TreeAutomaton) {
        let level = self.depth - 1;
        let serial = self.open[level].serial;
        let told = std::mem::take(&mut self.open[level].told);
        for &atom in &told {
            self.note(atom, serial);
        }
        self.open[level].told = told;
        for at in 0..self.open[level].summaries.len() {
            let (subject, summary) = self.open[level].summaries[at];
            self.current[subject as usize] = (serial, Some(summary));
            let awaited = &automaton.tests[subject as usize].awaited;
            if !awaited.is_empty() {
                awaited.passing(&summary, |atom| self.note(atom, serial));
            }
        }
        match self.open[level].name {
            Some(name) => {
                for asked in automaton.places.of(name) {
                    self.look_at(automaton, &asked.always, 0);
                }
            }
            None => {
                if let Some(asked) = automaton.places.document() {
                    self.look_at(automaton, &asked.always, 0);
                }
            }
        }
        let mut stratum = 0;
        loop {
            while let Some(atom) = self.queue.pop() {
                self.look_at(automaton, &automaton.atoms.get(atom).waiting, stratum);
            }
            stratum += 1;
            if stratum as usize >= self.later.len() {
                break;
            }
            let mut rules = std::mem::take(&mut self.later[stratum as usize]);
            for id in rules.drain(..) {
                let rule = automaton.rules.get(id);
                if self.holds(automaton, rule, serial) {
                    self.follow(automaton, rule.aim);
                }
            }
            self.later[stratum as usize] = rules;
        }
    }

    /// An atom is so of the element that ends.
    #[inline]
    fn note(&mut self, atom: AtomId, serial: u32) {
        let state = &mut self.states[atom as usize];
        if state.so != serial {
            state.so = serial;
            state.hits = state.hits.saturating_add(1);
            self.queue.push(atom);
        }
    }

    /// Looks at all rules of a list, those of a later stratum later.
    fn look_at(&mut self, automaton: &TreeAutomaton, list: &[Waiting], stratum: u32) {
        let serial = self.open[self.depth - 1].serial;
        for waiting in list {
            if waiting.rule & Waiting::LOOK != 0 {
                let id = waiting.rule & !Waiting::LOOK;
                let rule = automaton.rules.get(id);
                if rule.stratum > stratum {
                    let needed = self.later.len().max(rule.stratum as usize + 1);
                    self.later.resize_with(needed, Vec::new);
                    self.later[rule.stratum as usize].push(id);
                    continue;
                }
                if !self.holds(automaton, rule, serial) {
                    continue;
                }
            } else if waiting.check != Literal::NONE && !self.is_so(automaton, waiting.check, serial) {
                continue;
            }
            self.follow(automaton, waiting.aim);
        }
    }

    #[inline]
    fn holds(&self, automaton: &TreeAutomaton, rule: &Rule, serial: u32) -> bool {
        automaton.rules.literals(rule).iter().all(|&literal| self.is_so(automaton, literal, serial))
    }

    #[inline]
    fn is_so(&self, automaton: &TreeAutomaton, literal: Literal, serial: u32) -> bool {
        let so = if literal.is_summed() {
            automaton.atoms.test(literal.atom()).is_some_and(|(subject, test)| {
                let (of, summary) = self.current[subject as usize];
                of == serial && summary.is_some_and(|summary| summary.passes(test))
            })
        } else {
            self.states[literal.atom() as usize].so == serial
        };
        so != literal.is_negated()
    }

    /// A rule holds for the innermost open element.
    fn follow(&mut self, automaton: &TreeAutomaton, aim: Aim) {
        let level = self.depth - 1;
        match aim {
            Aim::Subscription(expression) => self.found(expression),
            Aim::Root(expression) => {
                if level == 1 {
                    self.found(expression);
                }
            }
            Aim::Parent(at, atom) => {
                if level > 0 && self.is(level - 1, at) {
                    self.tell_once(level - 1, atom);
                }
            }
            Aim::Several(several) => self.follow_all(automaton.rules.targets(several), level),
        }
    }

    fn follow_all(&mut self, targets: &Targets, level: usize) {
        if !targets.parents.is_empty() && level > 0 {
            match self.open[level - 1].name {
                None => targets.of_parent(At::DOCUMENT).for_each(|atom| self.tell_once(level - 1, atom)),
                Some(name) => {
                    let named = At::element(NameTest::Name(name.name));
                    for at in [named, At::ANY].into_iter().chain(At::partials_of(name)) {
                        targets.of_parent(at).for_each(|atom| self.tell_once(level - 1, atom));
                    }
                }
            }
        }
        for &target in &targets.others {
            match target {
                Target::Subscription { min, exact, expression } => {
                    let min = min as usize;
                    if level == min || level > min && !exact {
                        self.found(expression);
                    }
                }
                Target::Same(atom) => self.note(atom, self.open[level].serial),
                Target::Above { at, min, exact, atom } => {
                    let Some(above) = level.checked_sub(min as usize) else { continue };
                    if exact {
                        if self.is(above, at) {
                            self.tell_once(above, atom);
                        }
                    } else {
                        self.tell_all(above, at, atom);
                    }
                }
            }
        }
    }

    /// Tells an element and all above it that are meant. Who was told of something below has told those above.
    fn tell_all(&mut self, nearest: usize, at: At, atom: AtomId) {
        let told = self.states[atom as usize].told;
        for level in (0..=nearest).rev() {
            if self.open[level].serial <= told {
                break;
            }
            if self.is(level, at) {
                self.open[level].told.push(atom);
            }
        }
        self.states[atom as usize].told = self.open[nearest].serial.max(told);
    }
}
