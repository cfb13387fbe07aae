//! A card in a terminal.

use console::style;
use lab_observation::Function;
use lab_report::{noted, paragraph, percent};
use lab_system::out;

use super::{Card, LIMITS};

impl Card {
    pub fn print(&self) {
        // In front of a name are a margin and its share.
        let width = usize::from(console::Term::stdout().size().1).saturating_sub(12);
        out!("{}", self.text(width));
    }

    /// For a terminal that shows names of this width.
    pub(super) fn text(&self, width: usize) -> String {
        let heading = |text: &str| format!("\n  {}", style(text).bold());
        let mut lines = vec![
            format!("\n{}", style(&self.server).bold().cyan()),
            heading(LIMITS),
            paragraph(&format!("{} {}", self.limited_by, self.shape())),
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
            lines.push(format!(
                "\n  {}",
                style(format!("{}. {}", index + 1, suspect.title)).yellow()
            ));
            if let Some(share) = &suspect.accounts_for {
                lines.push(paragraph(&format!("Accounts for: {share}")));
            }
            let parts = suspect.parts();
            lines.extend(parts.map(|(name, text)| paragraph(&format!("{name}: {text}"))));
        }
        lines.push(String::new());
        lines.extend(self.notes.iter().map(|note| paragraph(&noted(note))));
        lines.join("\n")
    }
}
