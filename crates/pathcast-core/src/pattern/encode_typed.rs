//! Typed expressions as bytes, for files.

use super::bytes::{COMPARISONS, DEPTH, DecodeError, Decoder, decode_number, decode_text};
use super::bytes::{encode_number, encode_test, encode_text, list};
use super::term::{Double, Operator, Origin, Term, TermStep, Typed};
use crate::values::regex;
use crate::xpath::ast::Function;
use crate::xpath::ast::{Arithmetic, Axis};

const ARITHMETIC: [Arithmetic; 5] =
    [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Modulo];

const AXES: [Axis; 12] = [
    Axis::Child,
    Axis::Descendant,
    Axis::DescendantOrSelf,
    Axis::SelfNode,
    Axis::Attribute,
    Axis::Parent,
    Axis::Ancestor,
    Axis::AncestorOrSelf,
    Axis::Following,
    Axis::FollowingSibling,
    Axis::Preceding,
    Axis::PrecedingSibling,
];

fn place<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|each| each == one).unwrap_or(0) as u8
}

/// Appends a typed expression.
pub(super) fn encode_typed(typed: &Typed, out: &mut Vec<u8>) {
    match &*typed.0 {
        Term::Number(number) => {
            out.push(0);
            out.extend(number.0.to_le_bytes());
        }
        Term::Text(text) => {
            out.push(1);
            encode_text(text, out);
        }
        Term::Apply(operator, parts) => {
            list(2, parts, out, encode_typed);
            encode_operator(operator, out);
        }
        Term::Path(origin, steps) => {
            list(3, steps, out, |step, out| {
                out.push(place(&AXES, &step.axis));
                encode_test(&step.test, out);
                list(0, &step.predicates, out, encode_typed);
            });
            match origin {
                Origin::Context => out.push(0),
                Origin::Root => out.push(1),
                Origin::Filter(start, predicates) => {
                    list(2, predicates, out, encode_typed);
                    encode_typed(start, out);
                }
            }
        }
    }
}

fn encode_operator(operator: &Operator, out: &mut Vec<u8>) {
    match operator {
        Operator::Or => out.push(0),
        Operator::And => out.push(1),
        Operator::Not => out.push(2),
        Operator::Negate => out.push(3),
        Operator::Union => out.push(4),
        Operator::Arithmetic(operators) => {
            out.push(5);
            encode_number(operators.len() as u64, out);
            out.extend(operators.iter().map(|each| place(&ARITHMETIC, each)));
        }
        Operator::Compare(comparison) => out.extend([6, place(&COMPARISONS, comparison)]),
        Operator::Call(function) => out.extend([7, *function as u8]),
    }
}

impl Decoder<'_, '_> {
    pub(super) fn typed(&mut self) -> Result<Typed, DecodeError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(DecodeError);
        }
        let term = match self.byte()? {
            0 => {
                let (number, rest) = self.bytes.split_first_chunk().ok_or(DecodeError)?;
                *self.bytes = rest;
                Term::Number(Double(f64::from_le_bytes(*number)))
            }
            1 => Term::Text(decode_text(self.bytes)?.into()),
            2 => {
                let parts = self.list(Self::typed)?;
                let operator = self.operator()?;
                check(&operator, &parts)?;
                Term::Apply(operator, parts)
            }
            3 => {
                let steps = self.list(Self::term_step)?;
                let origin = match self.byte()? {
                    0 => Origin::Context,
                    1 => Origin::Root,
                    2 => {
                        let predicates = self.list(Self::typed)?;
                        Origin::Filter(self.typed()?, predicates)
                    }
                    _ => return Err(DecodeError),
                };
                Term::Path(origin, steps)
            }
            _ => return Err(DecodeError),
        };
        self.depth -= 1;
        Ok(Typed::new(term))
    }

    fn term_step(&mut self) -> Result<TermStep<Typed>, DecodeError> {
        let axis = *AXES.get(usize::from(self.byte()?)).ok_or(DecodeError)?;
        let test = self.test()?;
        if self.byte()? != 0 {
            return Err(DecodeError);
        }
        Ok(TermStep { axis, test, predicates: self.list(Self::typed)? })
    }

    fn operator(&mut self) -> Result<Operator, DecodeError> {
        Ok(match self.byte()? {
            0 => Operator::Or,
            1 => Operator::And,
            2 => Operator::Not,
            3 => Operator::Negate,
            4 => Operator::Union,
            5 => {
                let mut operators = Vec::new();
                for _ in 0..decode_number(self.bytes)? {
                    operators.push(*ARITHMETIC.get(usize::from(self.byte()?)).ok_or(DecodeError)?);
                }
                Operator::Arithmetic(operators.into())
            }
            6 => Operator::Compare(*COMPARISONS.get(usize::from(self.byte()?)).ok_or(DecodeError)?),
            7 => Operator::Call(Function::from_number(self.byte()?).ok_or(DecodeError)?),
            _ => return Err(DecodeError),
        })
    }
}

/// Whether an operator can have these operands.
fn check(operator: &Operator, parts: &[Typed]) -> Result<(), DecodeError> {
    let good = match operator {
        Operator::Or | Operator::And | Operator::Union => !parts.is_empty(),
        Operator::Not | Operator::Negate => parts.len() == 1,
        Operator::Compare(_) => parts.len() == 2,
        Operator::Arithmetic(operators) => parts.len() == operators.len() + 1,
        Operator::Call(Function::Matches) => match parts {
            [_, pattern, flags @ ..] => {
                let text =
                    |part: &Typed| if let Term::Text(text) = &*part.0 { Some(text.clone()) } else { None };
                let flags = flags.first().map_or(Some("".into()), text);
                text(pattern)
                    .zip(flags)
                    .is_some_and(|(pattern, flags)| regex::compile(&pattern, &flags).is_ok())
            }
            _ => false,
        },
        // The context node is an argument of those that ask it.
        Operator::Call(Function::Lang) => parts.len() == 2,
        Operator::Call(function) => function.takes(parts.len()) && (!parts.is_empty() || !function.takes(1)),
    };
    if good { Ok(()) } else { Err(DecodeError) }
}
