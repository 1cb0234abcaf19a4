//! Substring decompositions and substring-trees.
//!
//! A *substring* is a run of names that follow each other child by child. The minimal decomposition of a pattern cuts
//! it where it must: at `//`, at wildcards, at leaves. The simple decomposition cuts at branching nodes too, so that
//! each branching node is the end of a substring and its branches can be checked against it. Each substring reaches as
//! far up as names go, into substrings above it: long ones are rarely met. The maximal decomposition cuts at every
//! name, for comparison. Substrings make a tree: the parent is the one that ends nearest above.
//!
//! A substring is cut after 32 names, which bounds the reversed trie: without that, one hostile
//! expression of 256 steps would take a place for every pair of its steps.

use super::levels::Gap;
use super::node::Special;
use super::pattern::{Label, Mode, PatternNode};
use super::start_test::StartTest;
use pathcast_core::names::NameId;
use pathcast_core::pattern::Condition;

/// The longest substring.
const LONGEST: usize = 32;

/// Where patterns are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decomposition {
    /// At branching nodes and where it must be.
    #[default]
    Simple,
    /// At every name.
    Maximal,
    /// Only where it must be. A branching node then ends no substring, and branches that come before the one that leads
    /// on have nothing to be checked against (section 3.1 of the paper): so single paths are taken, and no trees.
    Minimal,
}

/// What a substring is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Substring {
    Names(Vec<NameId>),
    Special(Special),
    /// That of a dummy: nothing.
    Empty,
}

/// One substring of a pattern, as a row of the substring-table will have it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) substring: Substring,
    /// The piece it hangs on; the first has none.
    pub(super) parent: Option<usize>,
    pub(super) gap: Gap,
    /// Its place among the children of its parent, from 1 on.
    pub(super) rank: u32,
    pub(super) children: u32,
    pub(super) mode: Mode,
    pub(super) starts: Vec<StartTest>,
    pub(super) ends: Vec<Condition>,
}

/// The substrings of a pattern in preorder of their last nodes.
pub(super) fn decompose(root: &PatternNode, decomposition: Decomposition) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let above = Above { parent: None, rank: 1, gap: Gap::NONE, names: Vec::new(), starts: Vec::new() };
    walk(root, above, decomposition, &mut pieces);
    pieces
}

/// How many substrings a pattern has.
pub(super) fn count(root: &PatternNode, decomposition: Decomposition) -> usize {
    if decomposition == Decomposition::Minimal { longest(root) } else { decompose(root, decomposition).len() }
}

/// The substrings that no longer one contains: those that no branch carries on.
fn longest(node: &PatternNode) -> usize {
    let runs_on = |child: &PatternNode| {
        matches!((node.label, child.label), (Label::Name(_), Label::Name(_)))
            && child.gap == Gap::new(1, true)
            && node.ends.is_empty()
    };
    usize::from(!node.children.iter().any(runs_on)) + node.children.iter().map(longest).sum::<usize>()
}

/// Whether a pattern has a node with more than one branch.
pub(super) fn is_branching(node: &PatternNode) -> bool {
    node.children.len() > 1 || node.children.iter().any(is_branching)
}

/// Whether the pieces are a single path, for which simpler tables do: no branches, no dummies, and nothing that waits
/// for an end tag but at the very end.
pub(super) fn is_single_path(pieces: &[Piece]) -> bool {
    let last = pieces.len().saturating_sub(1);
    pieces.iter().enumerate().all(|(at, piece)| {
        piece.children <= 1
            && piece.substring != Substring::Empty
            && piece.gap.min > 0
            && piece.mode != Mode::Not
            && piece.substring != Substring::Special(Special::Text)
            && (piece.ends.is_empty() || at == last)
    })
}

/// Whether all branches may be found anywhere below, one level at least: then patterns share their subtrees.
pub(super) fn is_shared(pieces: &[Piece]) -> bool {
    let below = |piece: &Piece| {
        piece.gap.min > 0 || piece.parent.is_none() && piece.starts.is_empty() && piece.ends.is_empty()
    };
    pieces.iter().all(|piece| piece.mode == Mode::All && below(piece))
}

/// What is known on the way down to a node.
struct Above {
    /// The piece that ends nearest above, and the place among its children.
    parent: Option<usize>,
    rank: u32,
    /// From that piece's last node.
    gap: Gap,
    /// Names that lead to the node without a break.
    names: Vec<NameId>,
    /// Tests since that piece, by their distance to the node's parent.
    starts: Vec<StartTest>,
}

fn walk(node: &PatternNode, mut above: Above, decomposition: Decomposition, pieces: &mut Vec<Piece>) {
    above.gap = above.gap.and(node.gap);
    above.starts.iter_mut().for_each(|test| test.up += node.gap.min);
    let own = node.starts.iter().map(|condition| StartTest { up: 0, condition: condition.clone() });
    above.starts.extend(own);
    let substring = match node.label {
        Label::Name(name) => {
            if node.gap != Gap::new(1, true) || decomposition == Decomposition::Maximal {
                above.names.clear();
            }
            above.names.push(name);
            Substring::Names(above.names.clone())
        }
        Label::Special(special) => {
            above.names.clear();
            Substring::Special(special)
        }
        Label::Same => same_as_above(pieces, above.parent),
        Label::Dummy => {
            if node.gap != Gap::NONE {
                above.names.clear();
            }
            Substring::Empty
        }
    };
    if !ends_here(node, above.names.len(), decomposition) {
        return walk(&node.children[0], above, decomposition, pieces);
    }
    let at = pieces.len();
    if above.names.len() >= LONGEST {
        above.names.clear();
    }
    pieces.push(Piece {
        substring,
        parent: above.parent,
        gap: above.gap,
        rank: above.rank,
        children: node.children.len() as u32,
        mode: node.mode,
        starts: above.starts,
        ends: node.ends.clone(),
    });
    for (rank, child) in (1..).zip(&node.children) {
        let next =
            Above { parent: Some(at), rank, gap: Gap::NONE, names: above.names.clone(), starts: Vec::new() };
        walk(child, next, decomposition, pieces);
    }
}

