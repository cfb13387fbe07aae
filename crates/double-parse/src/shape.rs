//! Refuses what cannot be a find reply before anything parses it; every variant pays the same.
//!
//! The bson crate, 3.1 at least, decodes nested documents by recursion without a limit. Sixteen
//! kilobytes of documents in documents overflow a thread's usual stack of 2 MiB, and that ends the
//! process, not just the request. So this module walks over the elements first, by their types and
//! lengths alone, and lets nothing nest deeper than a find reply does.
//!
//! It also settles what the variants would otherwise settle differently. Of a field that is there
//! twice, a document keeps the last and a struct refuses both; bytes behind the document's end are
//! left unread by a reader and refused in a slice. Here there is no room for either.

use crate::NotAFindReply;

/// The most elements on each level: of the reply, of its cursor, of the batch, of an item.
///
/// All fields are required, so there is no room for one twice. A batch with more items than that
/// does not fit into the largest body, but one with more *elements* would, and would cost a
/// hundred bytes for every six.
const MOST_ELEMENTS: [usize; 4] = [2, 3, 65_536, 4];

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const OBJECT_ID: u8 = 0x07;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// Whether `bytes` are one document that is not larger, deeper or of other types than a find reply.
///
/// # Errors
///
/// If they are not. Bytes that pass may still hold wrong names, types or text.
#[inline(never)]
pub fn check(bytes: &[u8]) -> Result<(), NotAFindReply> {
    walk(bytes, &MOST_ELEMENTS).ok_or(NotAFindReply)
}

/// Calls itself no deeper than there are `levels`.
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

/// The length that the first four bytes announce. A negative one is greater than any body.
fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    usize::try_from(length).ok()
}
