//! The automaton as tables of an image.
//!
//! The tests of each subject follow from the atoms and are collected again; what documents were seen to make so is forgotten.

use std::io;
use std::sync::{Arc, RwLock};

use super::TreeAutomaton;
use super::atoms::{Atoms, Tests};
use super::constants::Constants;
use super::keys::Keys;
use super::place::Places;
use super::rules::{RuleId, Rules};
use super::subjects::Subjects;
use super::ways::Ways;
use crate::image::{ImageError, Reader, Writer};

impl TreeAutomaton {
    pub(crate) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.constants.store(image)?;
        self.subjects.store(image)?;
        self.places.store(image)?;
        self.ways.store(image)?;
        self.atoms.store(image)?;
        self.rules.store(image)?;
        image.items(&self.held)?;
        let mut many: Vec<_> = self.held_many.iter().collect();
        many.sort_unstable_by_key(|(expression, _)| **expression);
        image.number(many.len())?;
        image.each(many.iter().map(|(expression, _)| **expression))?;
        image.lists(many.iter().map(|(_, rules)| &***rules))?;
        image.number(self.expressions)?;
        image.number(self.chosen_for)?;
        self.keys().store(image)
    }

    /// The automaton of so many names.
    pub(crate) fn opened(image: &mut Reader<'_>, names: usize) -> Result<Self, ImageError> {
        let (constants, subjects) = (Constants::opened(image)?, Subjects::opened(image)?);
        let (places, ways) = (Places::opened(image, names)?, Ways::opened(image)?);
        let (atoms, rules) = (Atoms::opened(image)?, Rules::opened(image)?);
        let mut tests = vec![Tests::default(); subjects.bound()];
        for (atom, subject, test) in atoms.tests() {
            let known = test.text().is_none_or(|text| constants.has(text));
            let tests = tests.get_mut(subject as usize).filter(|_| known).ok_or(ImageError::Damaged)?;
            tests.insert(test, atom, &constants);
        }
        let held = image.items()?;
        let many: Vec<u32> = image.items()?;
        let held_many = many.into_iter().zip(image.lists::<RuleId, Box<[RuleId]>>()?).collect();
        Ok(Self {
            constants,
            subjects,
            tests,
            places,
            ways,
            atoms,
            rules,
            held,
            held_many,
            expressions: image.number()?,
            chosen_for: image.number()?,
            keys: RwLock::new(Arc::new(Keys::opened(image)?)),
            ..Self::default()
        })
    }
}
