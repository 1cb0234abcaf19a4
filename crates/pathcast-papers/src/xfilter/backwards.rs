//! Whether the beginning of a path leads, over open elements, to something that was met.

use crate::hops::{Gap, Hop};
use pathcast_core::names::Resolved;

/// Whether `hops` can be placed on the open elements above something at `level`, `gap` below the last of them.
///
/// From the end backwards. Hops joined by exact gaps are one group and move together; a group goes as deep as it can,
/// because that leaves the groups before it all the room there is. So no group is ever placed again, and the cost is
/// at most depth times hops.
pub(super) fn leads_to(hops: &[Hop], gap: Gap, level: u32, open: &[Resolved]) -> bool {
    let (mut left, mut gap, mut level) = (hops.len(), gap, level);
    // Where the group that is being placed ends: its last hop, and the level that is tried for it.
    let mut group = None;
    loop {
        if left == 0 {
            if gap.admits(level) {
                return true;
            }
            if level <= gap.min() {
                return false;
            }
        } else {
            if level <= gap.min() {
                return false; // higher up there is even less room
            }
            let at = level - gap.min();
            if !gap.exact() {
                group = Some((left, at));
            } else if hops[left - 1].symbol.meets(open[at as usize - 1]) {
                (left, level, gap) = (left - 1, at, hops[left - 1].gap);
                continue;
            }
        }
        // Try the group here, or further up if it failed here.
        let Some((last, from)) = group else { return false };
        let symbol = hops[last - 1].symbol;
        let Some(at) = open[..from as usize].iter().rposition(|&name| symbol.meets(name)) else {
            return false;
        };
        group = Some((last, at as u32));
        (left, level, gap) = (last - 1, at as u32 + 1, hops[last - 1].gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hops::Symbol;
    use pathcast_core::names::NameId;

    /// Tries every place for every hop.
    fn obvious(hops: &[Hop], gap: Gap, level: u32, open: &[Resolved]) -> bool {
        let Some((last, before)) = hops.split_last() else { return gap.admits(level) };
        (1..=level).any(|at| {
            gap.admits(level - at)
                && open.get(at as usize - 1).is_some_and(|&name| last.symbol.meets(name))
                && obvious(before, last.gap, at, open)
        })
    }

    #[test]
    fn agrees_with_trying_everything() {
        let mut state = 1_u64;
        let mut draw = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut held = 0;
        for round in 0..50_000 {
            let open: Vec<Resolved> = (0..1 + draw(8))
                .map(|_| Resolved {
                    name: NameId(draw(3) as u32),
                    namespace: NameId(draw(2) as u32 * 9),
                    ..Resolved::OTHER
                })
                .collect();
            let hops: Vec<Hop> = (0..draw(4))
                .map(|_| {
                    let name = [1, 2, 9][draw(3) as usize];
                    Hop { symbol: Symbol(name << 1), gap: Gap::new(1 + draw(2) as u32, draw(2) == 0) }
                })
                .collect();
            let gap = Gap::new(draw(3) as u32, draw(2) == 0);
            let level = open.len() as u32;
            let expected = obvious(&hops, gap, level, &open);
            assert_eq!(
                leads_to(&hops, gap, level, &open),
                expected,
                "round {round}: {hops:?} {gap:?} {open:?}"
            );
            held += u32::from(expected);
        }
        assert!((5_000..45_000).contains(&held), "{held}");
    }
}
