//! Typed expressions written as XPath, for people.

use super::condition::NodeTest;
use super::print::Printer;
use super::term::{Operator, Origin, Term, TermStep, Typed};
use super::typed::positional;
use crate::xpath::ast::Function;
use crate::xpath::ast::{Axis, Expr};

impl Printer<'_> {
    /// A typed expression; operators have parentheses around them whenever they are a part of something. At the document
    /// node paths are absolute.
    pub(super) fn typed(&self, typed: &Typed, at_document: bool) -> String {
        match &*typed.0 {
            Term::Number(number) => Expr::Number(number.0).to_string(),
            Term::Text(text) => Expr::Literal(text).to_string(),
            Term::Path(origin, steps) => self.typed_path(origin, steps, at_document),
            Term::Apply(operator, parts) => self.applied(operator, parts, at_document),
        }
    }

    fn applied(&self, operator: &Operator, parts: &[Typed], at_document: bool) -> String {
        let inner: Vec<String> = parts.iter().map(|part| self.part(part, at_document)).collect();
        let plain = || parts.iter().map(|part| self.typed(part, at_document)).collect::<Vec<_>>().join(", ");
        match operator {
            Operator::Or => inner.join(" or "),
            Operator::And => inner.join(" and "),
            Operator::Union => inner.join(" | "),
            Operator::Compare(comparison) => inner.join(&format!(" {comparison} ")),
            Operator::Not => format!("not({})", plain()),
            Operator::Negate => format!("-{}", inner.concat()),
            Operator::Arithmetic(operators) => {
                let mut text = inner.first().cloned().unwrap_or_default();
                for (operator, operand) in operators.iter().zip(inner.iter().skip(1)) {
                    text = format!("{text} {operator} {operand}");
                }
                text
            }
            Operator::Call(Function::Lang) => {
                format!(
                    "lang({})",
                    parts.first().map(|part| self.typed(part, at_document)).unwrap_or_default()
                )
            }
            Operator::Call(function) => format!("{function}({})", plain()),
        }
    }

    fn part(&self, typed: &Typed, at_document: bool) -> String {
        let text = self.typed(typed, at_document);
        let compound = match &*typed.0 {
            Term::Apply(operator, _) => !matches!(operator, Operator::Not | Operator::Call(_)),
            _ => text == "/",
        };
        if compound { format!("({text})") } else { text }
    }

    fn typed_path(&self, origin: &Origin<Typed>, steps: &[TermStep<Typed>], at_document: bool) -> String {
        let origin = if at_document && *origin == Origin::Context { &Origin::Root } else { origin };
        let (mut text, mut slash) = match origin {
            Origin::Context if steps.is_empty() => return ".".into(),
            Origin::Context => (String::new(), false),
            Origin::Root if steps.is_empty() => return "/".into(),
            Origin::Root => (String::new(), true),
            Origin::Filter(start, predicates) => {
                (format!("({}){}", self.typed(start, at_document), self.typed_predicates(predicates)), true)
            }
        };
        for step in steps {
            let node = step.test == NodeTest::Node && step.predicates.is_empty();
            text.push_str(if slash { "/" } else { "" });
            slash = true;
            match step.axis {
                Axis::SelfNode if node => text.push('.'),
                Axis::Parent if node => text.push_str(".."),
                axis => {
                    match axis {
                        Axis::Child | Axis::Attribute => {}
                        Axis::Descendant
                            if text == "/" && step.predicates.iter().all(|each| !positional(each)) =>
                        {
                            text.push('/');
                        }
                        axis => text.push_str(&format!("{axis}::")),
                    }
                    match (axis, &step.test) {
                        (Axis::Attribute, NodeTest::Element(name)) => text.push_str(&self.attribute(*name)),
                        (Axis::Attribute, test) => text.push_str(&format!("@{}", self.test(test))),
                        (_, test) => text.push_str(&self.test(test)),
                    }
                    text.push_str(&self.typed_predicates(&step.predicates));
                }
            }
        }
        text
    }

    fn typed_predicates(&self, predicates: &[Typed]) -> String {
        predicates.iter().map(|predicate| format!("[{}]", self.typed(predicate, false))).collect()
    }
}
