//! Refuses a body that cannot be a find reply, before any variant parses it.
//!
//! The bson crate, 3.1 at least, decodes nested documents by recursion without a limit. Sixteen
//! kilobytes of documents inside documents overflow a thread's usual stack of 2 MiB, and that ends the
//! process, not just the request. So this module walks over the elements, looks only at their types
//! and lengths, and accepts nothing deeper than a find reply.
//!
//! It also refuses input that the variants would answer differently. If a field comes twice, a
//! document keeps the last one and a struct refuses both. Parsing from a reader ignores bytes after the
//! document's end; parsing from a slice refuses them.

use crate::NotAFindReply;

/// The largest number of elements in the reply, in its cursor, in the batch, and in an item.
///
/// All fields are required, so no field can come twice. The largest body has no room for more items in
/// a batch. It does have room for more elements that are smaller, and each would cost a hundred bytes of
/// memory for six bytes of body.
const MOST_ELEMENTS: [usize; 4] = [2, 3, 65_536, 4];

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const OBJECT_ID: u8 = 0x07;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// Accepts one document that is no larger and no deeper than a find reply, and has only its types.
///
/// Its names, its texts and the order of its types may still be wrong.
#[inline(never)]
pub fn check(bytes: &[u8]) -> Result<(), NotAFindReply> {
    walk(bytes, &MOST_ELEMENTS).ok_or(NotAFindReply)
}

/// Recurses at most once for each of the `levels`.
fn walk(document: &[u8], levels: &[usize]) -> Option<()> {
    let (&most_elements, deeper) = levels.split_first()?;
    if length(document)? != document.len() {
        return None;
    }
    let (&0, mut rest) = document.get(4..)?.split_last()? else { return None };

    let mut elements = 0;
    while let Some((&kind, named)) = rest.split_first() {
        elements += 1;
        if elements > most_elements {
            return None;
        }
        let name = named.iter().position(|&byte| byte == 0)?;
        let value = &named[name + 1..];
        let size = match kind {
            DOUBLE | INT64 => 8,
            INT32 => 4,
            OBJECT_ID => 12,
            STRING => 4 + length(value)?,
            DOCUMENT | ARRAY => {
                let size = length(value)?;
                walk(value.get(..size)?, deeper)?;
                size
            }
            _ => return None,
        };
        rest = value.get(size..)?;
    }
    Some(())
}

/// The length that the first four bytes announce. A negative length becomes larger than any body.
fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    usize::try_from(length).ok()
}
