//! Recipes: what a marker may ask for, and how it is made.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use super::{CHAPTERS, Sources, problem::unknown, recipes::RECIPES};

/// One kind of what can be spliced into a page.
#[derive(Debug)]
pub struct Recipe {
    /// How it is called: literal words first, then `ARGUMENTS`, the optional ones in brackets.
    pub usage: &'static str,
    /// What it puts into the page.
    pub gives: &'static str,
    /// Where it may stand.
    pub form: Form,
    /// Makes it.
    pub make: fn(&Call<'_>) -> anyhow::Result<Made>,
}

/// Where a recipe may stand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Only on lines of its own.
    Block,
    /// In a line as well.
    Inline,
}

/// What a recipe has made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// For the page.
    pub markdown: String,
    /// A file beside it: the path below `docs/src`, and what is in it.
    pub file: Option<(String, String)>,
}

impl From<String> for Made {
    fn from(markdown: String) -> Self {
        Self { markdown, file: None }
    }
}

/// A call of a recipe.
#[derive(Debug)]
pub struct Call<'a> {
    /// What it may quote.
    pub sources: &'a Sources,
    /// The directory that links in the page start from, as an absolute path.
    pub page_dir: &'a Path,
    /// How it should be called.
    pub usage: &'static str,
    /// What stands behind the recipe's own words.
    pub rest: &'a str,
}

impl<'a> Call<'a> {
    /// The arguments, if there are exactly so many.
    pub fn arguments<const N: usize>(&self) -> anyhow::Result<[&'a str; N]> {
        let words = self.between(N, N)?;
        words.try_into().ok().context("there are as many as were asked for")
    }

    /// The arguments, if their number is right.
    pub fn between(&self, least: usize, most: usize) -> anyhow::Result<Vec<&'a str>> {
        let words: Vec<_> = self.rest.split_whitespace().collect();
        ensure!(words.len() >= least, "it needs more: `{}`", self.usage);
        ensure!(words.len() <= most, "`{}` is too much: `{}`", words[most], self.usage);
        Ok(words)
    }

    /// One of several words that an argument may be.
    pub fn one_of<T: Copy>(&self, word: &str, known: &[(&str, T)]) -> anyhow::Result<T> {
        let found = known.iter().find(|(name, _)| *name == word);
        let names = known.iter().map(|(name, _)| *name);
        found.map(|(_, value)| *value).ok_or_else(|| unknown("choice", word, names))
    }

    /// The target of a link from the page to a file.
    pub fn link(&self, to: &Path) -> String {
        relative(self.page_dir, to)
    }

    /// The target of a link from the page to a file beside the chapters.
    pub fn link_beside(&self, file: &str) -> String {
        self.link(&self.sources.root.join(CHAPTERS).join(file))
    }

    /// A file of the workspace, by its path from there on; it has to exist.
    pub fn file(&self, name: &str) -> anyhow::Result<(PathBuf, String)> {
        let path = self.sources.root.join(name);
        ensure!(path.is_file(), "there is no file {name} in the workspace");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
        Ok((path, text))
    }
}

impl Recipe {
    /// The words that it is called by: `table case` of `table case CASE`.
    pub fn name(&self) -> String {
        let is_own = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
        self.usage.split(' ').take_while(is_own).collect::<Vec<_>>().join(" ")
    }

    /// Finds the recipe that is called, and what stands behind its name.
    pub fn find(call: &str) -> anyhow::Result<(&'static Self, &str)> {
        let rest = |recipe: &Self| {
            let mut rest = call;
            for word in recipe.name().split(' ') {
                rest = rest.trim_start().strip_prefix(word)?;
                if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
                    return None;
                }
            }
            Some(rest.trim())
        };
        if call.is_empty() {
            bail!("the marker names no recipe; {LISTED}");
        }
        if let Some(found) = RECIPES.iter().find_map(|recipe| Some((recipe, rest(recipe)?))) {
            return Ok(found);
        }
        let names: Vec<_> = RECIPES.iter().map(Self::name).collect();
        // `table sumary` is nearest to what has as many words; of `spedup toy cpu` one word counts.
        let first = call.split_whitespace().next().unwrap_or(call);
        let two = call.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let with_two = names.iter().any(|name| name.split(' ').next() == Some(first));
        let asked = if with_two { two.as_str() } else { first };
        Err(unknown("recipe", asked, names.iter().map(String::as_str))).context(LISTED)
    }
}

/// Where all recipes are told.
const LISTED: &str = "`lab docs --recipes` lists them";

/// Text between the brackets of a link or an image.
pub fn bracketed(text: &str) -> String {
    text.replace('[', "\\[").replace(']', "\\]")
}

/// The way from a directory to a path, both absolute, as it stands in a link.
fn relative(from: &Path, to: &Path) -> String {
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(common).map(|_| "..".to_owned());
    let down = to.iter().skip(common).map(|part| part.to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_found_by_its_own_words() {
        let (recipe, rest) = Recipe::find("table  case toy").unwrap();
        assert_eq!((recipe.usage, rest), ("table case CASE", "toy"));
        let (recipe, rest) = Recipe::find("quote  two  words").unwrap();
        assert_eq!((recipe.name().as_str(), rest), ("quote", "two  words"));
    }

    #[test]
    fn an_unknown_recipe_is_answered_with_the_nearest() {
        for (call, nearest) in [
            ("table sumary", "table summary"),
            ("spedup toy cpu", "speedup"),
            ("speedups toy cpu", "speedup"),
            ("cod x.rs", "code"),
        ] {
            let error = format!("{:#}", Recipe::find(call).unwrap_err());
            assert!(error.contains(&format!("did you mean `{nearest}`?")), "{call}: {error}");
            assert!(error.contains("`lab docs --recipes` lists them"), "{error}");
        }
        assert!(Recipe::find("").is_err());
    }

    #[test]
    fn links_lead_from_one_directory_to_another() {
        let link = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(link("/w/docs/src/cases", "/w/crates/a.rs"), "../../../crates/a.rs");
        assert_eq!(link("/w", "/w/docs/a.svg"), "docs/a.svg");
    }
}
