//! Location paths: steps, axes, node tests, predicates.
//!
//! Invariants: `//` becomes a `descendant-or-self::node()` step that counts as no written step; after an
//! attribute step, and in the predicates of one, relative paths hold only `self::node()`.

use super::ast::{Axis, Column, Expr, NodeTest, Path, Step};
use super::error::{XPathError, XPathErrorKind};
use super::grammar::Parser;
use super::refusals;
use super::tokens::{Kind, Parsed, quoted};

impl<'a> Parser<'a, '_> {
    /// A location path; the context for attributes is the same after it as before.
    pub fn path(&mut self) -> Parsed<Path<'a>> {
        let column = self.column(self.token.start);
        let context = self.on_attribute;
        let absolute = matches!(self.token.kind, Kind::Slash | Kind::DoubleSlash);
        let mut steps = Vec::new();
        if absolute {
            self.on_attribute = false;
            let short = self.token.kind == Kind::DoubleSlash;
            if short {
                steps.push(descendants(column));
            }
            self.advance()?;
            if !short && !self.at_step() {
                self.on_attribute = context;
                return Ok(Path { absolute, steps, column });
            }
        }
        loop {
            let step = self.step()?;
            steps.push(step);
            match self.token.kind {
                Kind::Slash => {}
                Kind::DoubleSlash if self.on_attribute => {
                    return Err(self.unsupported(self.token.start, refusals::AFTER_ATTRIBUTE));
                }
                Kind::DoubleSlash => steps.push(descendants(self.column(self.token.start))),
                _ => break,
            }
            self.advance()?;
        }
        self.on_attribute = context;
        Ok(Path { absolute, steps, column })
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
            Kind::Dot => return self.dot(column),
            Kind::DoubleDot => return Err(self.unsupported(start, refusals::DOUBLE_DOT)),
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
        if self.on_attribute && (axis, test) != (Axis::SelfNode, NodeTest::Node) {
            return Err(self.unsupported(start, refusals::AFTER_ATTRIBUTE));
        }
        if axis == Axis::Attribute {
            if let NodeTest::Text | NodeTest::Comment | NodeTest::Instruction(_) = test {
                return Err(self.unsupported(start, refusals::ATTRIBUTE_TEST));
            }
            self.on_attribute = true;
        }
        let mut predicates = Vec::new();
        while self.token.kind == Kind::OpenBracket {
            let predicate = self.predicate()?;
            predicates.push(predicate);
        }
        Ok(Step { axis, test, predicates, column })
    }

    #[cold]
    fn too_many_steps(&mut self) -> Box<XPathError> {
        let message =
            format!("the expression has {} steps, more than the limit of {}", self.steps, self.limits.steps);
        self.error(XPathErrorKind::Limit, self.token.start, message)
    }

    fn dot(&mut self, column: Column) -> Parsed<Step<'a>> {
        self.advance()?;
        if self.token.kind == Kind::OpenBracket {
            let message = "XPath 1.0 allows no predicate after . ; write self::node()[…]";
            return Err(self.syntax_here(message.into()));
        }
        Ok(Step { axis: Axis::SelfNode, test: NodeTest::Node, predicates: Vec::new(), column })
    }

    fn axis(&mut self, name: &str) -> Parsed<Axis> {
        Ok(match name {
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "self" => Axis::SelfNode,
            "attribute" => Axis::Attribute,
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
                let message = format!("{}() is a function, and a function cannot be a step", self.found());
                return Err(self.syntax_here(message));
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
        let start = self.token.start;
        if self.token.kind == Kind::CloseBracket {
            return Err(self.syntax_here("the predicate is empty".into()));
        }
        let predicate = self.expression()?;
        if let Expr::Number(_) = predicate {
            return Err(self.unsupported(start, refusals::POSITION));
        }
        self.close(Kind::CloseBracket, (opened, "["), "]")?;
        Ok(predicate)
    }
}

/// The step that `//` stands for.
fn descendants<'a>(column: Column) -> Step<'a> {
    Step { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new(), column }
}
