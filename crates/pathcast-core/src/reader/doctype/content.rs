//! Element declarations. A content model may nest as deep as it likes: one byte of stack memory a level, no recursion.

use super::super::error::Fault;
use super::cursor::Cursor;

/// The rest of a declaration after `<!ELEMENT`.
pub(super) fn element(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.space("after \"<!ELEMENT\"")?;
    cursor.qname()?;
    cursor.space("after the name of an element")?;
    if !cursor.eat("EMPTY") && !cursor.eat("ANY") {
        if !cursor.eat("(") {
            return Err(cursor.wrong("EMPTY, ANY or a content model in parentheses is expected"));
        }
        cursor.skip_space();
        if cursor.eat("#PCDATA") { mixed(cursor)? } else { children(cursor)? }
    }
    cursor.skip_space();
    cursor.close()
}

/// `(#PCDATA)`, `(#PCDATA)*` or `(#PCDATA | a | b)*`, after `#PCDATA`.
fn mixed(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let mut names = false;
    loop {
        cursor.skip_space();
        if cursor.eat(")") {
            break;
        }
        if !cursor.eat("|") {
            return Err(cursor.wrong("\"|\" or \")\" is expected in mixed content"));
        }
        cursor.skip_space();
        cursor.qname()?;
        names = true;
    }
    if !cursor.eat("*") && names {
        return Err(cursor.wrong("mixed content with elements ends with \")*\""));
    }
    Ok(())
}

/// Nested sequences and choices, after the first parenthesis. The stack holds the separator of each open group, or 0
/// while it has none yet.
fn children(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let mut open: Vec<u8> = vec![0];
    loop {
        // a particle
        cursor.skip_space();
        if cursor.eat("(") {
            open.push(0);
            continue;
        }
        cursor.qname()?;
        occurrence(cursor);
        // what may follow one: the ends of groups, then a separator
        loop {
            cursor.skip_space();
            if cursor.eat(")") {
                open.pop();
                occurrence(cursor);
                if open.is_empty() {
                    return Ok(());
                }
                continue;
            }
            let separator = match cursor.peek() {
                Some(separator @ (b',' | b'|')) => separator,
                _ => return Err(cursor.wrong("\",\", \"|\" or \")\" is expected in a content model")),
            };
            match open.last_mut() {
                Some(group) if *group == 0 || *group == separator => *group = separator,
                _ => return Err(cursor.wrong("\",\" and \"|\" may not be mixed in one group")),
            }
            cursor.eat(if separator == b',' { "," } else { "|" });
            break;
        }
    }
}

fn occurrence(cursor: &mut Cursor<'_>) {
    let _ = cursor.eat("?") || cursor.eat("*") || cursor.eat("+");
}

#[cfg(test)]
mod tests {
    use super::super::super::entities::Expansion;
    use super::*;
    use crate::limits::Limits;

    fn check(declaration: &str) -> bool {
        let limits = Limits::default();
        let mut entities = Expansion::default();
        let mut cursor = Cursor::new(declaration, &limits, &mut entities);
        cursor.eat("<!ELEMENT") && element(&mut cursor).is_ok() && cursor.is_done()
    }

    #[test]
    fn content_models() {
        for good in [
            "<!ELEMENT a EMPTY>",
            "<!ELEMENT a ANY >",
            "<!ELEMENT a (#PCDATA)>",
            "<!ELEMENT a ( #PCDATA )*>",
            "<!ELEMENT a (#PCDATA|b | c)*>",
            "<!ELEMENT a (b)>",
            "<!ELEMENT a (b?,c*,(d|e+)+)* >",
            "<!ELEMENT a ((a)|(b))>",
            "<!ELEMENT a (a*)>", // 45, 46: recursive, ambiguous, or naming the undeclared is no concern here
            "<!ELEMENT a (b|b)>",
        ] {
            assert!(check(good), "{good}");
        }
        for bad in [
            "<!ELEMENT a>",
            "<!ELEMENT a ()>",
            "<!ELEMENT a (b,c|d)>",
            "<!ELEMENT a (b,)>",
            "<!ELEMENT a (b c)>",
            "<!ELEMENT a (b) ?>",
            "<!ELEMENT a (b>",
            "<!ELEMENT a (b))>",
            "<!ELEMENT a (#PCDATA|b)>",
            "<!ELEMENT a (#PCDATA,b)*>",
            "<!ELEMENT a (b|#PCDATA)*>",
            "<!ELEMENT a (#PCDATA)?>",
            "<!ELEMENT a (%b;)>",
            "<!ELEMENT a empty>",
            "<!ELEMENTa EMPTY>",
            "<!ELEMENT a (b ?)>",
        ] {
            assert!(!check(bad), "{bad}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn nesting_is_no_recursion() {
        // 44
        let deep = format!("<!ELEMENT a {}b{}>", "(".repeat(300_000), ")".repeat(300_000));
        assert!(check(&deep));
        assert!(!check(&format!("<!ELEMENT a {}", "(".repeat(300_000))));
        let wide = format!("<!ELEMENT a (b{})>", "|c".repeat(100_000));
        assert!(check(&wide));
    }
}
