//! The limits that keep a stranger's input from costing more than it should.

/// What [`Limits::steps`] may be at most: expressions are trees that are walked.
pub const HIGHEST_STEPS: usize = 1_024;
/// What [`Limits::nesting`] may be at most.
pub const HIGHEST_NESTING: usize = 256;

/// Upper bounds on documents and expressions; crossing one is a clear error, never a crash or a hang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open elements at any point of a document.
    pub depth: usize,
    /// Attributes (namespace declarations included) on one element.
    pub attributes: usize,
    /// Bytes of one name, prefix included.
    pub name_bytes: usize,
    /// Bytes of one document as it arrives, before decoding.
    pub document_bytes: u64,
    /// Bytes of one expression.
    pub expression_bytes: usize,
    /// Steps of one expression, those inside predicates included.
    pub steps: usize,
    /// Predicates, parentheses and function calls inside one another.
    pub nesting: usize,
    /// Terms that the disjunctive normal form of one expression would have.
    pub expansion: usize,
    /// Steps that deciding one expression on one document may take, where it needs the tree.
    pub evaluation_steps: u64,
    /// Such steps of all expressions on one document.
    pub work: u64,
    /// Bytes that the entities which a document declares may come to; 0 refuses their declarations.
    pub entity_expansion: u64,
}

/// Goes one level deeper into an expression, on more stack if there is little left: a thread may have no more than 2 MiB.
pub fn deeper<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, level)
}

/// Does the work of a whole call on a stack that suffices for the longest expressions, however small the thread's own is.
pub fn roomy<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(2 << 20, 8 << 20, work)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 1_024,
            attributes: 10_000,
            name_bytes: 64 << 10,
            document_bytes: 1 << 30,
            expression_bytes: 16 << 10,
            steps: 256,
            nesting: 64,
            expansion: 4_096,
            evaluation_steps: 100_000_000,
            work: 10_000_000_000,
            entity_expansion: 0,
        }
    }
}
