//! What a command line cannot say before its start: a free port, a directory, a companion's URL.

/// The values of `{NAME}` in arguments and environment.
#[derive(Clone, Debug, Default)]
pub struct Placeholders(Vec<(String, String)>);

impl Placeholders {
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.push((format!("{{{name}}}"), value.to_owned()));
    }

    pub fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}
