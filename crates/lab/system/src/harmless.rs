//! What may be a credential, by its name and by its look.

/// What has one of these in its name is a secret, whatever it looks like.
#[rustfmt::skip]
const SECRET: [&str; 20] = [
    "assertion", "auth", "bearer", "code", "cookie", "cred", "csrf", "jwt", "key", "nonce", "otp",
    "pass", "private", "pwd", "secret", "sess", "sid", "sig", "ticket", "token",
];
/// A part of a path that is as long as this may be a secret, as in the address of a webhook.
const SHORTEST_TOKEN: usize = 20;
const LONGEST_TEXT: usize = 40;
const LONGEST_WORD: usize = 14;
/// As many as a date and a small number have.
const MOST_DIGITS: usize = 10;
const MOST_CAPITALS: usize = 3;
const MOST_CONSONANTS: usize = 4;

pub fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET.iter().any(|word| name.contains(word))
}

/// Whether a part of a path is as long and as mixed as a token.
pub fn is_token(part: &str) -> bool {
    let has = |is: fn(char) -> bool| part.contains(is);
    part.len() >= SHORTEST_TOKEN
        && has(|it| it.is_ascii_digit())
        && has(|it| it.is_ascii_lowercase())
        && has(|it| it.is_ascii_uppercase())
}

/// Whether a text consists of a few words and small numbers, such as `item-500` or `New%20York`.
pub fn is_harmless(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let mut runs = text.split(|it: char| !it.is_alphanumeric()).filter(|run| !run.is_empty());
    text.len() <= LONGEST_TEXT && digits <= MOST_DIGITS && runs.all(is_word_and_number)
}

/// A word, a number, or one after the other.
fn is_word_and_number(run: &str) -> bool {
    let is_digit = |it: char| it.is_ascii_digit();
    let word = run.trim_matches(is_digit);
    let is_between = run.starts_with(is_digit) && run.ends_with(is_digit);
    !word.contains(is_digit) && (word.is_empty() || !is_between && is_word(word))
}

/// Short, in one case or in camel case, and no consonants as in a random text.
fn is_word(word: &str) -> bool {
    let is_capital = |it: char| it.is_uppercase();
    let capitals = word.chars().filter(|it| is_capital(*it)).count();
    let is_cased = capitals == word.chars().count()
        || capitals <= MOST_CAPITALS
            && !word.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase));
    let mut consonants = word.split(|it: char| "aeiouyAEIOUY".contains(it) || !it.is_ascii());
    word.len() <= LONGEST_WORD && is_cased && consonants.all(|run| run.len() <= MOST_CONSONANTS)
}
