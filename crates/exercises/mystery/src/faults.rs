//! The ten faults, and which of them a seed chooses.

use anyhow::{bail, ensure};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    Blocking,
    Client,
    Clone,
    Flush,
    Lock,
    Log,
    Nodelay,
    Parse,
    Pool,
    Regex,
}

use Fault::{Blocking, Client, Lock, Nodelay, Pool};

/// What a reader can learn about a fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    pub fault: Fault,
    pub name: String,
    pub words: String,
    pub evidence: String,
    pub fix: String,
}

/// What an answer says if nothing is wrong.
pub const HEALTHY: &str = "healthy";
/// How similar a name has to be to be suggested, from 0 to 1.
const SIMILAR: f64 = 0.7;

/// All faults, in the order of their names.
pub fn all() -> anyhow::Result<Vec<About>> {
    #[derive(Deserialize)]
    struct File {
        fault: Vec<About>,
    }
    Ok(toml::from_str::<File>(include_str!("faults.toml"))?.fault)
}

/// The names with what they mean, a line each.
pub fn list() -> anyhow::Result<String> {
    let line = |name: &str, words: &str| format!("  {name:<10}{words}\n");
    let all = all()?;
    let lines = all.iter().map(|it| line(&it.name, &it.words));
    Ok(lines.chain([line(HEALTHY, "nothing of this")]).collect())
}

/// Whether one fault hides the other: a request that waits for its turn never meets the second queue, and a
/// blocking call uses no client.
fn hides(one: Fault, other: Fault) -> bool {
    let waits = |it| matches!(it, Blocking | Lock | Nodelay | Pool);
    waits(one) && waits(other) || (one, other) == (Blocking, Client)
}

/// The faults of a seed: none for one seed in seven, two for two in seven, and one for the others.
pub fn of_seed(seed: u64) -> anyhow::Result<Vec<Fault>> {
    let faults: Vec<_> = all()?.iter().map(|it| it.fault).collect();
    let pairs = faults.iter().enumerate().flat_map(|(nth, one)| {
        let others = faults[nth + 1..].iter().filter(|other| !hides(*one, **other));
        others.map(|other| vec![*one, *other])
    });
    let random = mixed(seed);
    let pick = |many: usize| (random / 7) as usize % many;
    let pairs: Vec<_> = pairs.collect();
    Ok(match random % 7 {
        0 => Vec::new(),
        1 | 2 => pairs[pick(pairs.len())].clone(),
        _ => vec![faults[pick(faults.len())]],
    })
}

/// SplitMix64: neighbouring seeds have nothing in common.
fn mixed(seed: u64) -> u64 {
    let mut it = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    it ^ (it >> 31)
}

/// Reads `lock,regex` or `healthy`.
pub fn parse(text: &str) -> anyhow::Result<Vec<Fault>> {
    let all = all()?;
    let mut said = Vec::new();
    let names: Vec<_> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    ensure!(!names.is_empty(), "an answer is `{HEALTHY}`, or one or two names: `mystery --list`");
    ensure!(names.len() <= 2, "a server has at most two faults; you named {}", names.len());
    for name in &names {
        let known = || all.iter().map(|it| &*it.name).chain([HEALTHY]);
        match all.iter().find(|it| it.name == *name) {
            Some(about) => said.push(about.fault),
            None if names == [HEALTHY] => {}
            None if *name == HEALTHY => bail!("a server with a fault isn't `{HEALTHY}`"),
            None => {
                let similarity = |it: &&str| strsim::jaro_winkler(it, name);
                let nearest = known().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
                let guess = match nearest.filter(|it| similarity(it) > SIMILAR) {
                    Some(it) => format!("did you mean `{it}`? "),
                    None => String::new(),
                };
                bail!("no fault is named `{name}`; {guess}`mystery --list` names all")
            }
        }
    }
    said.sort_unstable();
    said.dedup();
    Ok(said)
}

/// `lock, regex`, or `healthy`.
pub fn shown(faults: &[Fault]) -> anyhow::Result<String> {
    let all = all()?;
    let names: Vec<_> =
        all.iter().filter(|it| faults.contains(&it.fault)).map(|it| &*it.name).collect();
    Ok(if names.is_empty() { HEALTHY.to_owned() } else { names.join(", ") })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn seeds_reach_every_fault_alone_and_every_allowed_pair() {
        let reached: BTreeSet<_> = (0..2000).map(|seed| of_seed(seed).unwrap()).collect();
        let with = |many| reached.iter().filter(|faults| faults.len() == many).count();
        assert_eq!([with(0), with(1), with(2)], [1, 10, 38]);
        assert!(reached.iter().all(|it| it.len() < 2 || !hides(it[0], it[1])));
    }

    #[test]
    fn an_answer_names_each_fault_once() {
        assert_eq!(parse("regex, lock").unwrap(), [Lock, Fault::Regex]);
        assert_eq!(shown(&parse("lock,regex,lock").unwrap_or_default()).unwrap(), HEALTHY);
        assert_eq!(parse("healthy").unwrap(), []);
    }

    #[test]
    fn a_wrong_answer_says_what_to_write() {
        for (answer, error) in [
            ("regx", "did you mean `regex`?"),
            ("lock,healthy", "isn't `healthy`"),
            ("a,b,c", "at most two"),
            (" ,", "an answer is"),
            ("zzz", "no fault is named `zzz`; `mystery --list` names all"),
        ] {
            assert!(parse(answer).unwrap_err().to_string().contains(error), "{answer}");
        }
    }
}
