//! What a publisher will publish: a set of root-to-leaf paths, as a small automaton.
//!
//! Written as in "Routing of XML and XPath Queries in Data Dissemination Networks": steps `/a` and `/*`, and groups
//! `(/b/c)+` that occur once or more often, in series or within one another. Where a schema is too recursive for that,
//! the schema's graph is the advertisement: `{#=news;news=item;item!=p;p!=em;em!=em}` lists for each element, and for
//! the document node `#`, what may stand in it; `!` marks elements that may be leaves.
//!
//! Either way one state stands for one step or element (the construction of Glushkov), so a state has one name, and
//! state 0 is the document node. Reading is linear; a group within a group is bounded in depth, all in size.

use hashbrown::HashMap;
use rustc_hash::FxHashMap;

use crate::names::{NameId, Names, NamespaceId};

/// Characters of all texts of one advertisement.
const LENGTH: usize = 4 << 20;
/// States of one advertisement.
const STATES: usize = 1 << 17;
/// Transitions of one advertisement.
const TRANSITIONS: usize = 1 << 22;
/// Groups within one another.
const NESTING: usize = 64;

/// A text that is no advertisement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvertisementError {
    /// The text.
    pub text: String,
    /// What is wrong.
    pub message: String,
    /// Where, in characters from 1.
    pub column: usize,
}

/// A set of root-to-leaf paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advertisement {
    /// By state: the element's name; none is any name.
    pub(super) labels: Vec<Option<NameId>>,
    /// By state: what may stand directly below.
    pub(super) follow: Vec<Vec<u32>>,
    /// By state: whether the element may be a leaf.
    pub(super) last: Vec<bool>,
}

/// A part of a path: where it begins and where it ends.
struct Fragment {
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Advertisement {
    pub(super) fn parse(
        texts: &[String],
        namespaces: &[(Box<str>, Box<str>)],
        names: &mut Names,
    ) -> Result<Self, AdvertisementError> {
        let mut made = Self { labels: vec![None], follow: vec![Vec::new()], last: vec![false] };
        let mut length = 0;
        for text in texts {
            length += text.len();
            let mut parser = Parser { text, at: 0, made, names, namespaces, transitions: 0 };
            if length > LENGTH {
                return Err(parser.error("an advertisement of more than 4 MiB is refused"));
            }
            if text.starts_with('{') {
                parser.graph()?;
            } else {
                let whole = parser.sequence(0)?;
                if parser.at < text.len() {
                    return Err(parser.error("expected '/', '(' or the end"));
                }
                parser.made.follow[0].extend(&whole.first);
                whole.last.iter().for_each(|&state| parser.made.last[state as usize] = true);
            }
            made = parser.made;
        }
        made.follow.iter_mut().for_each(|states| {
            states.sort_unstable();
            states.dedup();
        });
        Ok(made)
    }

    /// How many states there are, the document node included.
    pub fn states(&self) -> usize {
        self.labels.len()
    }

    /// Whether a root-to-leaf path is advertised; names are `(uri, local)`.
    pub fn accepts<'a>(&self, path: impl IntoIterator<Item = (&'a str, &'a str)>, names: &Names) -> bool {
        let mut now = vec![0];
        for (uri, local) in path {
            let name = names.resolve(names.namespace(uri), local).name;
            now = self.after(&now, Some(name));
        }
        now.iter().any(|&state| self.last[state as usize])
    }

