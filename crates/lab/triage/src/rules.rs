//! The rules: from facts to suspects. What they say is in `rules.toml`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use lab_observation::{LANGUAGES, Pattern};
use lab_protocol::Template;
use lab_report::{NONE, TextLanguage};
use serde::{Deserialize, Serialize};

use super::{
    Facts,
    figure::{Figure, FigureUnit, Word},
    groups::Groups,
};

#[derive(Debug)]
pub struct Rules {
    pub groups: Groups,
    rules: Vec<Rule>,
    /// By the names of the rules; empty if texts are English.
    translated: BTreeMap<String, TranslatedRule>,
}

/// The Chinese text of a rule for `lab explain`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TranslatedRule {
    title: String,
    refute: String,
    fix: String,
    /// Stands for the English texts; `just docs` checks it.
    #[serde(rename = "translates", default)]
    _translates: String,
}

/// The file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    allocate: Vec<Group>,
    groups: BTreeMap<Group, Vec<Pattern>>,
    rule: Vec<Rule>,
}

/// The figure of a group's name.
#[derive(Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(try_from = "String")]
struct Group(Figure);

impl TryFrom<String> for Group {
    type Error = anyhow::Error;

    fn try_from(name: String) -> anyhow::Result<Self> {
        Figure::named(&format!("{name}_cpu_share")).map(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    title: String,
    #[serde(default)]
    kind: RuleKind,
    when: Vec<Condition>,
    explains: Figure,
    #[serde(default)]
    instead_of: Vec<String>,
    evidence: RuleText,
    refute: RuleText,
    fix: String,
    chapter: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by the tests"))]
    example: BTreeMap<Figure, f64>,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by the tests"))]
    near_miss: BTreeMap<Figure, f64>,
}

/// The kind of suspect that a rule names. Suspects of an earlier kind come first, whatever they explain.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
enum RuleKind {
    /// A fault that hides others: until it is fixed, other figures say little.
    Blocker,
    /// Work or a wait that the program's author can change.
    #[default]
    Cause,
    /// A consequence of work. If a rule names that work, the work is the cause.
    Consequence,
    /// How the runtime serves any work. It holds for the same program with less work, too.
    Runtime,
}

/// `FIGURE >= NUMBER` or `FIGURE <= NUMBER`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Condition {
    figure: Figure,
    is_least: bool,
    limit: f64,
}

impl TryFrom<String> for Condition {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        let words: Vec<_> = text.split_whitespace().collect();
        let [figure, relation @ (">=" | "<="), limit] = words[..] else {
            bail!("not a condition: `{text}`")
        };
        let limit = limit.parse().with_context(|| format!("`{limit}` is not a number"))?;
        Ok(Self { figure: Figure::named(figure)?, is_least: relation == ">=", limit })
    }
}

/// Text with names of figures and words in braces.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct RuleText(Template<RuleSlot>);

#[derive(Debug)]
enum RuleSlot {
    Figure(Figure),
    Word(Word),
}

impl TryFrom<String> for RuleText {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        let slot = |name: &str| match Word::named(name) {
            Some(word) => Ok(RuleSlot::Word(word)),
            None => Figure::named(name).map(RuleSlot::Figure),
        };
        Template::parse_all(&text, slot).map(Self)
    }
}

impl RuleText {
    fn filled(&self, facts: &Facts) -> String {
        self.0.filled(|slot| {
            let value = match slot {
                RuleSlot::Figure(figure) => facts.text(*figure),
                RuleSlot::Word(word) => facts.words.get(word).cloned(),
            };
            value.unwrap_or_else(|| NONE.to_owned())
        })
    }
}

/// A likely cause, in words for the reader.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    pub id: String,
    pub title: String,
    /// The share of the time that it accounts for, from 0 to 1, if that is known.
    pub explains: Option<f64>,
    /// The share that the suspect accounts for, in words: `94 % of the time with 16 users`.
    pub accounts_for: Option<String>,
    pub evidence: String,
    pub refute: String,
    pub fix: String,
    /// The chapter of the course, below `docs/src`.
    pub chapter: String,
    /// The suspects that this one replaces: they would see the same cost less precisely.
    pub instead_of: Vec<String>,
}

