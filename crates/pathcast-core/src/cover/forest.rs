//! A set of expressions with the uncovered ones at its roots.
//!
//! This is the subscription tree of "Routing of XML and XPath Queries in Data Dissemination Networks": a parent covers
//! its children, so only roots have to be forwarded. A new expression that a root covers becomes a child of it; one
//! that nothing covers becomes a root and takes the roots that it covers as children. When a root leaves, each of its
//! children finds another root or becomes one: what was hidden surfaces.
//!
//! Invariants: no root covers another; every other expression is covered by its parent. Plain paths are found by
//! names that follow each other ([`Chains`]), otherwise through a [`Trie`], and tree patterns by what they require and
//! what is present in them ([`Twigs`]), so an insertion does not compare with everyone. Expressions without a linear path
//! (`not(//a)`) are kept in a list of which only the first [`LOOSE`] are looked at. At most [`VERIFIED`] proofs are
//! tried for a new expression, and [`SEEN`] others looked at that it may cover, where one of both is a tree pattern:
//! beyond that coverings are missed, which costs messages and never a document.

use std::cell::Cell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::atoms::present;
use super::chains::Chains;
use super::newcomer::Newcomer;
use super::registry::{Expression, Handle, Registry};
use super::trie::{Role, Trie, bit};
use super::twigs::Twigs;
use super::word::Word;

/// Expressions without a path that a new one is compared with.
const LOOSE: usize = 64;
/// Tree patterns that a new expression is compared with.
const VERIFIED: usize = 256;
/// Expressions that are looked at for those that a tree pattern covers, or for tree patterns that are covered.
const SEEN: usize = 1_024;

/// What became of an expression that was inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is covered by this root.
    Covered(Handle),
    /// It is a root, and these were roots until now.
    Root(Vec<Handle>),
}

/// What has changed when an expression was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Whether it was a root.
    pub was_root: bool,
    /// Those that are roots now and were not.
    pub surfaced: Vec<Handle>,
    /// Those that were roots and are not: one that surfaced may be proven to cover what the one before was not.
    pub hidden: Vec<Handle>,
}

#[derive(Clone, Debug)]
struct Member {
    expression: Arc<Expression>,
    /// The one that covers it, and its place among the children there.
    parent: Option<(Handle, u32)>,
    children: Vec<Handle>,
}

/// Expressions, covered ones below those that cover them.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    members: FxHashMap<Handle, Member>,
    chains: Chains,
    trie: Trie,
    twigs: Twigs,
    loose: Vec<Handle>,
    roots: usize,
    /// How many of them are plain paths.
    plain: usize,
    /// How many of them may cover others and are found by a path alone.
    by_path: usize,
}

impl Forest {
    /// Adds an expression under a number that is not in use here.
    pub fn insert(&mut self, handle: Handle, expression: Arc<Expression>, registry: &Registry) -> Inserted {
        if self.chains.is_stale() {
            self.chains.forget_specifics();
            for (&root, member) in self.members.iter().filter(|(_, member)| member.parent.is_none()) {
                if let Some(path) = &member.expression.linear {
                    self.chains.insert_specific(path, root);
                }
            }
        }
        if self.twigs.is_stale() {
            self.twigs.forget_specifics();
            for (&root, member) in self.members.iter().filter(|(_, member)| member.parent.is_none()) {
                if !member.expression.is_linear() {
                    self.twigs.insert_specific(&present(&member.expression.condition, registry.seed), root);
                }
            }
        }
        let newcomer = Newcomer::new(handle, &expression, registry);
        let covering = self.find_covering(&newcomer);
        let member = Member { expression: expression.clone(), parent: None, children: Vec::new() };
        self.members.insert(handle, member);
        match covering {
            Some(root) => {
                self.adopt(root, handle);
                Inserted::Covered(root)
            }
            None => Inserted::Root(self.plant(&newcomer)),
        }
    }

    /// Takes an expression out.
    pub fn remove(&mut self, handle: Handle, registry: &Registry) -> Option<Removed> {
        let member = self.members.get(&handle)?.clone();
        let mut removed = Removed { was_root: member.parent.is_none(), ..Removed::default() };
        if let Some((parent, _)) = member.parent {
            self.disown(handle);
            self.members.remove(&handle);
            for child in member.children {
                self.adopt(parent, child);
            }
            return Some(removed);
        }
        self.unplant(handle, &member.expression);
        self.members.remove(&handle);
        if self.members.is_empty() {
            self.chains = Chains::default();
        }
        for child in member.children {
            let Some(orphan) = self.members.get_mut(&child) else { continue };
            orphan.parent = None;
            let expression = orphan.expression.clone();
            let newcomer = Newcomer::new(child, &expression, registry);
            if let Some(root) = self.find_covering(&newcomer) {
                self.adopt(root, child);
                continue;
            }
            for hidden in self.plant(&newcomer) {
                match removed.surfaced.iter().position(|&root| root == hidden) {
                    Some(at) => drop(removed.surfaced.swap_remove(at)),
                    None => removed.hidden.push(hidden),
                }
            }
            removed.surfaced.push(child);
        }
        Some(removed)
    }

