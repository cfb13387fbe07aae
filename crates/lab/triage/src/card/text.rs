//! A card in a terminal: the answer in one screen, or all of it.

use console::style;
use lab_observation::Function;
use lab_protocol::{Note, NoteKind};
use lab_report::{column, join, noted, paragraph, percent, plural, render_notes};

use super::{Card, LIMITS, Suspect, routes};

/// How many suspects one screen names, and how many routes.
const NAMED: usize = 3;
const FEW_ROUTES: usize = 5;

impl Card {
    /// The card for one screen: the limit, the levels, the suspects, the first notes, and how to see the rest.
    pub fn screen(&self) -> String {
        let mut lines = vec![style(&self.server).bold().cyan().to_string()];
        lines.extend(self.answers().iter().map(|answer| paragraph(answer)));
        lines.push(self.limit_and_shape());
        lines.push(format!("\n{}", self.table(self.few_levels()).text()));
        lines.extend(self.arrivals().map(|sentence| paragraph(&sentence)));
        lines.extend(self.memory.as_ref().map(|answer| paragraph(&answer.sentence)));
        lines.extend(self.objective.as_ref().map(|answer| paragraph(&answer.method)));
        lines.extend(self.routes(FEW_ROUTES));
        lines.push(String::new());
        let (first, others) = match &self.suspects[..] {
            [] => (None, &[][..]),
            [first, others @ ..] => (Some(first), others),
        };
        if let Some(first) = first {
            lines.push(titled(0, first));
            lines.push(column(5, "     ", &first.evidence));
            let others = others.iter().enumerate().take(NAMED - 1);
            lines.extend(others.map(|(index, other)| titled(index + 1, other)));
        } else {
            lines.push(paragraph(&self.headline()));
        }
        if let (Some(_), Some(Function { name, share, .. })) = (first, self.widest()) {
            let share = percent(*share);
            lines.push(paragraph(&format!("Largest function: {name}, {share} of the CPU time")));
        }
        lines.push(String::new());
        let rest = |count: usize, what: &str| {
            (count > 0).then(|| format!("{} {what}", plural(count, "suspect")))
        };
        let rest = [
            rest(self.suspects.len().saturating_sub(NAMED), "not named here"),
            rest(self.unchecked.len(), "that could not be checked"),
        ];
        let rest: Vec<_> = rest.into_iter().flatten().collect();
        let with = if rest.is_empty() { String::new() } else { format!(", with {}", join(&rest)) };
        // How many there are is said with the rest.
        let is_counted =
            |note: &&Note| matches!(note, Note::Known { kind: NoteKind::NotChecked { .. }, .. });
        let notes = self.notes.iter().filter(|note| !is_counted(note)).cloned().collect();
        lines.push(render_notes(notes, &format!("-v, or the page{with}")).trim_end().to_owned());
        lines.extend(first.map(|suspect| {
            paragraph(&format!(
                "next: lab explain {}, for what would refute it, and a fix",
                suspect.id
            ))
        }));
        lines.join("\n")
    }

    /// Everything, for a terminal of this width.
    pub fn text(&self, width: usize) -> String {
        // In front of a name are a margin and its share.
        let width = width.saturating_sub(12);
        let heading = |text: &str| format!("\n  {}", style(text).bold());
        let mut lines = vec![format!("\n{}", style(&self.server).bold().cyan())];
        lines.extend(self.answers().iter().map(|answer| paragraph(answer)));
        lines.push(heading(LIMITS));
        lines.push(self.limit_and_shape());
        lines.push(format!("\n{}", self.table(&self.levels).text()));
        lines.extend(self.arrivals().map(|sentence| paragraph(&sentence)));
        lines.extend(self.memory.as_ref().map(|answer| paragraph(&answer.sentence)));
        if let Some(answer) = &self.objective {
            lines.push(format!("\n{}", answer.table().text()));
            lines.push(paragraph(&answer.method));
        }
        lines.extend(self.routes(usize::MAX));
        lines.push(format!("\n{}", self.counted().text()));
        for (part, in_handler) in [("the handler", true), ("the server around it", false)] {
            let mut functions = self
                .functions
                .iter()
                .filter(|function| function.in_handler == in_handler)
                .peekable();
            if functions.peek().is_some() {
                lines.push(heading(&format!(
                    "CPU time of the largest functions in {part}, with what they call"
                )));
            }
            for Function { name, share, .. } in functions {
                let name = console::truncate_str(name, width, "…");
                lines.push(format!("  {:>6}  {name}", percent(*share)));
            }
        }
        lines.push(heading(&self.headline()));
        for (index, suspect) in self.suspects.iter().enumerate() {
            lines.push(format!("\n{}", titled(index, suspect)));
            let [evidence, refute, fix, _] = suspect.parts();
            let read = ("Read", format!("lab explain {}", suspect.id));
            let parts = [evidence, refute, fix, read];
            lines.extend(parts.map(|(name, text)| paragraph(&format!("{name}: {text}"))));
        }
        lines.push(String::new());
        lines.extend(self.notes.iter().map(|note| paragraph(&noted(note))));
        lines.join("\n")
    }

    /// The routes that cost most, at most so many; nothing if a visit has only one request.
    fn routes(&self, most: usize) -> Option<String> {
        let table = routes::table(&self.routes, most);
        let about = routes::explanation(&self.routes, self.requests_per_visit);
        (!self.routes.is_empty()).then(|| format!("\n{}\n{}", table.text(), paragraph(&about)))
    }

    fn limit_and_shape(&self) -> String {
        paragraph(&format!("{} {}", self.limited_by, self.shape()))
    }
}

/// `1. The handler clones: 60 % of the CPU time`
fn titled(index: usize, suspect: &Suspect) -> String {
    let share = suspect.accounts_for.as_ref().map_or(String::new(), |share| format!(": {share}"));
    let title = format!("{}. {}{share}", index + 1, suspect.title);
    // Each line by itself, because a colour that spans lines would also colour what a pager puts between them.
    let lines: Vec<_> =
        column(5, "  ", &title).lines().map(|line| style(line).yellow().to_string()).collect();
    lines.join("\n")
}
