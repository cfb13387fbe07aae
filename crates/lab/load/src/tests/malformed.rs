//! Answers that begin right and go wrong: none panics the parser, and no cut of the stream changes what
//! it reads.

use crate::http::{Body, Head};

const ANSWERS: [&str; 8] = [
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close, x\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n5;name=\"x\"\r\nhello\r\n0\r\nx: y\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
    "HTTP/1.0 404 Not Found\r\nconnection: keep-alive\r\n\r\nuntil it is closed",
    "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffe\r\nhello",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
];

/// What the parser makes of an answer that arrives in pieces of this length: the head, the content, and
/// the state of the body, or `None` after an error.
fn read(answer: &[u8], piece: usize) -> Option<(Head, Vec<u8>, Body)> {
    let mut end = answer.len().min(piece);
    let (mut start, head) = loop {
        match Head::parse(&answer[..end], false).ok()? {
            Some(found) => break found,
            None if end == answer.len() => return None,
            None => end = answer.len().min(end + piece),
        }
    };
    let (mut body, mut content) = (Body::from(head.framing), Vec::new());
    loop {
        let unread = &answer[start..end];
        start += body.take(unread, |piece| content.extend_from_slice(piece)).ok()?;
        assert!(start <= end);
        if body == Body::Complete || end == answer.len() {
            return Some((head, content, body));
        }
        end = answer.len().min(end + piece);
    }
}

#[test]
fn a_malformed_answer_reads_the_same_in_whatever_pieces_it_arrives() {
    malformed_input::inputs(ANSWERS, |answer| {
        let whole = read(answer, answer.len().max(1));
        // A long head is parsed again for each piece.
        for piece in [1 + answer.len() / 100, 7 + answer.len() / 50] {
            assert_eq!(read(answer, piece), whole, "in pieces of {piece}");
        }
    });
}
