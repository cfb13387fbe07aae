//! A card on a page.

use lab_pictures::{PicturePage, Section};
use lab_report::Table;

use super::{Card, LIMITS};

impl Card {
    /// Puts the card before the other sections of a page.
    pub fn add_to(&self, page: &mut PicturePage) {
        page.question = self.headline();
        let mut suspects = Vec::new();
        for (index, suspect) in self.suspects.iter().enumerate() {
            let title = format!("{}. {}", index + 1, suspect.title);
            let explains = suspect.accounts_for.as_ref().map(|it| format!("It accounts for {it}."));
            let mut section = Section::new(&title, explains.unwrap_or_default());
            let rows = suspect.parts().map(|(name, text)| vec![name.to_owned(), text]).to_vec();
            section.tables.push(Table::new("", ["", ""], rows));
            suspects.push(section);
        }
        let mut limits = Section::new(LIMITS, format!("{} {}", self.limited_by, self.shape()));
        limits.tables.push(self.table(&self.levels));
        limits.tables.push(self.counted());
        suspects.push(limits);
        page.sections.splice(0..0, suspects);
        page.notes.extend(self.notes.clone());
    }
}
