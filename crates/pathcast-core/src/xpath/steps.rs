//! Location paths: steps, axes, node tests, predicates.
//!
//! Invariant: `//` becomes a `descendant-or-self::node()` step that counts as no written step.

use super::ast::{Axis, Column, Expr, NodeTest, Origin, Path, Step};
use super::error::{XPathError, XPathErrorKind};
use super::grammar::Parser;
use super::refusals;
use super::tokens::{Kind, Parsed, quoted};

impl<'a> Parser<'a, '_> {
    /// A location path.
    pub fn path(&mut self) -> Parsed<Path<'a>> {
        let column = self.column(self.token.start);
        let mut steps = Vec::new();
        if !matches!(self.token.kind, Kind::Slash | Kind::DoubleSlash) {
            let first = self.step()?;
            steps.push(first);
            self.further_steps(&mut steps)?;
            return Ok(Path { origin: Origin::Context, steps, column });
        }
        let origin = Origin::Root;
        if self.token.kind == Kind::Slash {
            self.advance()?;
            if !self.at_step() {
                return Ok(Path { origin, steps, column });
            }
            let first = self.step()?;
            steps.push(first);
        }
        self.further_steps(&mut steps)?;
        Ok(Path { origin, steps, column })
    }

    /// Steps as long as there is a slash before them.
    pub fn further_steps(&mut self, steps: &mut Vec<Step<'a>>) -> Parsed<()> {
        while let Kind::Slash | Kind::DoubleSlash = self.token.kind {
            if self.token.kind == Kind::DoubleSlash {
                steps.push(descendants(self.column(self.token.start)));
            }
            self.advance()?;
            let step = self.step()?;
            steps.push(step);
        }
        Ok(())
    }

    fn at_step(&self) -> bool {
        matches!(
            self.token.kind,
            Kind::Dot
                | Kind::DoubleDot
                | Kind::At
                | Kind::Star
                | Kind::Namespace(_)
                | Kind::Name(..)
                | Kind::Axis(_)
                | Kind::NodeType(_)
        )
    }

    fn step(&mut self) -> Parsed<Step<'a>> {
        let start = self.token.start;
        let column = self.column(start);
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(self.too_many_steps());
        }
        let axis = match self.token.kind {
            Kind::Dot => return self.dots(Axis::SelfNode, column),
            Kind::DoubleDot => return self.dots(Axis::Parent, column),
            Kind::At => {
                self.advance()?;
                Axis::Attribute
            }
            Kind::Axis(name) => {
                let axis = self.axis(name)?;
                self.advance()?;
                axis
            }
            _ => Axis::Child,
        };
        let test = self.node_test()?;
        let predicates = self.predicates()?;
        Ok(Step { axis, test, predicates, column })
    }

    /// Predicates as long as there is a bracket.
    pub fn predicates(&mut self) -> Parsed<Vec<Expr<'a>>> {
        let mut predicates = Vec::new();
        while self.token.kind == Kind::OpenBracket {
            let predicate = self.predicate()?;
            predicates.push(predicate);
        }
        Ok(predicates)
    }

    #[cold]
    fn too_many_steps(&mut self) -> Box<XPathError> {
        let message =
            format!("the expression has {} steps, more than the limit of {}", self.steps, self.limits.steps);
        self.error(XPathErrorKind::Limit, self.token.start, message)
    }

    /// `.` or `..`
    fn dots(&mut self, axis: Axis, column: Column) -> Parsed<Step<'a>> {
        let (written, spelled) = if axis == Axis::Parent { ("..", "parent") } else { (".", "self") };
        self.advance()?;
        if self.token.kind == Kind::OpenBracket {
            let message =
                format!("XPath 1.0 allows no predicate after {written} ; write {spelled}::node()[…]");
            return Err(self.syntax_here(message));
        }
        Ok(Step { axis, test: NodeTest::Node, predicates: Vec::new(), column })
    }

    fn axis(&mut self, name: &str) -> Parsed<Axis> {
        Ok(match name {
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "self" => Axis::SelfNode,
            "attribute" => Axis::Attribute,
            "parent" => Axis::Parent,
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "following" => Axis::Following,
            "following-sibling" => Axis::FollowingSibling,
            "preceding" => Axis::Preceding,
            "preceding-sibling" => Axis::PrecedingSibling,
            _ => {
                let start = self.token.start;
                return Err(match refusals::axis(name) {
                    Some(message) => self.unsupported(start, message),
                    None => self.tokens.syntax(start, format!("unknown axis: {}", quoted(name))),
                });
            }
        })
    }

    fn node_test(&mut self) -> Parsed<NodeTest<'a>> {
        let test = match self.token.kind {
            Kind::Name(prefix, local) => NodeTest::Name(prefix, local),
            Kind::Star => NodeTest::Any,
            Kind::Namespace(prefix) => NodeTest::Namespace(prefix),
            Kind::NodeType(name) => return self.node_type(name),
            Kind::Function(..) => {
                let message = format!(
                    "{}() is a function, and a function as a step is of XPath 2.0, which is not supported",
                    self.found()
                );
                return Err(self.unsupported(self.token.start, &message));
            }
            Kind::OpenParenthesis => {
                return Err(self.unsupported(self.token.start, refusals::STEP_EXPRESSION));
            }
            _ => {
                let message = format!("expected a step, found {}", self.found());
                return Err(self.syntax_here(message));
            }
        };
        self.advance()?;
        Ok(test)
    }

    fn node_type(&mut self, name: &str) -> Parsed<NodeTest<'a>> {
        self.advance()?;
        self.advance()?;
        let test = match (name, self.token.kind) {
            ("node", _) => NodeTest::Node,
            ("text", _) => NodeTest::Text,
            ("comment", _) => NodeTest::Comment,
            (_, Kind::Literal(target)) => {
                self.advance()?;
                NodeTest::Instruction(Some(target))
            }
            _ => NodeTest::Instruction(None),
        };
        if self.token.kind != Kind::CloseParenthesis {
            let message = format!("expected ) after the node type {name}(, found {}", self.found());
            return Err(self.syntax_here(message));
        }
        self.advance()?;
        Ok(test)
    }

    fn predicate(&mut self) -> Parsed<Expr<'a>> {
        let opened = self.token.start;
        self.open()?;
        self.advance()?;
        if self.token.kind == Kind::CloseBracket {
            return Err(self.syntax_here("the predicate is empty".into()));
        }
        let predicate = self.expression()?;
        self.close(Kind::CloseBracket, (opened, "["), "]")?;
        Ok(predicate)
    }
}

/// The step that `//` stands for.
fn descendants<'a>(column: Column) -> Step<'a> {
    Step { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new(), column }
}
