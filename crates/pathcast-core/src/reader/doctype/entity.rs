//! Entity declarations.

use super::super::entities::Declared;
use super::super::error::Fault;
use super::super::references;
use super::cursor::Cursor;
use super::external_id;
use crate::chars::is_name;

/// A declaration that starts here with `<!ENTITY`; what it says is only kept if it can be trusted.
pub(super) fn entity(cursor: &mut Cursor<'_>, trusted: bool) -> Result<(), Fault> {
    let at = cursor.at();
    if cursor.limits().entity_expansion == 0 {
        let reason = "entity declarations are not accepted; Limits.entity_expansion lets them in";
        return Err(Fault::entity(at, reason));
    }
    cursor.eat("<!ENTITY");
    cursor.space("after \"<!ENTITY\"")?;
    if cursor.at_word("%") {
        return Err(Fault::entity(at, "declarations of parameter entities are not accepted"));
    }
    let name = cursor.ncname()?;
    cursor.space("after the name of an entity")?;
    let declared = match cursor.peek() {
        Some(b'"' | b'\'') => Declared::Text(replacement(cursor)?.into()),
        _ => external(cursor)?,
    };
    cursor.skip_space();
    cursor.close()?;
    if trusted {
        cursor.entities().declare(name, declared);
    }
    Ok(())
}

fn external(cursor: &mut Cursor<'_>) -> Result<Declared, Fault> {
    external_id(cursor, false)?;
    let spaced = cursor.skip_space();
    if !cursor.eat("NDATA") {
        return Ok(Declared::External);
    }
    if !spaced {
        return Err(cursor.wrong("white space must stand before NDATA"));
    }
    cursor.space("after NDATA")?;
    cursor.ncname()?;
    Ok(Declared::Unparsed)
}

/// The literal with its character references replaced; references to entities stay.
fn replacement(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let mut at = cursor.at() + 1;
    let mut rest = cursor.literal()?;
    let mut text = String::with_capacity(rest.len());
    while let Some(stop) = rest.find(['&', '%']) {
        text.push_str(&rest[..stop]);
        let place = at + stop;
        if rest.as_bytes()[stop] == b'%' {
            return Err(Fault::malformed(
                place,
                "\"%\" may not stand in an entity's value here; write &#37;",
            ));
        }
        let Some((name, after)) = rest[stop + 1..].split_once(';') else {
            return Err(Fault::malformed(place, "\"&\" must start a reference such as &amp; or &#38;"));
        };
        if is_name(name) {
            text.push_str(&rest[stop..stop + name.len() + 2]);
        } else {
            // Not a name, so it is a character or a fault.
            text.extend(references::resolve(name, place)?);
        }
        at = place + name.len() + 2;
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}
