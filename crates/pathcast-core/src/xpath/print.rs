//! An expression tree back to source text.
//!
//! Abbreviations are used wherever XPath has one (`//`, `@`, `.`, no `child::`), parentheses only where the
//! tree needs them. Invariant: parsing the text of a parsed tree gives the same tree, so the text may serve
//! as its key.

use std::fmt::{self, Display, Formatter};

use super::ast::{Axis, Expr, Function, NodeTest, Path, Step};
use super::numeral;
use crate::values::Comparison;

impl Display for Expr<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expression(self, Place::Alone, false, f)
    }
}

/// What surrounds an expression, from the loosest to the tightest.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    Alone,
    Or,
    And,
    Comparison,
}

/// Writes an expression; `word_follows` if `and` or `or` comes next, which a path that is only `/` would
/// swallow as the name of its first step.
fn expression(expr: &Expr<'_>, place: Place, word_follows: bool, f: &mut Formatter<'_>) -> fmt::Result {
    let tightest = match expr {
        Expr::Or(_) => Place::Alone,
        Expr::And(_) => Place::Or,
        Expr::Compare(..) => Place::And,
        _ => Place::Comparison,
    };
    if place > tightest {
        f.write_str("(")?;
        expression(expr, Place::Alone, false, f)?;
        return f.write_str(")");
    }
    match expr {
        Expr::Or(terms) => joined(terms, " or ", Place::Or, word_follows, f),
        Expr::And(terms) => joined(terms, " and ", Place::And, word_follows, f),
        Expr::Not(inner, _) => write!(f, "not({inner})"),
        Expr::Compare(comparison, left, right, _) => {
            expression(left, Place::Comparison, false, f)?;
            write!(f, " {comparison} ")?;
            expression(right, Place::Comparison, word_follows, f)
        }
        Expr::Call(function, first, second, _) => write!(f, "{function}({first}, {second})"),
        Expr::Union(paths) => {
            for (index, one) in paths.iter().enumerate() {
                if index > 0 {
                    f.write_str(" | ")?;
                }
                path(one, word_follows && index + 1 == paths.len(), f)?;
            }
            Ok(())
        }
        Expr::Path(one) => path(one, word_follows, f),
        Expr::Literal(text) => literal(text, f),
        Expr::Number(number) => f.write_str(&numeral::text(*number)),
    }
}

fn joined(
    terms: &[Expr<'_>],
    word: &str,
    place: Place,
    word_follows: bool,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            f.write_str(word)?;
        }
        expression(term, place, word_follows || index + 1 < terms.len(), f)?;
    }
    Ok(())
}

fn path(path: &Path<'_>, word_follows: bool, f: &mut Formatter<'_>) -> fmt::Result {
    if path.absolute && path.steps.is_empty() && word_follows {
        return f.write_str("(/)");
    }
    write!(f, "{path}")
}

fn literal(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let quote = if text.contains('\'') { '"' } else { '\'' };
    write!(f, "{quote}{text}{quote}")
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.absolute && self.steps.is_empty() {
            return f.write_str("/");
        }
        let mut steps = self.steps.iter().enumerate().peekable();
        while let Some((index, step)) = steps.next() {
            if index > 0 || self.absolute {
                f.write_str("/")?;
                // `//` needs a slash before it to stand on and a step behind it.
                if step.is_plain(Axis::DescendantOrSelf)
                    && let Some((_, next)) = steps.next()
                {
                    write!(f, "/{next}")?;
                    continue;
                }
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

impl Step<'_> {
    /// Whether it is `axis::node()` without predicates.
    fn is_plain(&self, axis: Axis) -> bool {
        self.axis == axis && self.test == NodeTest::Node && self.predicates.is_empty()
    }
}

impl Display for Step<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_plain(Axis::SelfNode) {
            return f.write_str(".");
        }
        match self.axis {
            Axis::Child => {}
            Axis::Attribute => f.write_str("@")?,
            axis => write!(f, "{axis}::")?,
        }
        write!(f, "{}", self.test)?;
        self.predicates.iter().try_for_each(|predicate| write!(f, "[{predicate}]"))
    }
}

impl Display for NodeTest<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Namespace(prefix) => write!(f, "{prefix}:*"),
            Self::Name(Some(prefix), local) => write!(f, "{prefix}:{local}"),
            Self::Name(None, local) => f.write_str(local),
            Self::Node => f.write_str("node()"),
            Self::Text => f.write_str("text()"),
            Self::Comment => f.write_str("comment()"),
            Self::Instruction(None) => f.write_str("processing-instruction()"),
            Self::Instruction(Some(target)) => {
                f.write_str("processing-instruction(")?;
                literal(target, f)?;
                f.write_str(")")
            }
        }
    }
}

impl Display for Axis {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Child => "child",
            Self::Descendant => "descendant",
            Self::DescendantOrSelf => "descendant-or-self",
            Self::SelfNode => "self",
            Self::Attribute => "attribute",
            Self::Following => "following",
            Self::FollowingSibling => "following-sibling",
            Self::Preceding => "preceding",
            Self::PrecedingSibling => "preceding-sibling",
        })
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        })
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contains => "contains",
            Self::StartsWith => "starts-with",
        })
    }
}
