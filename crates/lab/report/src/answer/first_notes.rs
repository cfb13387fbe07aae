//! The notes that matter most, a line each.

use lab_protocol::Note;

use crate::{EXPLANATIONS, code, join, sentence};

/// How many notes are shown.
const NOTES: usize = 3;
/// Answers that were wrong or missing come first, in a sentence.
const FAULTS: [&str; 6] = [
    "wrong-answers",
    "drops-requests",
    "lost-requests",
    "wrong-arrivals",
    "lost-arrivals",
    "no-answers",
];
/// The code of the note that only -v shows, because no figure on the screen is wrong without it.
const BEHIND: &str = "not-counted";
/// The codes of the notes that can explain the figures, which come next.
const FIRST: [&str; 8] = [
    "generator-limited",
    "below-promise",
    "contradiction",
    "tails-apart",
    "throttled",
    "standstill",
    "steal",
    "neighbours",
];

/// The first notes, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstNotes {
    pub lines: Vec<NoteLine>,
    pub rest: usize,
}

/// A note in a line. Without a code, it is a sentence of somebody else.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteLine {
    pub code: Option<String>,
    pub text: String,
}

impl FirstNotes {
    pub(crate) fn of(notes: Vec<Note>) -> Self {
        Self::of_lines(in_lines(notes), |_| true)
    }

    pub(super) fn of_comparison(notes: Vec<Note>) -> Self {
        Self::of_lines(in_lines(notes), |line| line.code.as_deref() != Some(BEHIND))
    }

    fn of_lines(mut lines: Vec<NoteLine>, is_shown: impl Fn(&NoteLine) -> bool) -> Self {
        let all = lines.len();
        lines.retain(is_shown);
        lines.truncate(NOTES);
        let rest = all - lines.len();
        Self { lines, rest }
    }
}

/// A line for each code, with the servers that it is about.
fn in_lines(notes: Vec<Note>) -> Vec<NoteLine> {
    let mut codes: Vec<(String, Vec<String>)> = Vec::new();
    let (mut faults, mut others) = (Vec::new(), Vec::new());
    for note in notes {
        let Some(code) = code(&note) else {
            others.push(NoteLine { code: None, text: sentence(&note) });
            continue;
        };
        // What was answered says more than that something was.
        if FAULTS.contains(&&*code) {
            let fault = NoteLine { code: Some(code), text: sentence(&note) };
            // Each candidate's record has what there is to say of the baseline.
            if faults.iter().all(|known: &NoteLine| known.text != fault.text) {
                faults.push(fault);
            }
            continue;
        }
        let variant = match note {
            Note::Known { variant, .. } => variant,
            Note::Sentence(_) => None,
        };
        match codes.iter_mut().find(|(known, _)| *known == code) {
            Some((_, variants)) => {
                variants.extend(variant.filter(|name| !variants.contains(name)));
            }
            None => codes.push((code, variant.into_iter().collect())),
        }
    }
    codes.sort_by_key(|(code, _)| rank(code));
    faults.into_iter().chain(codes.into_iter().map(line)).chain(others).collect()
}

fn rank(code: &str) -> usize {
    FIRST.iter().position(|first| *first == code).unwrap_or(FIRST.len())
}

fn line((code, variants): (String, Vec<String>)) -> NoteLine {
    let explanation = EXPLANATIONS.iter().find(|known| known.code == code);
    let meaning = explanation.map_or("", |known| known.meaning).replace('`', "");
    let text = match &variants[..] {
        [] => meaning,
        variants => format!("{}: {meaning}", join(variants)),
    };
    NoteLine { code: Some(code), text }
}
