//! The rules: from facts to suspects. What they say is in `rules.toml`.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use lab_observation::{LANGUAGES, Pattern};
use serde::{Deserialize, Serialize};

use super::{Facts, measure::WATCHED};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Functions that belong together: those of all languages, and those of the system.
    pub groups: BTreeMap<String, Vec<Pattern>>,
    rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    title: String,
    /// Lower ranks come first, whatever they explain.
    #[serde(default = "one")]
    rank: u8,
    when: Vec<Condition>,
    explains: String,
    #[serde(default)]
    instead_of: Vec<String>,
    evidence: String,
    refute: String,
    fix: String,
    chapter: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by the tests"))]
    example: BTreeMap<String, f64>,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by the tests"))]
    near_miss: BTreeMap<String, f64>,
}

fn one() -> u8 {
    1
}

/// `FIGURE >= NUMBER` or `FIGURE <= NUMBER`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Condition {
    figure: String,
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
        Ok(Self { figure: figure.to_owned(), is_least: relation == ">=", limit })
    }
}

/// A likely cause, in words for the reader.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    pub id: String,
    pub title: String,
    /// The share of the time that it accounts for, from 0 to 1, if that is known.
    pub explains: Option<f64>,
    /// That share in words: `94 % of the time with 16 users`.
    pub accounts_for: Option<String>,
    pub evidence: String,
    pub refute: String,
    pub fix: String,
    /// The chapter of the course, below `docs/src`.
    pub chapter: String,
}

impl Rules {
    pub fn read() -> anyhow::Result<Self> {
        let mut rules: Self = toml::from_str(include_str!("rules.toml")).context("rules.toml")?;
        LANGUAGES.add_groups(&mut rules.groups);
        Ok(rules)
    }

    /// The suspects, the one that explains most first; and the titles of the rules that could not be
    /// checked because a figure is missing.
    pub fn judge(&self, facts: &Facts) -> (Vec<Suspect>, Vec<String>) {
        let holds = |rule: &&Rule| rule.when.iter().all(|it| it.holds(facts) == Some(true));
        let found: Vec<_> = self.rule.iter().filter(holds).collect();
        let is_replaced = |rule: &Rule| found.iter().any(|it| it.instead_of.contains(&rule.id));
        let mut suspects: Vec<_> = found.iter().filter(|rule| !is_replaced(rule)).collect();
        // The sort is stable: equal ones stay in the order of the file.
        let order = |rule: &Rule| facts.get(&rule.explains).unwrap_or(0.0);
        suspects.sort_by(|a, b| a.rank.cmp(&b.rank).then(order(b).total_cmp(&order(a))));
        let unknown = self.rule.iter().filter(|rule| {
            let all: Vec<_> = rule.when.iter().map(|it| it.holds(facts)).collect();
            all.contains(&None) && !all.contains(&Some(false))
        });
        let unchecked = unknown.map(|rule| rule.title.clone()).collect();
        (suspects.into_iter().map(|rule| rule.suspect(facts)).collect(), unchecked)
    }
}

impl Condition {
    /// `None` if the figure is missing.
    fn holds(&self, facts: &Facts) -> Option<bool> {
        let figure = facts.get(&self.figure)?;
        Some(if self.is_least { figure >= self.limit } else { figure <= self.limit })
    }
}

impl Rule {
    fn suspect(&self, facts: &Facts) -> Suspect {
        Suspect {
            id: self.id.clone(),
            title: self.title.clone(),
            explains: facts.get(&self.explains),
            accounts_for: facts
                .shown(&self.explains)
                .map(|share| format!("{share} of {}", whole(&self.explains))),
            evidence: fill(&self.evidence, facts),
            refute: fill(&self.refute, facts),
            fix: self.fix.clone(),
            chapter: self.chapter.clone(),
        }
    }
}

/// What a share is a share of.
fn whole(share: &str) -> String {
    let whole = match share {
        "queue_share" => return format!("the time with {WATCHED} users"),
        "delayed_time_share" => "the time of all answers",
        "fault_share" => "the answers",
        "lost_share" => "the throughput",
        "lost_user_share" => "the users",
        "refused_share" => "the connections",
        "deaf_share" => return format!("the time with {WATCHED} users"),
        "wait_share" => "the time of a request",
        "flush_share" => "the time",
        _ => "the CPU time",
    };
    whole.to_owned()
}

/// Puts the facts into a text with `{NAME}`.
fn fill(text: &str, facts: &Facts) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        filled += &facts.shown(name).unwrap_or_else(|| lab_display::NONE.to_owned());
        filled += rest;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(figures: &BTreeMap<String, f64>) -> Facts {
        Facts { figures: figures.clone(), ..Facts::default() }
    }

    fn ids(facts: &Facts) -> Vec<String> {
        let (suspects, _) = Rules::read().unwrap().judge(facts);
        suspects.into_iter().map(|suspect| suspect.id).collect()
    }

    #[test]
    fn each_rule_names_its_example_and_nothing_names_its_near_miss() {
        for rule in Rules::read().unwrap().rule {
            assert_eq!(ids(&facts(&rule.example)), [rule.id.as_str()], "its example");
            assert_eq!(ids(&facts(&rule.near_miss)), [""; 0], "the near miss of {}", rule.id);
        }
    }

    #[test]
    fn rules_refer_to_rules_and_chapters_that_exist() {
        let rules = Rules::read().unwrap();
        let chapters = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src");
        for rule in &rules.rule {
            let is_known = |id: &String| rules.rule.iter().any(|it| it.id == *id);
            assert!(rule.instead_of.iter().all(is_known), "{}", rule.id);
            assert!(std::path::Path::new(chapters).join(&rule.chapter).is_file(), "{}", rule.id);
        }
    }

    #[test]
    fn rules_read_only_figures_that_are_measured() {
        let rules = Rules::read().unwrap();
        let facts = [
            include_str!("facts.rs"),
            include_str!("facts/load.rs"),
            include_str!("facts/threads.rs"),
        ];
        let is_measured = |figure: &str| match figure.strip_suffix("_cpu_share") {
            Some(group) => rules.groups.contains_key(group),
            None => facts.concat().contains(&format!("\"{figure}\"")),
        };
        for rule in &rules.rule {
            let named = rule.evidence.split('{').skip(1).filter_map(|it| it.split('}').next());
            let conditions = rule.when.iter().map(|it| &*it.figure);
            for figure in conditions.chain(named).chain([&*rule.explains]) {
                assert!(is_measured(figure), "{figure} in {}", rule.id);
            }
        }
    }

    #[test]
    fn a_rule_without_its_figures_is_reported_and_one_that_cannot_hold_is_not() {
        let (suspects, unchecked) = Rules::read().unwrap().judge(&Facts::default());
        assert!(suspects.is_empty() && unchecked.iter().any(|title| title.contains("disk")));
        let known = facts(&[("flushes_per_request".to_owned(), 0.0)].into());
        let (_, unchecked) = Rules::read().unwrap().judge(&known);
        assert!(!unchecked.iter().any(|title| title.contains("disk")));
    }

    #[test]
    fn evidence_shows_figures_in_their_units() {
        let facts = facts(&[("turn_ms".to_owned(), 51.3), ("a_share".to_owned(), 0.943)].into());
        assert_eq!(fill("{turn_ms}, {a_share} of {none}.", &facts), "51.3 ms, 94 % of n/a.");
    }
}
