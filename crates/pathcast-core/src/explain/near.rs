//! What is nearly what a step asks for: the same name in another case or another namespace.

use crate::pattern::{NameTest, NodeTest, TermStep};
use crate::select::Picture;
use crate::twig::{Evaluator, Ref};
use crate::xpath::ast::Axis;

/// Sentences about nodes that the axis leads to and whose names are nearly the one asked for.
pub(super) fn misses(
    local: &str,
    axis: Axis,
    from: &[Ref],
    picture: &Picture,
    evaluator: &mut Evaluator<'_>,
) -> Vec<String> {
    let any = TermStep { axis, test: NodeTest::Element(NameTest::Any), predicates: Vec::new() };
    let mut hints: Vec<String> = Vec::new();
    for node in evaluator.step(&any, from, false) {
        let label = picture.tree.label(node);
        let hint = if label.local == local {
            match label.uri {
                "" => format!("`{local}` exists in no namespace"),
                uri => format!(
                    "`{local}` exists in namespace {uri}: bind a prefix to it or use ignore_namespaces"
                ),
            }
        } else if label.local.to_lowercase() == local.to_lowercase() {
            format!("`{}` exists, in another case", label.local)
        } else {
            continue;
        };
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}
