//! What a set of paths is like, counted as paths come and go.

use crate::pattern::{LinearPath, NameTest, Tail};

/// Counts of a set of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Paths.
    pub paths: usize,
    /// Those with a `//`, the leading one included.
    pub descendants: usize,
    /// Those with a `*` or `n:*`.
    pub wildcards: usize,
    /// Those that end in an attribute.
    pub attributes: usize,
}

impl Profile {
    /// Counts one more path.
    pub fn add(&mut self, path: &LinearPath) {
        let one = Self::of(path);
        self.paths += one.paths;
        self.descendants += one.descendants;
        self.wildcards += one.wildcards;
        self.attributes += one.attributes;
    }

    /// Counts one path less.
    pub fn remove(&mut self, path: &LinearPath) {
        let one = Self::of(path);
        self.paths -= one.paths;
        self.descendants -= one.descendants;
        self.wildcards -= one.wildcards;
        self.attributes -= one.attributes;
    }

    fn of(path: &LinearPath) -> Self {
        let mut descendant = path.steps.iter().any(|step| !step.exact);
        let mut wildcard =
            path.steps.iter().any(|step| step.min > 1 || matches!(step.name, NameTest::Partial(_)));
        let mut attribute = false;
        match path.tail {
            Tail::End => {}
            Tail::Wild(_) => wildcard = true,
            Tail::Attribute { min, exact, name } => {
                attribute = true;
                descendant |= !exact;
                // From the document node the nearest attribute is one level down.
                wildcard |= min > u32::from(path.steps.is_empty()) || !matches!(name, NameTest::Name(_));
            }
        }
        Self {
            paths: 1,
            descendants: usize::from(descendant),
            wildcards: usize::from(wildcard),
            attributes: usize::from(attribute),
        }
    }
}
