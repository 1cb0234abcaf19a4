//! The end of an element: which rules hold for it, and who is told.

use std::hint::black_box;
use std::slice;

use super::atoms::AtomId;
use super::keys::Keys;
use super::place::At;
use super::rules::{Aim, Literal, Rule, Target, Waiting};
use super::run::Run;
use super::subjects::SubjectId;
use super::ways::WayId;
use super::{NONE, TreeAutomaton};

/// So many lists are begun at once, so that the processor waits for all of them at the same time.
const TOGETHER: usize = 16;

impl Run {
    /// Decides the rules of the innermost open element, or at last of the document node.
    pub(super) fn decide(&mut self, automaton: &TreeAutomaton) {
        let Some(keys) = self.keys.take() else { return };
        let level = self.depth - 1;
        self.note_told(automaton, &keys);
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
            while !self.queue.is_empty() {
                let mut lists: [&[Waiting]; TOGETHER] = [&[]; TOGETHER];
                for list in &mut lists {
                    let Some(atom) = self.queue.pop() else { break };
                    *list = keys.lists.of(atom);
                }
                black_box(
                    lists.iter().filter_map(|list| list.first()).fold(0, |sum, each| sum ^ each.rule()),
                );
                lists.iter().for_each(|list| self.look_at(automaton, list, stratum));
            }
            stratum += 1;
            if stratum as usize >= self.later.len() {
                break;
            }
            let mut rules = std::mem::take(&mut self.later[stratum as usize]);
            for id in rules.drain(..) {
                let rule = automaton.rules.get(id);
                if self.holds(automaton, rule) {
                    self.follow(automaton, rule.aim);
                }
            }
            self.later[stratum as usize] = rules;
        }
        self.keys = Some(keys);
    }

    /// What the element has been told is so.
    fn note_told(&mut self, automaton: &TreeAutomaton, keys: &Keys) {
        let level = self.depth - 1;
        let serial = self.open[level].serial;
        let told = std::mem::take(&mut self.open[level].told);
        told.iter().for_each(|&atom| self.note(atom, serial));
        self.open[level].told = told;
        let summaries = std::mem::take(&mut self.open[level].summaries);
        let mut subjects = std::mem::take(&mut self.summed);
        subjects.clear();
        for &(subject, summary) in &summaries {
            let current = &mut self.current[subject as usize];
            if current.of == serial {
                current.summary.add(&summary);
            } else {
                (current.of, current.summary) = (serial, summary);
                current.hits = current.hits.saturating_add(1);
                subjects.push(subject);
            }
        }
        self.open[level].summaries = summaries;
        subjects.iter().for_each(|&subject| self.note_count(automaton, subject, serial));
        // Now all atoms are known, and rules can be looked at.
        for subject in &subjects {
            if let Some(awaited) = keys.awaited.get(subject) {
                let summary = self.current[*subject as usize].summary;
                awaited.passing(&summary, |waiting| self.look_at(automaton, slice::from_ref(waiting), 0));
            }
        }
        self.summed = subjects;
    }

    /// The number of a subject's values is looked up when all of them are known.
    fn note_count(&mut self, automaton: &TreeAutomaton, subject: SubjectId, serial: u32) {
        let summary = self.current[subject as usize].summary;
        if !summary.is_count() {
            return;
        }
        let known = (&automaton.atoms, &automaton.constants);
        let tests = &automaton.tests[subject as usize];
        let number = summary.count().to_string();
        if let Some(summary) = tests.look_up(subject, &number, known, |atom| self.note(atom, serial)) {
            self.current[subject as usize].summary = summary;
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
            if waiting.check != Literal::NONE && !self.is_so(automaton, waiting.check, serial) {
                continue;
            }
            if waiting.must_look() {
                let id = waiting.rule();
                let rule = automaton.rules.get(id);
                if rule.stratum > stratum {
                    let needed = self.later.len().max(rule.stratum as usize + 1);
                    self.later.resize_with(needed, Vec::new);
                    self.later[rule.stratum as usize].push(id);
                    continue;
                }
                if !self.holds(automaton, rule) {
                    continue;
                }
            }
            self.follow(automaton, waiting.aim);
        }
    }

    #[inline]
    fn holds(&self, automaton: &TreeAutomaton, rule: &Rule) -> bool {
        let serial = self.open[self.depth - 1].serial;
        automaton.rules.literals(rule).iter().all(|&literal| self.is_so(automaton, literal, serial))
    }

    #[inline]
    fn is_so(&self, automaton: &TreeAutomaton, literal: Literal, serial: u32) -> bool {
        let so = if literal.is_summed() {
            automaton.atoms.test(literal.atom()).is_some_and(|(subject, test)| {
                let current = &self.current[subject as usize];
                current.of == serial && current.summary.passes(test)
            })
        } else {
            self.states[literal.atom() as usize].so == serial
        };
        so != literal.is_negated()
    }

    /// A rule holds for the innermost open element.
    fn follow(&mut self, automaton: &TreeAutomaton, aim: Aim) {
        match aim {
            Aim::One(target) => self.reach(automaton, target),
            Aim::Several(several) => self.reach_all(automaton, several),
        }
    }

    /// What was told because of a sibling need not be told again: all ways lead up from the parent.
    fn reach_all(&mut self, automaton: &TreeAutomaton, several: u32) {
        let targets = automaton.rules.targets(several);
        let serial = self.open[self.depth - 1].serial;
        targets.same.iter().for_each(|&atom| self.note(atom, serial));
        if self.depth > 1 {
            let parent = self.open[self.depth - 2].serial;
            if std::mem::replace(&mut self.sent[several as usize], parent) == parent {
                return;
            }
            if !targets.parents.is_empty() {
                for at in self.ats(self.depth - 2).iter() {
                    targets.of_parent(at).for_each(|target| self.reach(automaton, target));
                }
            }
        }
        targets.others.iter().for_each(|&target| self.reach(automaton, target));
    }

    fn reach(&mut self, automaton: &TreeAutomaton, target: Target) {
        match target {
            Target::Subscription { way, expression } => {
                if self.along(automaton, way) != NONE {
                    self.found(expression);
                }
            }
            Target::Above { way, atom } => {
                let level = self.along(automaton, way);
                if level == NONE {
                    return;
                }
                let way = automaton.ways.get(way);
                if way.any {
                    self.tell_all(level as usize, way.end(), atom);
                } else {
                    self.tell_once(level as usize, atom);
                }
            }
            Target::Same(atom) => self.note(atom, self.open[self.depth - 1].serial),
        }
    }

    /// The level that a way leads to from the innermost open element, the nearest if there are several, or none.
    #[inline]
    fn along(&mut self, automaton: &TreeAutomaton, way: WayId) -> u32 {
        let serial = self.open[self.depth - 1].serial;
        let (of, level) = self.reached[way as usize];
        if of == serial {
            return level;
        }
        let level = self.walk(automaton, way).map_or(NONE, |level| level as u32);
        self.reached[way as usize] = (serial, level);
        level
    }

    fn walk(&self, automaton: &TreeAutomaton, way: WayId) -> Option<usize> {
        let way = automaton.ways.get(way);
        let fixed = way.steps.len() - usize::from(way.any);
        let mut level = self.depth - 1;
        for (place, &(up, at)) in way.steps.iter().enumerate() {
            level = level.checked_sub(up as usize)?;
            if place < fixed && !self.is(level, at) {
                return None;
            }
        }
        Some(level)
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