impl Rules {
    /// Reads the built-in rules, and their translations if the reader speaks Chinese.
    ///
    /// # Errors
    ///
    /// If the built-in rules are invalid.
    pub fn read() -> anyhow::Result<Self> {
        let RulesFile { allocate, groups, rule } =
            toml::from_str(include_str!("rules.toml")).context("rules.toml")?;
        let mut functions: BTreeMap<_, _> =
            groups.into_iter().map(|(Group(figure), patterns)| (figure, patterns)).collect();
        let mut of_languages = BTreeMap::new();
        LANGUAGES.add_groups(&mut of_languages);
        for (name, patterns) in of_languages {
            let Group(figure) = name.try_into().context("languages.toml")?;
            functions.entry(figure).or_insert_with(Vec::new).extend(patterns);
        }
        let allocate = allocate.into_iter().map(|Group(figure)| figure).collect();
        let translated =
            if TextLanguage::is_chinese() { in_chinese()? } else { BTreeMap::default() };
        Ok(Self { groups: Groups { functions, allocate }, rules: rule, translated })
    }

    /// The names and titles of all rules, in the reader's language.
    pub fn titles(&self) -> impl Iterator<Item = (&str, &str)> {
        let title = |rule: &'_ Rule| self.translated.get(&rule.id).map(|rule| rule.title.as_str());
        self.rules
            .iter()
            .map(move |rule| (rule.id.as_str(), title(rule).unwrap_or(rule.title.as_str())))
    }

    /// The suspect of a rule without evidence, in the language of the reader.
    pub fn named(&self, id: &str) -> Option<Suspect> {
        let rule = self.rules.iter().find(|rule| rule.id == id)?;
        let suspect = rule.suspect(&Facts::default());
        Some(match self.translated.get(id) {
            Some(TranslatedRule { title, refute, fix, .. }) => Suspect {
                title: title.clone(),
                refute: refute.clone(),
                fix: fix.clone(),
                ..suspect
            },
            None => suspect,
        })
    }

    /// The suspects, the one that explains most first; and the titles of the rules that could not be
    /// checked because a figure is missing.
    pub fn judge(&self, facts: &Facts) -> (Vec<Suspect>, Vec<String>) {
        let holds =
            |rule: &&Rule| rule.when.iter().all(|condition| condition.holds(facts) == Some(true));
        let found: Vec<_> = self.rules.iter().filter(holds).collect();
        let is_replaced =
            |rule: &Rule| found.iter().any(|suspect| suspect.instead_of.contains(&rule.id));
        let mut suspects: Vec<_> = found.iter().filter(|rule| !is_replaced(rule)).collect();
        // The sort is stable: equal ones stay in the order of the file.
        let order = |rule: &Rule| facts.get(rule.explains).unwrap_or(0.0);
        suspects.sort_by(|a, b| a.kind.cmp(&b.kind).then(order(b).total_cmp(&order(a))));
        let unknown = self.rules.iter().filter(|rule| {
            let all: Vec<_> = rule.when.iter().map(|condition| condition.holds(facts)).collect();
            all.contains(&None) && !all.contains(&Some(false))
        });
        let unchecked = unknown.map(|rule| rule.title.clone()).collect();
        (suspects.into_iter().map(|rule| rule.suspect(facts)).collect(), unchecked)
    }
}

fn in_chinese() -> anyhow::Result<BTreeMap<String, TranslatedRule>> {
    toml::from_str(include_str!("rules.zh.toml")).context("rules.zh.toml")
}

impl Condition {
    /// `None` if the figure is missing.
    fn holds(&self, facts: &Facts) -> Option<bool> {
        let figure = facts.get(self.figure)?;
        Some(if self.is_least { figure >= self.limit } else { figure <= self.limit })
    }
}

impl Rule {
    fn suspect(&self, facts: &Facts) -> Suspect {
        Suspect {
            id: self.id.clone(),
            title: self.title.clone(),
            explains: facts.get(self.explains),
            accounts_for: self.accounts_for(facts),
            evidence: self.evidence.filled(facts),
            refute: self.refute.filled(facts),
            fix: self.fix.clone(),
            chapter: self.chapter.clone(),
            instead_of: self.instead_of.clone(),
        }
    }

    /// `94 % of the time with 16 users`.
    fn accounts_for(&self, facts: &Facts) -> Option<String> {
        let FigureUnit::Share(whole) = self.explains.unit() else { return None };
        Some(format!("{} of {whole}", facts.text(self.explains)?))
    }
}
