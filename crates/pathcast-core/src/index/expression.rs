//! How a distinct expression is matched, and the table of all of them. Most are linear paths, which take four bytes there.

use crate::pattern::PathId;
use crate::twig::ConditionId;

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
    /// Decided by the tree automaton; the condition as bytes.
    Decided(Box<[u8]>),
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
    /// Anything else.
    Other(E),
}

/// The entry of a number that is free.
const FREE: u32 = u32::MAX;
/// Marks the place of an expression that is no path; without it, it is the number of the path.
const OTHER: u32 = 1 << 31;

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
            place => Kind::Other(&self.others[(place & !OTHER) as usize]),
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

    /// A reserved number is an expression that is no path.
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
            place => {
                self.free_others.push(place & !OTHER);
                let left = &mut self.others[(place & !OTHER) as usize];
                Kind::Other(std::mem::replace(left, Expression::Constant(false)))
            }
        };
        self.free.push(id);
        removed
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        self.entries.shrink_to_fit();
        self.others.shrink_to_fit();
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.others.iter().map(|expression| match expression {
            Expression::Decided(key) => key.len(),
            Expression::Twig { required, .. } => required.len() * size_of::<PathId>(),
            Expression::AnyOf(paths) => 2 * paths.len() * size_of::<PathId>(),
            _ => 0,
        });
        lists.sum::<usize>()
            + self.others.capacity() * size_of::<Expression>()
            + (self.entries.capacity() + self.free.capacity() + self.free_others.capacity())
                * size_of::<u32>()
    }
}
