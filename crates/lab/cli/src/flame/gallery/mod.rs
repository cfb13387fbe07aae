//! From what was seen to a page: each exhibit becomes a section, with its pictures as files.

mod allocations;
mod counts;
mod cpu;
mod differential;
mod requests;
mod words;

use anyhow::Context as _;

use super::{
    Scene, Seen,
    exhibit::Exhibit,
    output::Output,
    page::{Page, Picture, Section},
};

/// Draws all exhibits of a scene into `output`; returns the page, which is not written yet.
pub async fn hang(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<Page> {
    let mut page = Page {
        case: scene.name.clone(),
        title: scene.title.clone(),
        question: scene.question.clone(),
        notices: seen.notices.clone(),
        ..Page::default()
    };
    for exhibit in &scene.exhibits {
        let section = match exhibit {
            Exhibit::Timeline => requests::timeline(seen),
            Exhibit::Waits => requests::waits(seen, output)?,
            Exhibit::Cpu => cpu::section_of(scene, seen, output)?,
            Exhibit::Allocations => allocations::section_of(scene, seen, output)?,
            Exhibit::Counters => counts::counters(scene, seen),
            Exhibit::Connections => counts::connections(seen),
            Exhibit::Differential => differential::section_of(scene, seen, output)?,
        };
        page.sections.extend(section);
    }
    cpu::raw_graphs(scene, seen, output).await?;
    for section in &page.sections {
        for (name, content) in section.pictures.iter().filter_map(|it| it.own_file()) {
            output.write(name, content)?;
        }
    }
    page.facts = words::facts(scene, seen);
    page.commands = words::commands(scene);
    page.files = beside(&page, output)?;
    Ok(page)
}

/// Writes a flame graph, and shows it under its caption.
fn file(output: &Output, stem: &str, caption: String, svg: &str) -> anyhow::Result<Picture> {
    let name = format!("{stem}.svg");
    output.write(&name, svg)?;
    let height =
        svg.split(" height=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok());
    let height = height.with_context(|| format!("{name} does not say how high it is"))?;
    Ok(Picture::File { name, caption, height })
}

/// What is in the output that no section shows, and the account of it all, which comes last.
fn beside(page: &Page, output: &Output) -> anyhow::Result<Vec<String>> {
    let html = page.html();
    let mut files = Vec::new();
    for entry in output.dir().read_dir()? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !html.contains(&format!("\"{name}\"")) {
            files.push(name);
        }
    }
    files.sort();
    files.push("meta.json".to_owned());
    Ok(files)
}

/// A section without pictures yet.
fn section(heading: &str, lead: String) -> Section {
    Section { heading: heading.to_owned(), lead, ..Section::default() }
}
