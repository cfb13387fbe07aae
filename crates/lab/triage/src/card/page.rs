//! A card on a page.

use lab_pictures::{PicturePage, Section};
use lab_report::Table;

use super::{Card, LIMITS, routes};

impl Card {
    /// Puts the card before the other sections of a page, in the order of a terminal: what limits the server, the
    /// suspects, and the notes, with those of the page.
    pub fn add_to(&self, page: &mut PicturePage) {
        let answers = self.answers().into_iter().chain([self.limited_by.clone()]);
        page.question = answers.collect::<Vec<_>>().join(" ");
        let memory = self.memory.as_ref().map(|answer| answer.sentence.clone());
        let lead: Vec<_> =
            [Some(self.shape()), self.arrivals(), memory].into_iter().flatten().collect();
        let mut limits = Section::new(LIMITS, lead.join(" "));
        limits.tables.push(self.table(&self.levels));
        limits.tables.push(self.counted());
        let mut card = vec![limits];
        card.extend(self.asked());
        card.push(Section::new(&self.headline(), String::new()));
        for (index, suspect) in self.suspects.iter().enumerate() {
            let title = format!("{}. {}", index + 1, suspect.title);
            let explains =
                suspect.accounts_for.as_ref().map(|share| format!("It accounts for {share}."));
            let mut section = Section::new(&title, explains.unwrap_or_default());
            let rows = suspect.parts().map(|(name, text)| vec![name.to_owned(), text]).to_vec();
            section.tables.push(Table::new("", ["", ""], rows));
            card.push(section);
        }
        if let Some(last) = card.last_mut() {
            last.notes = std::mem::take(&mut page.notes);
            last.notes.extend(self.notes.clone());
        }
        page.sections.splice(0..0, card);
    }

    /// How many requests it takes, and which costs most.
    fn asked(&self) -> Vec<Section> {
        let objective = self.objective.as_ref().map(|answer| {
            let heading = format!("Up to which rate it holds {}", answer.objective);
            let mut section = Section::new(&heading, answer.method.clone());
            section.tables.push(answer.table());
            section
        });
        let routes = (!self.routes.is_empty()).then(|| {
            let about = routes::explanation(&self.routes, self.requests_per_visit);
            let mut section = Section::new("What each request costs", about);
            section.tables.push(routes::table(&self.routes, usize::MAX));
            section
        });
        objective.into_iter().chain(routes).collect()
    }
}
