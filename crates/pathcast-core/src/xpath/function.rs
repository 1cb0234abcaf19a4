//! The functions: names, numbers of arguments, types.
//!
//! All of XPath 1.0's core library, and six of XPath 2.0 that people write anyway, with its meaning on untyped text.

/// The four types of XPath 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are XPath's own")]
pub enum Type {
    Nodes,
    Boolean,
    Number,
    String,
}

/// A function; `not()` is an expression of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are XPath's own")]
pub enum Function {
    Last,
    Position,
    Count,
    LocalName,
    NamespaceUri,
    Name,
    String,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    True,
    False,
    Lang,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
    EndsWith,
    Matches,
    LowerCase,
    UpperCase,
    Exists,
    Empty,
    Id,
}

/// Name, function, fewest and most arguments, and the type of the result. A function's place is its number in files.
const ALL: [(&str, Function, usize, usize, Type); 32] = [
    ("last", Function::Last, 0, 0, Type::Number),
    ("position", Function::Position, 0, 0, Type::Number),
    ("count", Function::Count, 1, 1, Type::Number),
    ("local-name", Function::LocalName, 0, 1, Type::String),
    ("namespace-uri", Function::NamespaceUri, 0, 1, Type::String),
    ("name", Function::Name, 0, 1, Type::String),
    ("string", Function::String, 0, 1, Type::String),
    ("concat", Function::Concat, 2, usize::MAX, Type::String),
    ("starts-with", Function::StartsWith, 2, 2, Type::Boolean),
    ("contains", Function::Contains, 2, 2, Type::Boolean),
    ("substring-before", Function::SubstringBefore, 2, 2, Type::String),
    ("substring-after", Function::SubstringAfter, 2, 2, Type::String),
    ("substring", Function::Substring, 2, 3, Type::String),
    ("string-length", Function::StringLength, 0, 1, Type::Number),
    ("normalize-space", Function::NormalizeSpace, 0, 1, Type::String),
    ("translate", Function::Translate, 3, 3, Type::String),
    ("boolean", Function::Boolean, 1, 1, Type::Boolean),
    ("true", Function::True, 0, 0, Type::Boolean),
    ("false", Function::False, 0, 0, Type::Boolean),
    ("lang", Function::Lang, 1, 1, Type::Boolean),
    ("number", Function::Number, 0, 1, Type::Number),
    ("sum", Function::Sum, 1, 1, Type::Number),
    ("floor", Function::Floor, 1, 1, Type::Number),
    ("ceiling", Function::Ceiling, 1, 1, Type::Number),
    ("round", Function::Round, 1, 1, Type::Number),
    ("ends-with", Function::EndsWith, 2, 2, Type::Boolean),
    ("matches", Function::Matches, 2, 3, Type::Boolean),
    ("lower-case", Function::LowerCase, 1, 1, Type::String),
    ("upper-case", Function::UpperCase, 1, 1, Type::String),
    ("exists", Function::Exists, 1, 1, Type::Boolean),
    ("empty", Function::Empty, 1, 1, Type::Boolean),
    ("id", Function::Id, 1, 1, Type::Nodes),
];

impl Function {
    fn entry(self) -> &'static (&'static str, Self, usize, usize, Type) {
        &ALL[self as usize]
    }

    /// The name as written.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// The type of the result.
    pub fn result(self) -> Type {
        self.entry().4
    }

    /// The fewest and the most arguments.
    pub(super) fn arity(self) -> (usize, usize) {
        (self.entry().2, self.entry().3)
    }

    /// Whether so many arguments can be given.
    pub fn takes(self, count: usize) -> bool {
        (self.entry().2..=self.entry().3).contains(&count)
    }

    /// The function with a number, which is its place in the list above.
    pub fn from_number(number: u8) -> Option<Self> {
        ALL.get(usize::from(number)).map(|entry| entry.1)
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        ALL.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }

    /// Whether its argument must be a node-set.
    pub(super) fn wants_nodes(self) -> bool {
        matches!(
            self,
            Self::Count
                | Self::LocalName
                | Self::NamespaceUri
                | Self::Name
                | Self::Sum
                | Self::Exists
                | Self::Empty
        )
    }
}
