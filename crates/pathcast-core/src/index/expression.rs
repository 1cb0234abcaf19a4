//! How a distinct expression is matched, and the table of all of them. Most are linear paths or
//! decided by the tree automaton, and take four bytes there.

use std::io;

use crate::image::{Flat, ImageError, Reader, Writer};
use crate::pattern::{Condition, PathId, decode_condition, encode_condition};
use crate::twig::{Arena, ConditionId};

/// The number of a distinct expression.
pub(super) type ExpressionId = u32;

/// No expression.
pub(super) const VACANT: ExpressionId = ExpressionId::MAX;

/// How a distinct expression is matched that is no linear path.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// True or false for every document.
    Constant(bool),
    /// Any of some linear paths, their numbers sorted.
    AnyOf(Box<[PathId]>),
    /// Decided on a tree, unless the tree automaton is exact, when all of these paths were found; without any, when the
    /// tree automaton says so.
    Twig { condition: ConditionId, required: Box<[PathId]>, exact: bool },
    /// Decided by the engine as a whole.
    Taken { condition: ConditionId, path: PathId },
}

/// What a number stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<E> {
    /// Nobody subscribes to it any more.
    Free,
    /// A linear path.
    Linear(PathId),
    /// Decided by the tree automaton; the number of the condition as bytes.
    Decided(u32),
    /// Anything else.
    Other(E),
}

/// The entry of a number that is free.
const FREE: u32 = u32::MAX;
/// Marks the place of an expression that is no path; without it, it is the number of the path.
const OTHER: u32 = 1 << 31;
/// Marks, beside that, the number of what the tree automaton decides.
const DECIDED: u32 = 1 << 30;

/// Expressions by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    entries: Vec<u32>,
    free: Vec<ExpressionId>,
    others: Vec<Expression>,
    free_others: Vec<u32>,
}

impl Table {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn get(&self, id: ExpressionId) -> Kind<&Expression> {
        self.kind(self.entries[id as usize])
    }

    #[inline]
    fn kind(&self, entry: u32) -> Kind<&Expression> {
        match entry {
            FREE => Kind::Free,
            path if path & OTHER == 0 => Kind::Linear(PathId(path)),
            place if place & DECIDED == 0 => Kind::Other(&self.others[(place & !OTHER) as usize]),
            decided => Kind::Decided(decided & !(OTHER | DECIDED)),
        }
    }

    /// All numbers with what they stand for.
    pub(super) fn iter(&self) -> impl Iterator<Item = Kind<&Expression>> {
        self.entries.iter().map(|&entry| self.kind(entry))
    }

    /// A number that stands for nothing yet.
    pub(super) fn reserve(&mut self) -> ExpressionId {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(FREE);
            (self.entries.len() - 1) as ExpressionId
        })
    }

    /// A reserved number is a path.
    pub(super) fn set_path(&mut self, id: ExpressionId, path: PathId) {
        self.entries[id as usize] = path.0;
    }

    /// A reserved number is something that the tree automaton decides.
    pub(super) fn set_decided(&mut self, id: ExpressionId, key: u32) {
        self.entries[id as usize] = key | OTHER | DECIDED;
    }

    /// A reserved number is an expression that is none of these.
    pub(super) fn set(&mut self, id: ExpressionId, expression: Expression) {
        let place = match self.free_others.pop() {
            Some(place) => {
                self.others[place as usize] = expression;
                place
            }
            None => {
                self.others.push(expression);
                (self.others.len() - 1) as u32
            }
        };
        self.entries[id as usize] = place | OTHER;
    }

    /// Takes one out; what it was.
    pub(super) fn remove(&mut self, id: ExpressionId) -> Kind<Expression> {
        let entry = std::mem::replace(&mut self.entries[id as usize], FREE);
        let removed = match entry {
            FREE => return Kind::Free,
            path if path & OTHER == 0 => Kind::Linear(PathId(path)),
            decided if decided & DECIDED != 0 => Kind::Decided(decided & !(OTHER | DECIDED)),
            place => {
                self.free_others.push(place & !OTHER);
                let left = &mut self.others[(place & !OTHER) as usize];
                Kind::Other(std::mem::replace(left, Expression::Constant(false)))
            }
        };
        self.free.push(id);
        removed
    }

    /// Those that are no paths and decided by the tree automaton are written as they are in an index file.
    pub(super) fn store(&self, arena: &Arena, image: &mut Writer<'_>) -> io::Result<()> {
        image.items(&self.entries)?;
        image.items(&self.free)?;
        image.items(&self.free_others)?;
        image.number(self.others.len())?;
        let mut bytes = Vec::new();
        for other in &self.others {
            match other {
                Expression::Constant(value) => image.one(&u8::from(*value))?,
                Expression::AnyOf(paths) => {
                    image.one(&2_u8)?;
                    image.items(paths)?;
                }
                Expression::Twig { condition, .. } | Expression::Taken { condition, .. } => {
                    bytes.clear();
                    encode_condition(&arena.expand(*condition), &mut bytes);
                    image.one(&3_u8)?;
                    image.bytes(&bytes)?;
                }
            }
        }
        Ok(())
    }

    /// The table, and the conditions of those that are decided on a tree, which are numbered again.
    pub(super) fn opened(image: &mut Reader<'_>, arena: &mut Arena) -> Result<Self, ImageError> {
        let (entries, free, free_others) = (image.items()?, image.items()?, image.items()?);
        let mut others = Vec::new();
        for _ in 0..image.count(u8::SIZE)? {
            others.push(match image.one::<u8>()? {
                constant @ (0 | 1) => Expression::Constant(constant == 1),
                2 => Expression::AnyOf(image.items()?.into()),
                _ => {
                    let condition = decode_condition(&mut &*image.bytes()?, usize::MAX);
                    let condition: Condition = condition.map_err(|_| ImageError::Damaged)?;
                    let condition = arena.intern(&condition);
                    Expression::Twig { condition, required: Box::default(), exact: false }
                }
            });
        }
        let opened = Self { entries, free, others, free_others };
        let known = |&entry: &u32| {
            let other = entry != FREE && entry & OTHER != 0 && entry & DECIDED == 0;
            !other || ((entry & !OTHER) as usize) < opened.others.len()
        };
        if opened.entries.iter().all(known) { Ok(opened) } else { Err(ImageError::Damaged) }
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        self.entries.shrink_to_fit();
        self.others.shrink_to_fit();
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.others.iter().map(|expression| match expression {
            Expression::Twig { required, .. } => required.len() * size_of::<PathId>(),
            Expression::AnyOf(paths) => paths.len() * size_of::<PathId>(),
            _ => 0,
        });
        lists.sum::<usize>()
            + self.others.capacity() * size_of::<Expression>()
            + (self.entries.capacity() + self.free.capacity() + self.free_others.capacity())
                * size_of::<u32>()
    }
}