/// The substring of the nearest piece that has one.
fn same_as_above(pieces: &[Piece], mut at: Option<usize>) -> Substring {
    while let Some(piece) = at.map(|at| &pieces[at]) {
        if piece.substring != Substring::Empty {
            return piece.substring.clone();
        }
        at = piece.parent;
    }
    Substring::Empty
}

/// Whether a substring ends at a node: unless its only child carries the run of names on.
fn ends_here(node: &PatternNode, names: usize, decomposition: Decomposition) -> bool {
    let [child] = node.children.as_slice() else { return true };
    let carries_on = matches!(child.label, Label::Name(_)) && child.gap == Gap::new(1, true);
    !carries_on
        || !matches!(node.label, Label::Name(_))
        || !node.ends.is_empty()
        || names >= LONGEST
        || decomposition == Decomposition::Maximal
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathcast_core::limits::Limits;
    use pathcast_core::names::Names;
    use pathcast_core::pattern::{Scope, normalise};

    fn shown(xpath: &str, ordered: bool, decomposition: Decomposition) -> Vec<String> {
        let mut names = Names::default();
        let parsed = pathcast_core::xpath::parse(xpath, &Limits::default()).unwrap();
        let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
        let condition = normalise(&parsed, ordered, &mut scope).unwrap();
        let pattern = super::super::pattern::tree_pattern(&condition).unwrap();
        let show = |piece: &Piece| {
            let substring = match &piece.substring {
                Substring::Names(run) => run.iter().map(|&name| names.parts(name).1).collect(),
                other => format!("{other:?}"),
            };
            let end = if piece.gap.exact { piece.gap.min.to_string() } else { "∞".to_owned() };
            let parent = piece.parent.map_or("-".to_owned(), |parent| (parent + 1).to_string());
            format!("{substring} {parent} [{},{end}] {}", piece.gap.min, piece.rank)
        };
        decompose(&pattern, decomposition).iter().map(show).collect()
    }

    /// Figure 2 of the paper: the decomposition, the substring-tree, relative levels and ranks.
    #[test]
    fn the_simple_decomposition_of_figure_2() {
        assert_eq!(
            shown("/a/b[c/d//e][g//e/f]//*/*/e/f", true, Decomposition::Simple),
            [
                "ab - [2,2] 1",
                "abcd 1 [2,2] 1",
                "e 2 [1,∞] 1",
                "abg 1 [1,1] 2",
                "ef 4 [2,∞] 1",
                "ef 1 [4,∞] 3",
            ]
        );
    }

    /// Figures 2a and 2b: five substrings, and one more for the branching node.
    #[test]
    fn the_minimal_decomposition_has_no_substring_for_branching_nodes() {
        let mut names = Names::default();
        let parsed =
            pathcast_core::xpath::parse("/a/b[c/d//e][g//e/f]//*/*/e/f", &Limits::default()).unwrap();
        let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
        let condition = normalise(&parsed, false, &mut scope).unwrap();
        let pattern = super::super::pattern::tree_pattern(&condition).unwrap();
        let counts = [Decomposition::Minimal, Decomposition::Simple, Decomposition::Maximal]
            .map(|decomposition| count(&pattern, decomposition));
        assert_eq!(counts, [5, 6, 10]); // ten names
    }

    /// Section 3.2: the decomposition of Figure 1's expression.
    #[test]
    fn the_simple_decomposition_of_figure_1() {
        assert_eq!(
            shown("//a[.//b[*/c]/d]/f", true, Decomposition::Simple),
            ["a - [1,∞] 1", "b 1 [1,∞] 1", "c 2 [2,2] 1", "bd 2 [1,1] 2", "af 1 [1,1] 2"]
        );
    }

    /// Section 4.6: two dummies, and the substrings below them reach through.
    #[test]
    fn hybrid_matching_takes_dummies() {
        let pieces =
            shown("/a[b[following-sibling::c]][d[following-sibling::e]]/f", false, Decomposition::Simple);
        let ordered = |first: &str, second: &str| {
            let at = pieces.iter().position(|piece| piece.starts_with(first)).unwrap();
            pieces[at - 1].starts_with("Empty 1 [0,0]") && pieces[at + 1].starts_with(second)
        };
        assert_eq!((pieces.len(), pieces[0].as_str()), (8, "a - [1,1] 1"));
        assert!(ordered("ab ", "ac ") && ordered("ad ", "ae "), "{pieces:?}");
        assert!(pieces.iter().any(|piece| piece.starts_with("af 1 [1,1]")), "{pieces:?}");
    }

    #[test]
    fn the_maximal_decomposition_cuts_everywhere() {
        assert_eq!(
            shown("/a/b/c//d", false, Decomposition::Maximal),
            ["a - [1,1] 1", "b 1 [1,1] 1", "c 2 [1,1] 1", "d 3 [1,∞] 1"]
        );
        assert_eq!(shown("/a/b/c//d", false, Decomposition::Simple), ["abc - [3,3] 1", "d 1 [1,∞] 1"]);
    }

    #[test]
    fn long_runs_are_cut() {
        let path = "/a".repeat(70);
        let pieces = shown(&path, false, Decomposition::Simple);
        let gaps: Vec<&str> = pieces.iter().map(|piece| piece.split(' ').nth(2).unwrap()).collect();
        assert_eq!(gaps, ["[32,32]", "[32,32]", "[6,6]"]);
    }
}