    /// Makes a member a root; answers with the roots that it hides.
    fn plant(&mut self, newcomer: &Newcomer<'_>) -> Vec<Handle> {
        let Newcomer { handle, expression, .. } = *newcomer;
        let hidden = self.find_covered(newcomer);
        for &root in &hidden {
            if let Some(expression) = self.members.get(&root).map(|member| member.expression.clone()) {
                self.unplant(root, &expression);
            }
            self.adopt(handle, root);
        }
        self.store(newcomer);
        if needs_list(expression) {
            self.loose.push(handle);
        }
        self.roots += 1;
        self.plain += usize::from(expression.is_linear());
        hidden
    }

    fn unplant(&mut self, handle: Handle, expression: &Expression) {
        self.discard(expression, handle);
        if needs_list(expression) {
            self.loose.retain(|&each| each != handle);
        }
        self.roots -= 1;
        self.plain -= usize::from(expression.is_linear());
    }

    /// Makes a root one that is found.
    fn store(&mut self, newcomer: &Newcomer<'_>) {
        let Newcomer { handle, expression, .. } = *newcomer;
        if let Some(path) = &expression.linear {
            let has_chain = self.chains.insert_general(path, handle);
            self.trie.insert(path, handle, if has_chain { Role::Had } else { Role::Both });
            self.chains.insert_specific(path, handle);
            self.by_path += 1;
        } else {
            if !self.twigs.insert_general(newcomer.required(), handle) {
                self.by_path += 1;
                for path in &expression.needed {
                    self.trie.insert(path, handle, Role::Needed);
                }
            }
            self.twigs.insert_specific(newcomer.present(), handle);
        }
    }

    /// Undoes what [`Forest::store`] did.
    fn discard(&mut self, expression: &Expression, handle: Handle) {
        if let Some(path) = &expression.linear {
            let has_chain = self.chains.remove_general(path, handle);
            self.trie.remove(path, handle, if has_chain { Role::Had } else { Role::Both });
            self.chains.forget_specific(path);
            self.by_path -= 1;
        } else {
            if !self.twigs.remove_general(handle) {
                self.by_path -= 1;
                for path in &expression.needed {
                    self.trie.remove(path, handle, Role::Needed);
                }
            }
            self.twigs.forget_specific(handle);
        }
    }

    fn adopt(&mut self, parent: Handle, child: Handle) {
        let Some(family) = self.members.get_mut(&parent) else { return };
        family.children.push(child);
        let place = family.children.len() as u32 - 1;
        if let Some(member) = self.members.get_mut(&child) {
            member.parent = Some((parent, place));
        }
    }

    fn disown(&mut self, child: Handle) {
        let Some((parent, place)) = self.members.get_mut(&child).and_then(|member| member.parent.take())
        else {
            return;
        };
        let Some(family) = self.members.get_mut(&parent) else { return };
        family.children.swap_remove(place as usize);
        if let Some(&moved) = family.children.get(place as usize)
            && let Some(member) = self.members.get_mut(&moved)
        {
            member.parent = Some((parent, place));
        }
    }

    /// A root that covers an expression.
    fn find_covering(&self, newcomer: &Newcomer<'_>) -> Option<Handle> {
        let Newcomer { expression, registry, .. } = *newcomer;
        let found = Cell::new(None);
        let mut tried = 0;
        let mut visit = |handle: Handle| {
            let general = &self.members[&handle].expression;
            // Between linear paths the search itself has decided.
            let decided = general.is_linear() && expression.is_linear();
            if decided || newcomer.is_covered_by(general) {
                found.set(Some(handle));
                return true;
            }
            tried += 1;
            tried >= VERIFIED
        };
        let paths = expression.linear.iter().chain(&expression.had);
        for path in paths.take(if self.by_path > 0 { usize::MAX } else { 0 }) {
            let word = Word::new(path, &registry.names);
            let enough = self.chains.covering(path, &mut |handle| {
                let general = self.members[&handle].expression.linear.as_ref();
                general.is_some_and(|general| word.is_covered_by(general, &registry.names)) && visit(handle)
            });
            if enough {
                return found.get();
            }
            self.trie.covering(&word, &registry.names, &mut visit);
            if found.get().is_some() {
                return found.get();
            }
        }
        if !self.twigs.is_empty() {
            self.twigs.covering(newcomer.present(), &mut visit);
            if found.get().is_some() {
                return found.get();
            }
        }
        self.loose
            .iter()
            .take(LOOSE)
            .copied()
            .find(|handle| newcomer.is_covered_by(&self.members[handle].expression))
    }

