//! Whether a path ends at an element, by the names above it.

use crate::pattern::{LinearPath, NameTest, Tail};

/// A named element of a path and the gap before it, in one word: the name, levels from the one before, twice, and one more
/// if a longer gap counts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step(pub(super) u32);

impl Step {
    pub(super) fn name(self) -> u16 {
        (self.0 >> 16) as u16
    }

    pub(super) fn levels(self) -> usize {
        (self.0 as u16 >> 1) as usize
    }

    pub(super) fn exact(self) -> bool {
        self.0 & 1 == 0
    }
}

/// Levels below the last name at which a path ends.
pub(super) fn levels(tail: Tail) -> u32 {
    if let Tail::Wild(levels) = tail { levels } else { 0 }
}

/// The steps of a path; nothing if a name or a gap takes more than two bytes.
pub(super) fn write(path: &LinearPath, steps: &mut Vec<Step>) -> Option<()> {
    for step in &path.steps {
        let NameTest::Name(name) = step.name else { return None };
        let (name, levels) = (u16::try_from(name.0).ok()?, u16::try_from(step.min.checked_mul(2)?).ok()?);
        steps.push(Step(u32::from(name) << 16 | u32::from(levels) | u32::from(!step.exact)));
    }
    Some(())
}

/// Whether a path ends at the last of some names, which begin with that of the root.
///
/// The part behind the last `//` has one place. Of those before it each is put as near to the root as it can be, which
/// leaves the most room for the next.
pub(super) fn ends_at(steps: &[Step], tail: u32, names: &[u16]) -> bool {
    let Some(mut at) = names.len().checked_sub(tail as usize) else { return false };
    let Some(mut last) = steps.len().checked_sub(1) else { return at == 0 };
    loop {
        if at == 0 || names[at - 1] != steps[last].name() {
            return false;
        }
        if last == 0 || !steps[last].exact() {
            break;
        }
        let Some(above) = at.checked_sub(steps[last].levels()) else { return false };
        (at, last) = (above, last - 1);
    }
    let Some(room) = at.checked_sub(steps[last].levels()) else { return false };
    if last == 0 {
        return room == 0 || !steps[0].exact();
    }
    let (mut before, mut first) = (0, 0);
    while first < last {
        let length = 1 + steps[first + 1..last].iter().take_while(|step| step.exact()).count();
        let part = &steps[first..first + length];
        match place(part, before + part[0].levels(), room, names) {
            Some(end) => before = end,
            None => return false,
        }
        first += length;
    }
    true
}

/// Where a part whose gaps are fixed ends if it begins at a level or, if it may, as little below as it can.
fn place(part: &[Step], from: usize, room: usize, names: &[u16]) -> Option<usize> {
    let length: usize = part[1..].iter().map(|step| step.levels()).sum();
    let last = if part[0].exact() { from } else { room.checked_sub(length)? };
    let fits = |begin: &usize| {
        let mut at = *begin;
        part.iter().enumerate().all(|(place, step)| {
            at += if place > 0 { step.levels() } else { 0 };
            names[at - 1] == step.name()
        })
    };
    (from + length <= room).then(|| (from..=last).find(fits)).flatten().map(|begin| begin + length)
}
