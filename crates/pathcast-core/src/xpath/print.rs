//! An expression tree back to source text.
//!
//! Abbreviations are used wherever XPath has one (`//`, `@`, `.`, no `child::`), parentheses only where the
//! tree needs them. Invariant: parsing the text of a parsed tree gives the same tree, so the text may serve
//! as its key.

use std::fmt::{self, Display, Formatter};

use super::ast::Function;
use super::ast::{Arithmetic, Axis, Expr, NodeTest, Origin, Path, Step};
use super::numeral;
use crate::limits::deeper;
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
    /// On either side of `=` or `!=`.
    Equality,
    /// On either side of `<` and its like.
    Comparison,
    /// In a sum.
    Sum,
    /// In a product.
    Product,
    /// After a minus sign.
    Sign,
    /// Where only a path, a call or parentheses can stand.
    Primary,
}

/// Writes an expression; `word_follows` if `and` or `or` comes next, which a path that is only `/` would
/// swallow as the name of its first step.
fn expression(expr: &Expr<'_>, place: Place, word_follows: bool, f: &mut Formatter<'_>) -> fmt::Result {
    deeper(|| level(expr, place, word_follows, f))
}

fn level(expr: &Expr<'_>, place: Place, word_follows: bool, f: &mut Formatter<'_>) -> fmt::Result {
    let tightest = match expr {
        Expr::Or(_) => Place::Alone,
        Expr::And(_) => Place::Or,
        Expr::Compare(Comparison::Equal | Comparison::NotEqual, ..) => Place::Equality,
        Expr::Compare(..) => Place::Comparison,
        Expr::Arithmetic(_, rest, _) => {
            let sum = matches!(rest.first(), Some((Arithmetic::Add | Arithmetic::Subtract, _)));
            if sum { Place::Sum } else { Place::Product }
        }
        Expr::Negate(..) => Place::Sign,
        Expr::Number(number) if number.is_sign_negative() => Place::Sign,
        Expr::Union(_) => Place::Sign,
        Expr::Path(path) if !matches!(path.origin, Origin::Filter(..)) => Place::Sign,
        _ => Place::Primary,
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
        // Chains lean to the left.
        Expr::Compare(comparison, left, right, _) => {
            let (left_place, right_place) = match comparison {
                Comparison::Equal | Comparison::NotEqual => (Place::Equality, Place::Comparison),
                _ => (Place::Comparison, Place::Sum),
            };
            expression(left, left_place, false, f)?;
            write!(f, " {comparison} ")?;
            expression(right, right_place, word_follows, f)
        }
        Expr::Arithmetic(first, rest, _) => {
            let inner = if tightest == Place::Sum { Place::Product } else { Place::Sign };
            // A path that is only `/` would swallow `*` or `div` as its first step.
            expression(first, inner, true, f)?;
            for (index, (operator, operand)) in rest.iter().enumerate() {
                write!(f, " {operator} ")?;
                expression(operand, inner, word_follows || index + 1 < rest.len(), f)?;
            }
            Ok(())
        }
        Expr::Negate(inner, _) => {
            f.write_str("-")?;
            let place = if matches!(**inner, Expr::Number(_)) { Place::Primary } else { Place::Sign };
            parenthesised(
                inner,
                place,
                matches!(**inner, Expr::Number(_) | Expr::Negate(..)),
                word_follows,
                f,
            )
        }
        Expr::Call(function, arguments, _) => {
            write!(f, "{function}(")?;
            for (index, argument) in arguments.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                write!(f, "{argument}")?;
            }
            f.write_str(")")
        }
        Expr::Variable(name, ..) => write!(f, "${name}"),
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

/// Writes an expression in parentheses, if it must have them whatever surrounds it or by its place.
fn parenthesised(
    expr: &Expr<'_>,
    place: Place,
    always: bool,
    word_follows: bool,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    if always { write!(f, "({expr})") } else { expression(expr, place, word_follows, f) }
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
    if path.absolute() && path.steps.is_empty() && word_follows {
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
        if self.absolute() && self.steps.is_empty() {
            return f.write_str("/");
        }
        let mut slash = self.absolute();
        if let Origin::Filter(start, predicates) = &self.origin {
            // A call or a variable needs no parentheses, anything else does, a path of its own included.
            let bare = matches!(**start, Expr::Call(..) | Expr::Variable(..));
            parenthesised(start, Place::Primary, !bare, false, f)?;
            predicates.iter().try_for_each(|predicate| write!(f, "[{predicate}]"))?;
            slash = true;
        }
        let mut steps = self.steps.iter().enumerate().peekable();
        while let Some((index, step)) = steps.next() {
            if index > 0 || slash {
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
        if self.is_plain(Axis::Parent) {
            return f.write_str("..");
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
            Self::Local(local) => write!(f, "*[local-name() = {}]", Expr::Literal(local)),
            Self::Uri(uri) => write!(f, "*[namespace-uri() = {}]", Expr::Literal(uri)),
            Self::Expanded(uri, local) => {
                let (uri, local) = (Expr::Literal(uri), Expr::Literal(local));
                write!(f, "*[local-name() = {local}][namespace-uri() = {uri}]")
            }
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
            Self::Parent => "parent",
            Self::Ancestor => "ancestor",
            Self::AncestorOrSelf => "ancestor-or-self",
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

impl Display for Arithmetic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "div",
            Self::Modulo => "mod",
        })
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
