//! A card in a terminal: the answer in one screen, or all of it.

use console::style;
use lab_model::{Kind, Note};
use lab_observation::Function;
use lab_report::{closing, column, noted, paragraph, percent, plural};

use super::{Card, LIMITS, Suspect};

/// How many suspects one screen names.
const NAMED: usize = 3;

impl Card {
    /// One screen: the limit, the levels, the suspects, the first notes, and how to see the rest.
    pub fn screen(&self) -> String {
        let mut lines = vec![
            format!("\n{}", style(&self.server).bold().cyan()),
            self.limit_and_shape(),
            format!("\n{}\n", self.table().text()),
        ];
        match &self.suspects[..] {
            [] => lines.push(paragraph(&self.headline())),
            [first, others @ ..] => {
                lines.push(titled(0, first));
                lines.push(column(5, "     ", &first.evidence));
                lines.push(column(5, "     ", &format!("First fix: {}", first.fix)));
                let others = others.iter().enumerate().take(NAMED - 1);
                lines.extend(others.map(|(index, other)| titled(index + 1, other)));
                if let Some(Function { name, share, .. }) = self.widest() {
                    let share = percent(*share);
                    lines.push(paragraph(&format!(
                        "Largest function: {name}, {share} of the CPU time"
                    )));
                }
            }
        }
        lines.push(String::new());
        let is_counted =
            |it: &&Note| !matches!(it, Note::Known { kind: Kind::NotChecked { .. }, .. });
        let mut notes: Vec<_> = self.notes.iter().filter(is_counted).map(noted).collect();
        if !self.unchecked.is_empty() {
            let suspects = plural(self.unchecked.len(), "suspect");
            notes.push(format!("{suspects} could not be checked here; -v names them"));
        }
        let rest = self.suspects.len().saturating_sub(NAMED);
        let rest = if rest > 0 {
            format!(", which shows {}", plural(rest, "more suspect"))
        } else {
            String::new()
        };
        lines.push(closing(&notes, &format!("-v{rest}, or the page")).trim_end().to_owned());
        if let Some(first) = self.suspects.first() {
            lines.push(paragraph(&format!("next: lab explain {}", first.id)));
        }
        lines.join("\n")
    }

    /// Everything, for a terminal of this width.
    pub fn text(&self, width: usize) -> String {
        // In front of a name are a margin and its share.
        let width = width.saturating_sub(12);
        let heading = |text: &str| format!("\n  {}", style(text).bold());
        let mut lines = vec![
            format!("\n{}", style(&self.server).bold().cyan()),
            heading(LIMITS),
            self.limit_and_shape(),
            format!("\n{}", self.table().text()),
            format!("\n{}", self.counted().text()),
        ];
        for (part, in_handler) in [("the handler", true), ("the server around it", false)] {
            let mut functions =
                self.functions.iter().filter(|it| it.in_handler == in_handler).peekable();
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
        column(5, "  ", &title).lines().map(|it| style(it).yellow().to_string()).collect();
    lines.join("\n")
}
