//! One change of an input.

/// What parsers stumble over. Chance alone finds few of these.
const PARTS: [&[u8]; 40] = [
    b"0",
    b"-1",
    b"+5",
    b"1e19",
    b"1e-300",
    b"1e999",
    b"NaN",
    b"4294967296",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775808",
    b"0x7f",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\"",
    b"\\u0000",
    b"[[[[[[[[[[[[[[[[",
    b"\0",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\t",
    b" ",
    b";",
    b":",
    b"=",
    b"&",
    b"%ff",
    b"%",
    b"/../",
    b"(",
    b"\x1b[2J",
    b"\xff\xfe",
    "é".as_bytes(),
    "\u{202e}".as_bytes(),
    b"transfer-encoding: chunked\r\n",
    &[b'a'; 20_000],
];
/// Most deletions and repetitions are short.
const LONGEST: usize = 16;

/// Which change, where, how much, and with which part.
#[derive(Clone, Copy, Debug)]
pub struct Edit(pub [u16; 4]);

impl Edit {
    pub fn apply(self, mut input: Vec<u8>) -> Vec<u8> {
        let [kind, at, length, part] = self.0.map(usize::from);
        let place = |count: usize| (at * count) >> 16;
        let start = place(input.len() + 1);
        let end = input.len().min(start + 1 + length % LONGEST);
        let part = PARTS[part % PARTS.len()];
        match kind % 8 {
            0 => input[start..end].iter_mut().take(1).for_each(|byte| *byte ^= 1 << (length % 8)),
            1 => drop(input.drain(start..end)),
            2 => drop(input.splice(start..start, input[start..end].to_vec())),
            3 => input.truncate(start),
            4 => drop(input.splice(start..start, part.iter().copied())),
            // The rest for good: two halves that don't belong together.
            5 => drop(input.drain(..start)),
            // A number or a word for another.
            _ => {
                let words = words(&input);
                if let Some((from, to)) = words.get(place(words.len())) {
                    drop(input.splice(from..to, part.iter().copied()));
                }
            }
        }
        input
    }
}

/// Where the words and numbers of an input begin and end.
fn words(input: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let (mut words, mut start) = (Vec::new(), 0);
    for run in input.chunk_by(|one, other| is_word(one) == is_word(other)) {
        if run.first().is_some_and(is_word) {
            words.push((start, start + run.len()));
        }
        start += run.len();
    }
    words
}
