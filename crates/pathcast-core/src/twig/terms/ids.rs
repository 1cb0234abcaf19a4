//! `id()`: the elements that values identify.
//!
//! An attribute identifies its element if the internal subset declares it as an ID, or if it is `xml:id`. Of two elements
//! with the same value the first has it. The table is made once a document, when somebody asks.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::{Context, Ref, TermId};
use crate::twig::evaluate::Evaluator;
use crate::twig::tree::NodeId;
use crate::xpath::ast::Type;

impl Evaluator<'_> {
    /// The elements that the words of a value identify; of nodes, those of each.
    pub(super) fn identified(&mut self, value: TermId, context: Context) -> Vec<Ref> {
        let nodes = match self.arena.facts(value).kind {
            Type::Nodes => Some(self.nodes(value, context)),
            _ => None,
        };
        let text = if nodes.is_none() { self.text(value, context) } else { Cow::Borrowed("") };
        self.spend(text.len() / 16);
        let ids = self.memory.terms.ids.take().unwrap_or_else(|| self.table_of_ids());
        let mut found = Vec::new();
        add(&ids, &text, &mut found);
        for &node in nodes.iter().flat_map(|nodes| nodes.iter()) {
            add(&ids, self.value_of(node), &mut found);
        }
        self.memory.terms.ids = Some(ids);
        self.spend(found.len());
        found.sort_unstable();
        found.dedup();
        found
    }

    fn table_of_ids(&mut self) -> HashMap<Box<str>, NodeId> {
        let ids = self.tree.ids();
        self.spend(ids.len());
        // Strangers write the values: a seeded hash.
        let mut table: HashMap<Box<str>, NodeId> = HashMap::with_capacity(ids.len());
        for (value, element) in ids {
            if !table.contains_key(value) {
                table.insert(value.into(), element);
            }
        }
        table
    }
}

fn add(ids: &HashMap<Box<str>, NodeId>, text: &str, found: &mut Vec<Ref>) {
    let words = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    found.extend(words.filter_map(|word| ids.get(word)).map(|&element| Ref::node(element)));
}
