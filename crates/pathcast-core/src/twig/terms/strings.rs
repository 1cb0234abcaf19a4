//! Functions on strings and names.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;
use memchr::memmem;

use super::values::round;
use super::{Context, Ref, TermId};
use crate::pattern::Term;
use crate::twig::evaluate::Evaluator;
use crate::xpath::ast::Function;

impl<'a> Evaluator<'a> {
    /// A function whose value is a string.
    pub(super) fn string_function(
        &mut self,
        function: Function,
        term: TermId,
        parts: &[TermId],
        context: Context,
    ) -> Cow<'a, str> {
        let tree = self.tree;
        if let Function::Name | Function::LocalName | Function::NamespaceUri = function {
            let node = self.nodes(parts[0], context).first().copied();
            return Cow::Borrowed(match (node, function) {
                (None, _) => "",
                (Some(node), Function::Name) => tree.label(node).name,
                (Some(node), Function::LocalName) => tree.label(node).local,
                (Some(node), _) => tree.label(node).uri,
            });
        }
        if function == Function::Concat {
            let mut joined = String::new();
            for &part in parts {
                let text = self.text(part, context);
                self.spend(text.len());
                if self.is_spent() {
                    return Cow::Borrowed("");
                }
                joined.push_str(&text);
            }
            return Cow::Owned(joined);
        }
        let text = self.text(parts[0], context);
        match function {
            Function::String => text,
            Function::SubstringBefore | Function::SubstringAfter => {
                let part = self.text(parts[1], context);
                self.spend((text.len() + part.len()) / 16);
                let found = memmem::find(text.as_bytes(), part.as_bytes());
                match (found, function) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(at), Function::SubstringBefore) => slice(text, 0, at),
                    (Some(at), _) => {
                        let end = text.len();
                        slice(text, at + part.len(), end)
                    }
                }
            }
            Function::Substring => {
                let from = self.number(parts[1], context);
                let length = parts.get(2).map(|&length| self.number(length, context));
                self.spend(text.len() / 4);
                let (start, end) = substring(&text, from, length);
                slice(text, start, end)
            }
            Function::NormalizeSpace => {
                self.spend(text.len() / 4);
                normalized(text)
            }
            Function::Translate => {
                let table = self.table(term, parts, context);
                self.spend(text.len());
                let translate = |character: char| table.get(&character).map_or(Some(character), |to| *to);
                Cow::Owned(text.chars().filter_map(translate).collect())
            }
            Function::LowerCase => {
                self.spend(text.len());
                Cow::Owned(text.to_lowercase())
            }
            Function::UpperCase => {
                self.spend(text.len());
                Cow::Owned(text.to_uppercase())
            }
            _ => Cow::Borrowed(""),
        }
    }

    /// A function of strings that says yes or no.
    pub(super) fn string_test(&mut self, function: Function, parts: &[TermId], context: Context) -> bool {
        let Some(&first) = parts.first() else { return false };
        let text = self.text(first, context);
        let Some(&second) = parts.get(1) else { return false };
        if function == Function::Lang {
            let node = self.nodes(second, context).first().copied();
            return node.is_some_and(|node| self.speaks(node, &text));
        }
        let part = self.text(second, context);
        self.spend((text.len() + part.len()) / 16);
        match function {
            Function::StartsWith => text.starts_with(&*part),
            Function::EndsWith => text.ends_with(&*part),
            Function::Contains => memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
            Function::Matches => {
                let flags = parts.get(2).map_or(Cow::Borrowed(""), |&flags| self.text(flags, context));
                let budget = &mut self.budget;
                self.memory.terms.patterns.is_match(&part, &flags, &text, |steps| {
                    budget.spend(steps);
                    !budget.is_spent()
                })
            }
            _ => false,
        }
    }

    /// Whether the nearest `xml:lang` is a language or one of its dialects.
    fn speaks(&mut self, node: Ref, wanted: &str) -> bool {
        let tree = self.tree;
        let mut at = Some(node.owner());
        while let Some(element) = at {
            self.spend(1);
            let (first, end) = tree.attribute_range(element);
            let told = (first..end).find(|&attribute| {
                let label = tree.label(Ref::attribute(element, attribute));
                label.local == "lang" && label.uri == "http://www.w3.org/XML/1998/namespace"
            });
            if let Some(attribute) = told {
                let language = tree.attribute_value(attribute).as_bytes();
                let wanted = wanted.as_bytes();
                return language.len() >= wanted.len()
                    && language[..wanted.len()].eq_ignore_ascii_case(wanted)
                    && matches!(language.get(wanted.len()), None | Some(b'-'));
            }
            at = tree.parent(element);
        }
        false
    }

    /// What `translate()` makes of each character; remembered if it is the same everywhere.
    fn table(
        &mut self,
        term: TermId,
        parts: &[TermId],
        context: Context,
    ) -> Arc<HashMap<char, Option<char>>> {
        let arena = self.arena;
        let fixed = parts[1..].iter().all(|&part| matches!(arena.term(part), Term::Text(_)));
        if fixed && let Some(known) = self.memory.terms.tables.get(&term) {
            return Arc::clone(known);
        }
        let (from, to) = (self.text(parts[1], context), self.text(parts[2], context));
        self.spend(from.len());
        let mut table = HashMap::default();
        let mut to = to.chars();
        for character in from.chars() {
            let other = to.next();
            table.entry(character).or_insert(other);
        }
        let table = Arc::new(table);
        if fixed {
            self.memory.terms.tables.insert(term, Arc::clone(&table));
        }
        table
    }
}

fn slice(text: Cow<'_, str>, start: usize, end: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }
}

/// The bytes of the characters whose positions are at least `from`, rounded, and less than that and a length, rounded.
fn substring(text: &str, from: f64, length: Option<f64>) -> (usize, usize) {
    let first = round(from);
    let end = length.map(|length| first + round(length));
    let within = |position: f64| position >= first && end.is_none_or(|end| position < end);
    let mut bytes: Option<(usize, usize)> = None;
    for (index, (at, character)) in text.char_indices().enumerate() {
        if within((index + 1) as f64) {
            let after = at + character.len_utf8();
            bytes = Some((bytes.map_or(at, |(start, _)| start), after));
        } else if bytes.is_some() {
            break;
        }
    }
    bytes.unwrap_or((0, 0))
}

/// A text without leading and trailing spaces, and with one space where there were several.
pub(crate) fn normalized(text: Cow<'_, str>) -> Cow<'_, str> {
    let space = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    let clean = |text: &str| {
        let bytes = text.as_bytes();
        let foreign = |byte: &u8| matches!(byte, b'\t' | b'\r' | b'\n');
        !text.starts_with(' ') && !text.ends_with(' ') && !bytes.iter().any(foreign) && !text.contains("  ")
    };
    if clean(&text) {
        return text;
    }
    let words: Vec<&str> = text.split(space).filter(|word| !word.is_empty()).collect();
    Cow::Owned(words.join(" "))
}
