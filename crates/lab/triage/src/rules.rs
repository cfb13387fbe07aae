//! The rules: from facts to suspects. What they say is in `rules.toml`.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use lab_observation::{LANGUAGES, Pattern};
use lab_report::{SpokenLanguage, Template};
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
    /// By the names of the rules; empty if English is spoken.
    translated: BTreeMap<String, TranslatedRule>,
}

/// What `lab explain` says of a rule, in Chinese.
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
    /// Lower ranks come first, whatever they explain.
    #[serde(default = "one")]
    rank: u8,
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

fn one() -> u8 {
    1
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
        Template::parse(&text, slot).map(Self)
    }
}

impl RuleText {
    fn filled(&self, facts: &Facts) -> String {
        self.0.filled(|slot| match slot {
            RuleSlot::Figure(figure) => facts.text(*figure),
            RuleSlot::Word(word) => facts.words.get(word).cloned(),
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
    /// That share in words: `94 % of the time with 16 users`.
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
            if SpokenLanguage::is_chinese() { in_chinese()? } else { BTreeMap::default() };
        Ok(Self { groups: Groups { functions, allocate }, rules: rule, translated })
    }

    /// The names and titles of all rules, in the language that is spoken.
    pub fn titles(&self) -> impl Iterator<Item = (&str, &str)> {
        let title = |rule: &'_ Rule| self.translated.get(&rule.id).map(|it| it.title.as_str());
        self.rules
            .iter()
            .map(move |rule| (rule.id.as_str(), title(rule).unwrap_or(rule.title.as_str())))
    }

    /// What a rule says of any server: its suspect without evidence, in the language that is spoken.
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
        let holds = |rule: &&Rule| rule.when.iter().all(|it| it.holds(facts) == Some(true));
        let found: Vec<_> = self.rules.iter().filter(holds).collect();
        let is_replaced = |rule: &Rule| found.iter().any(|it| it.instead_of.contains(&rule.id));
        let mut suspects: Vec<_> = found.iter().filter(|rule| !is_replaced(rule)).collect();
        // The sort is stable: equal ones stay in the order of the file.
        let order = |rule: &Rule| facts.get(rule.explains).unwrap_or(0.0);
        suspects.sort_by(|a, b| a.rank.cmp(&b.rank).then(order(b).total_cmp(&order(a))));
        let unknown = self.rules.iter().filter(|rule| {
            let all: Vec<_> = rule.when.iter().map(|it| it.holds(facts)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(figures: &BTreeMap<Figure, f64>) -> Facts {
        Facts { figures: figures.clone(), ..Facts::default() }
    }

    fn ids(facts: &Facts) -> Vec<String> {
        let (suspects, _) = Rules::read().unwrap().judge(facts);
        suspects.into_iter().map(|suspect| suspect.id).collect()
    }

    #[test]
    fn each_rule_names_its_example_and_nothing_names_its_near_miss() {
        for rule in Rules::read().unwrap().rules {
            assert_eq!(ids(&facts(&rule.example)), [rule.id.as_str()], "its example");
            assert_eq!(ids(&facts(&rule.near_miss)), [""; 0], "the near miss of {}", rule.id);
        }
    }

    /// Figures of servers with two faults, measured.
    #[test]
    fn two_faults_are_two_suspects_and_a_consequence_comes_last() {
        use Figure::*;
        let waits = [
            (WaitMs, 2.1),
            (QueueShare, 0.9),
            (BusiestThreadShare, 0.6),
            (LackedCores, 0.1),
            (BusyCores, 1.2),
            (AllocatorAloneCpuShare, 0.6),
        ];
        let lock = [
            (AtOnce, 1.56),
            (WaitingAtOnce, 0.93),
            (WaitShare, 0.6),
            (WantedCores, 0.67),
            (IdleCoreShare, 0.59),
        ];
        let few = [
            (AtOnce, 1.98),
            (WaitingAtOnce, 0.96),
            (WaitShare, 0.48),
            (WantedCores, 1.24),
            (IdleCoreShare, 0.36),
        ];
        let files =
            [(GcCpuShare, 0.4), (BusyCores, 1.5), (OpensPerRequest, 10.0), (OpenCpuShare, 0.16)];
        let regex = [(RegexCpuShare, 0.5), (AllocatorAloneCpuShare, 0.38), (BusyCores, 2.0)];
        for (figures, suspects) in [
            ([&waits[..], &lock].concat(), ["lock", "allocation"]),
            ([&waits[..], &few].concat(), ["limit", "allocation"]),
            (files.to_vec(), ["opens", "gc"]),
            (regex.to_vec(), ["regex", "allocation"]),
        ] {
            assert_eq!(ids(&facts(&figures.into_iter().collect())), suspects);
        }
    }

    /// Figures of a server that compiles a regular expression for each request, measured, and one assumed share
    /// of others.
    #[test]
    fn contention_for_the_allocator_is_a_consequence_and_contention_costs_cpu_time() {
        use Figure::*;
        let falls = [(AfterPeakShare, 0.28), (PeakUsers, 8.0), (OthersShare, 0.02)];
        let (costs, same) = ([(CpuGrowth, 2.2)], [(CpuGrowth, 1.0)]);
        let work = [(RegexCpuShare, 0.5), (BusyCores, 2.0)];
        for (figures, suspects) in [
            ([&falls[..], &costs].concat(), &["contention"][..]),
            ([&falls[..], &same].concat(), &[]),
            ([&falls[..], &costs, &work].concat(), &["regex"]),
        ] {
            assert_eq!(ids(&facts(&figures.into_iter().collect())), suspects);
        }
    }

    #[test]
    fn rules_refer_to_rules_and_chapters_that_exist() {
        let rules = Rules::read().unwrap();
        let chapters = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src");
        for rule in &rules.rules {
            let is_known = |id: &String| rules.rules.iter().any(|it| it.id == *id);
            assert!(rule.instead_of.iter().all(is_known), "{}", rule.id);
            for book in [chapters, &chapters.replace("docs/src", "docs/zh-CN/src")] {
                assert!(std::path::Path::new(book).join(&rule.chapter).is_file(), "{}", rule.id);
            }
        }
    }

    #[test]
    fn a_name_that_no_figure_has_is_an_error_with_its_line() {
        let right = include_str!("rules.toml");
        for (from, to, error) in [
            ("fault_share >= 0.005", "fault_shar >= 0.005", "no figure is called `fault_shar`"),
            ("{fault_share} of", "{fault_shar} of", "no figure is called `fault_shar`"),
            ("\"fault_share\"", "\"fault_shar\"", "unknown variant `fault_shar`"),
            ("{ fault_share = 0.0 }", "{ fault_shar = 0.0 }", "unknown variant `fault_shar`"),
            ("\nclose = ", "\nclosed = ", "no figure is called `closed_cpu_share`"),
        ] {
            let wrong = right.replacen(from, to, 1);
            let changed = right.lines().zip(wrong.lines()).position(|(a, b)| a != b).unwrap();
            let said = toml::from_str::<RulesFile>(&wrong).err().unwrap().to_string();
            assert!(said.contains(&format!("line {}", changed + 1)), "{said}");
            assert!(said.contains(error), "{said}");
        }
    }

    #[test]
    fn what_a_rule_explains_is_a_share() {
        for rule in Rules::read().unwrap().rules {
            assert!(matches!(rule.explains.unit(), FigureUnit::Share(_)), "{}", rule.id);
        }
    }

    #[test]
    fn a_rule_without_its_figures_is_reported_and_one_that_cannot_hold_is_not() {
        let (suspects, unchecked) = Rules::read().unwrap().judge(&Facts::default());
        assert!(suspects.is_empty() && unchecked.iter().any(|title| title.contains("disk")));
        let known = facts(&[(Figure::FlushesPerRequest, 0.0)].into());
        let (_, unchecked) = Rules::read().unwrap().judge(&known);
        assert!(!unchecked.iter().any(|title| title.contains("disk")));
    }

    #[test]
    fn evidence_shows_figures_in_their_units() {
        let facts = facts(&[(Figure::TurnMs, 51.3), (Figure::WaitShare, 0.943)].into());
        let text = "{turn_ms}, {wait_share} of {fault}.".to_owned();
        let template = RuleText::try_from(text).unwrap();
        assert_eq!(template.filled(&facts), "51.3 ms, 94 % of n/a.");
    }
}