    /// Where an element so named may stand below some states; none is a name that nobody knows.
    fn after(&self, now: &[u32], name: Option<NameId>) -> Vec<u32> {
        let below = now.iter().flat_map(|&state| &self.follow[state as usize]).copied();
        let mut next: Vec<u32> = below
            .filter(|&state| match (self.labels[state as usize], name) {
                (None, _) => true,
                (Some(label), Some(name)) => label == name,
                (Some(_), None) => false,
            })
            .collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Whether every path of the other is one of this. Gives up, with no, after `budget` pairs of sets.
    pub fn covers(&self, other: &Self, budget: usize) -> bool {
        let mut seen: HashMap<(u32, Vec<u32>), ()> = HashMap::default();
        let mut open = vec![(0, vec![0])];
        while let Some((state, mine)) = open.pop() {
            for &next in &other.follow[state as usize] {
                // Any name includes one that nobody knows, for which the fewest states are reached.
                let reached = self.after(&mine, other.labels[next as usize]);
                let ends = reached.iter().any(|&each| self.last[each as usize]);
                if other.last[next as usize] && !ends || seen.len() > budget {
                    return false;
                }
                if seen.insert((next, reached.clone()), ()).is_none() {
                    open.push((next, reached));
                }
            }
        }
        true
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    made: Advertisement,
    names: &'a mut Names,
    namespaces: &'a [(Box<str>, Box<str>)],
    transitions: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: &str) -> AdvertisementError {
        let column = self.text[..self.at].chars().count() + 1;
        AdvertisementError { text: self.text.to_owned(), message: message.to_owned(), column }
    }

    fn eat(&mut self, what: char) -> bool {
        let there = self.text[self.at..].starts_with(what);
        self.at += if there { what.len_utf8() } else { 0 };
        there
    }

    /// Steps and groups one after the other.
    fn sequence(&mut self, depth: usize) -> Result<Fragment, AdvertisementError> {
        let mut whole: Option<Fragment> = None;
        loop {
            let part = if self.eat('/') {
                let state = self.step()?;
                Fragment { first: vec![state], last: vec![state] }
            } else if self.eat('(') {
                if depth == NESTING {
                    return Err(self.error("groups are more than 64 deep"));
                }
                let group = self.sequence(depth + 1)?;
                if !(self.eat(')') && self.eat('+')) {
                    return Err(self.error("expected ')+', the end of a group"));
                }
                self.link(&group.last, &group.first)?;
                group
            } else {
                return whole.ok_or_else(|| self.error("expected a step such as '/a', or a group '('"));
            };
            whole = Some(match whole {
                None => part,
                Some(before) => {
                    self.link(&before.last, &part.first)?;
                    Fragment { first: before.first, last: part.last }
                }
            });
        }
    }

    fn link(&mut self, from: &[u32], to: &[u32]) -> Result<(), AdvertisementError> {
        self.transitions += from.len() * to.len();
        if self.transitions > TRANSITIONS {
            return Err(self.error("the advertisement is too large"));
        }
        from.iter().for_each(|&state| self.made.follow[state as usize].extend(to));
        Ok(())
    }

    fn step(&mut self) -> Result<u32, AdvertisementError> {
        let label = if self.eat('*') { None } else { Some(self.name()?) };
        self.state(label)
    }

    fn state(&mut self, label: Option<NameId>) -> Result<u32, AdvertisementError> {
        if self.made.labels.len() >= STATES {
            return Err(self.error("the advertisement is too large"));
        }
        self.made.labels.push(label);
        self.made.follow.push(Vec::new());
        self.made.last.push(false);
        Ok(self.made.labels.len() as u32 - 1)
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| "/()+*{}=;,!#".contains(c) || c.is_whitespace()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn name(&mut self) -> Result<NameId, AdvertisementError> {
        let start = self.at;
        let word = self.word();
        let (prefix, local) = word.split_once(':').map_or(("", word), |(prefix, local)| (prefix, local));
        if local.is_empty() || local.contains(':') {
            self.at = start;
            return Err(self.error("expected a name"));
        }
        let bound = self.namespaces.iter().find(|(name, _)| **name == *prefix).map(|(_, uri)| &**uri);
        let namespace = match (bound, prefix) {
            (Some(uri), _) => self.names.intern_namespace(uri),
            (None, "") => NamespaceId::NONE,
            (None, "xml") => self.names.intern_namespace("http://www.w3.org/XML/1998/namespace"),
            (None, _) => {
                self.at = start;
                return Err(self.error("no namespace is bound to this prefix"));
            }
        };
        Ok(self.names.intern(namespace, local))
    }

    /// `{#=root,…;name!=child,…;…}`
    fn graph(&mut self) -> Result<(), AdvertisementError> {
        self.eat('{');
        let mut states: FxHashMap<NameId, u32> = FxHashMap::default();
        loop {
            let parent = if self.eat('#') { 0 } else { self.element(&mut states)? };
            if self.eat('!') {
                self.made.last[parent as usize] = parent != 0;
            }
            if !self.eat('=') {
                return Err(self.error("expected '=' and what may stand in the element"));
            }
            while !(self.text[self.at..].starts_with(';') || self.text[self.at..].starts_with('}')) {
                let child = self.element(&mut states)?;
                self.link(&[parent], &[child])?;
                if !self.eat(',') {
                    break;
                }
            }
            if self.eat('}') {
                break;
            }
            if !self.eat(';') {
                return Err(self.error("expected ',', ';' or '}'"));
            }
        }
        if self.at < self.text.len() {
            return Err(self.error("expected the end"));
        }
        Ok(())
    }

    fn element(&mut self, states: &mut FxHashMap<NameId, u32>) -> Result<u32, AdvertisementError> {
        let name = self.name()?;
        if let Some(&state) = states.get(&name) {
            return Ok(state);
        }
        let state = self.state(Some(name))?;
        states.insert(name, state);
        Ok(state)
    }
}
