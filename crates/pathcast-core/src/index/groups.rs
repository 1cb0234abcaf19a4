//! The answers of many documents as groups of subscriptions: those to the same expression are named once, however many
//! documents they match.

use std::sync::Arc;

use super::expression::{ExpressionId, VACANT};
use super::matches::Matches;
use super::roster::Roster;

/// Groups of subscriptions, and which of them each document matched.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// The subscriptions of each group.
    pub members: Vec<Matches>,
    /// The groups that documents matched, those of one document after those of another.
    pub matched: Vec<u32>,
    /// Where those of each document end.
    pub ends: Vec<usize>,
}

impl Groups {
    /// The groups of some results; nothing for a bad document.
    pub fn of<'m>(results: impl Iterator<Item = Option<&'m Matches>>) -> Self {
        let mut groups = Self::default();
        let mut known: Option<&Arc<Roster>> = None;
        // By expression: the number of its group.
        let mut numbers: Vec<u32> = Vec::new();
        for result in results {
            let Some(matches) = result else {
                groups.ends.push(groups.matched.len());
                continue;
            };
            // Subscriptions that changed in between make other groups.
            if known.is_none_or(|roster| !Arc::ptr_eq(roster, &matches.roster)) {
                known = Some(&matches.roster);
                numbers.clear();
                numbers.resize(matches.roster.expressions(), VACANT);
            }
            let mut expressions = matches.expressions.to_vec();
            expressions.sort_unstable();
            for expression in expressions {
                let number = &mut numbers[expression as usize];
                if *number == VACANT {
                    *number = groups.members.len() as u32;
                    groups.members.push(group(matches, expression));
                }
                groups.matched.push(*number);
            }
            groups.ends.push(groups.matched.len());
        }
        groups
    }
}

/// The subscriptions to one of the expressions that matched.
fn group(matches: &Matches, expression: ExpressionId) -> Matches {
    Matches { roster: matches.roster.clone(), expressions: [expression].into(), undecided: Arc::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Id, Index, Settings};
    use crate::reader::Document;

    #[test]
    fn groups_are_of_the_subscriptions_of_the_moment() {
        let mut index = Index::new(Settings::default());
        for (number, xpath) in (0..).zip(["//a", "//b", "//a", "//c"]) {
            index.add(Id::Number(number), xpath, false, &Vec::new()).unwrap();
        }
        let matches = |index: &Index| index.matches(Document::Text("<c><b/><a/></c>")).unwrap();
        let before = [matches(&index), matches(&index)];
        index.remove(&Id::Number(1));
        index.add(Id::Number(0), "//c", false, &Vec::new()).unwrap();
        let after = matches(&index);
        let results = [Some(&before[0]), None, Some(&before[1]), Some(&after)];
        let groups = Groups::of(results.into_iter());
        assert_eq!(groups.ends, [3, 3, 6, 8]);
        assert_eq!(groups.matched, [0, 1, 2, 0, 1, 2, 3, 4]);
        let members = groups.members.iter().map(|group| {
            let mut numbers = Vec::new();
            group.numbers(&mut numbers);
            numbers
        });
        assert_eq!(members.collect::<Vec<_>>(), [vec![0, 2], vec![1], vec![3], vec![2], vec![0, 3]]);
    }
}