    /// The other roots that an expression covers.
    fn find_covered(&self, newcomer: &Newcomer<'_>) -> Vec<Handle> {
        let Newcomer { expression, registry, .. } = *newcomer;
        let mut found: Vec<Handle> = Vec::new();
        if expression.is_linear() {
            self.paths_below(newcomer, &mut |root| {
                found.push(root);
                false
            });
        } else {
            self.paths_covered_by_twig(newcomer, &mut found);
        }
        if self.twigs.has_specifics() {
            self.twigs_covered(newcomer, &mut found);
        }
        let listed = self.loose.iter().take(LOOSE).copied();
        found.extend(listed.filter(|handle| registry.covers(expression, &self.members[handle].expression)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The tree patterns that an expression covers, by their atoms.
    fn twigs_covered(&self, newcomer: &Newcomer<'_>, found: &mut Vec<Handle>) {
        let Newcomer { expression, registry, .. } = *newcomer;
        let (mut tried, mut seen) = (0, 0);
        self.twigs.covered(newcomer.required(), &mut |root| {
            let specific = &self.members[&root].expression;
            seen += 1;
            // A path covers one that every document has: quicker to see than to prove.
            let may_be = expression.linear.as_ref().is_none_or(|path| {
                let below = |had| Word::new(had, &registry.names).is_covered_by(path, &registry.names);
                specific.had.iter().any(below)
            });
            if may_be {
                tried += 1;
                if registry.covers(expression, specific) {
                    found.push(root);
                }
            }
            tried >= VERIFIED || seen >= SEEN
        });
    }

    /// The plain paths that a tree pattern covers, which are few: by a path that it needs.
    fn paths_covered_by_twig(&self, newcomer: &Newcomer<'_>, found: &mut Vec<Handle>) {
        let Newcomer { expression, registry, .. } = *newcomer;
        let required = newcomer.required();
        if self.plain == 0 || required.is_valued {
            return;
        }
        let (mut tried, mut seen) = (0, 0);
        self.paths_below(newcomer, &mut |root| {
            let specific = &self.members[&root].expression;
            let steps = specific.linear.iter().flat_map(|path| &path.steps);
            let names = steps.fold(0, |all, step| all | bit(step.name));
            seen += 1;
            if required.names & !names == 0 {
                tried += 1;
                if registry.covers(expression, specific) {
                    found.push(root);
                }
            }
            tried >= VERIFIED || seen >= SEEN
        });
    }

    /// Gives the plain paths among the roots that a path covers which an expression needs.
    fn paths_below(&self, newcomer: &Newcomer<'_>, visit: &mut impl FnMut(Handle) -> bool) {
        let Newcomer { handle, expression, registry, .. } = *newcomer;
        for path in expression.linear.iter().chain(&expression.needed) {
            let is_known = self.chains.covered(path, &mut |other| {
                let member = self.members.get(&other).filter(|member| member.parent.is_none());
                let specific = member.and_then(|member| member.expression.linear.as_ref());
                other != handle
                    && specific.is_some_and(|specific| {
                        Word::new(specific, &registry.names).is_covered_by(path, &registry.names)
                    })
                    && visit(other)
            });
            if !is_known {
                self.trie.covered(path, &registry.names, visit);
            }
        }
    }

    /// Whether an expression is here.
    pub fn contains(&self, handle: Handle) -> bool {
        self.members.contains_key(&handle)
    }

    /// Whether an expression is a root.
    pub fn is_root(&self, handle: Handle) -> bool {
        self.members.get(&handle).is_some_and(|member| member.parent.is_none())
    }

    /// The roots, in no order.
    pub fn roots(&self) -> impl Iterator<Item = Handle> + '_ {
        self.members.iter().filter(|(_, member)| member.parent.is_none()).map(|(&handle, _)| handle)
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// How many roots there are.
    pub fn root_count(&self) -> usize {
        self.roots
    }

    /// Heap bytes held by the structure, without the expressions.
    pub fn memory_bytes(&self) -> usize {
        self.trie.memory_bytes()
            + self.twigs.memory_bytes()
            + self.chains.memory_bytes()
            + self.members.capacity() * (size_of::<Member>() + 8)
            + self.members.values().map(|member| member.children.capacity() * 4).sum::<usize>()
    }
}

/// Whether no path leads to an expression.
fn needs_list(expression: &Expression) -> bool {
    !expression.is_linear() && (expression.needed.is_empty() || expression.had.is_empty())
}
