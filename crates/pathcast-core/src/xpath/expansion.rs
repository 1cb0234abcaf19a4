//! How many terms the disjunctive normal form of an expression would have, counted without building it.
//!
//! The idea: every expression has two counts, the terms of itself and the terms of its negation. `or` adds
//! the first and multiplies the second, `and` the other way round, `not` swaps the two. A path multiplies
//! over its predicates; its negation is one term, the conjunction of its negated alternatives. That
//! conjunction is as long as the path has alternatives, so the limit holds for every path by itself as well
//! as for the whole.
//!
//! Invariant: counts saturate, so no expression is too wide to be counted. Cost: one walk over the tree.

use super::ast::{Column, Expr, Path};
use super::error::{XPathError, XPathErrorKind};

/// Refuses an expression that expands to more than `limit` terms.
pub(super) fn check(expression: &Expr<'_>, limit: usize) -> Result<(), XPathError> {
    let (terms, _) = count(expression, limit)?;
    within(terms, limit, Column(1))
}

/// The terms of an expression and of its negation.
fn count(expression: &Expr<'_>, limit: usize) -> Result<(usize, usize), XPathError> {
    Ok(match expression {
        Expr::Or(terms) => terms.iter().try_fold((0_usize, 1_usize), |(positive, negative), term| {
            let (plus, times) = count(term, limit)?;
            Ok((positive.saturating_add(plus), negative.saturating_mul(times)))
        })?,
        Expr::And(terms) => terms.iter().try_fold((1_usize, 0_usize), |(positive, negative), term| {
            let (times, plus) = count(term, limit)?;
            Ok((positive.saturating_mul(times), negative.saturating_add(plus)))
        })?,
        Expr::Not(inner, _) => {
            let (positive, negative) = count(inner, limit)?;
            (negative, positive)
        }
        // A node-set compared with a constant is spread over its alternatives; what is compared otherwise is not.
        Expr::Compare(_, left, right, _) => (count(left, limit)?.0.saturating_mul(count(right, limit)?.0), 1),
        Expr::Union(paths) => {
            let sum = paths
                .iter()
                .try_fold(0_usize, |sum, path| Ok(sum.saturating_add(count_path(path, limit)?)))?;
            (sum, 1)
        }
        Expr::Path(path) => (count_path(path, limit)?, 1),
        Expr::Call(..)
        | Expr::Arithmetic(..)
        | Expr::Negate(..)
        | Expr::Variable(..)
        | Expr::Literal(_)
        | Expr::Number(_) => (1, 1),
    })
}

fn count_path(path: &Path<'_>, limit: usize) -> Result<usize, XPathError> {
    let mut terms = 1_usize;
    for predicate in path.steps.iter().flat_map(|step| &step.predicates) {
        terms = terms.saturating_mul(count(predicate, limit)?.0);
    }
    within(terms, limit, path.column)?;
    Ok(terms)
}

fn within(terms: usize, limit: usize, column: Column) -> Result<(), XPathError> {
    if terms <= limit {
        return Ok(());
    }
    let at_least = if terms == usize::MAX { "at least " } else { "" };
    let message =
        format!("the expression expands to {at_least}{terms} alternatives, more than the limit of {limit}");
    Err(XPathError { kind: XPathErrorKind::Limit, message, column: column.0 as usize })
}

#[cfg(test)]
mod tests {
    use crate::limits::Limits;
    use crate::xpath::{XPathErrorKind, parse};

    /// The smallest limit that accepts the source, found by asking for less.
    fn expansion(source: &str) -> usize {
        let accepts = |expansion| match parse(source, &Limits { expansion, ..Limits::default() }) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind, XPathErrorKind::Limit, "{error}");
                assert!(error.message.contains(&format!("limit of {expansion}")), "{error}");
                false
            }
        };
        (0..=4096).find(|&limit| accepts(limit)).unwrap_or(usize::MAX)
    }

    #[test]
    fn connectives_add_and_multiply() {
        for (source, terms) in [
            ("/a/b[c][d]", 1),
            ("a or b or c", 3),
            ("a | b", 2),
            ("(a or b) and (c or d or e)", 6),
            ("/a[b or c]/d[e | f]", 4),
            ("/a[(b | c) = 'x'][d]", 2),
            ("a[b[c or d] or e]", 3),
        ] {
            assert_eq!(expansion(source), terms, "{source}");
        }
    }

    #[test]
    fn negation_swaps_the_counts() {
        for (source, terms) in [
            ("not(a or b)", 1),
            ("not(a and b)", 2),
            ("not(not(a or b))", 2),
            ("a[not(b and c)][not(d and e)]", 4),
            ("not((a or b) and (c or d))", 2),
            // The conjunction of its negated alternatives is one term, but two long.
            ("not(a[b or c])", 2),
        ] {
            assert_eq!(expansion(source), terms, "{source}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn the_count_saturates() {
        let source = format!("/a{}", "[b or c]".repeat(80));
        let error = parse(&source, &Limits::default()).unwrap_err();
        assert_eq!(error.kind, XPathErrorKind::Limit);
        assert!(error.message.contains("at least"), "{error}");
        assert_eq!(expansion(&format!("/a{}", "[b or c]".repeat(12))), 4096);
        assert_eq!(expansion(&format!("/a{}", "[b or c]".repeat(13))), usize::MAX);
    }
}
