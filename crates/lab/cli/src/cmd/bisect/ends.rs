//! The ends of a history: do they differ at all, and by how much?

use lab_measure::Programs;
use lab_report::factor;
use lab_stats::{Difference, SplitMix64};
use lab_system::{Progress, err};

use super::journal::SearchJournal;

/// Measures both ends in pairs until they differ, or until so many pairs show no difference. Earlier pairs of the same
/// search count.
pub async fn difference(
    programs: &mut Programs,
    [first, last]: &[String; 2],
    journal: &mut SearchJournal,
    random: &mut SplitMix64,
) -> anyhow::Result<Difference> {
    let mut difference = Difference::default();
    journal.pairs().iter().for_each(|pair| difference.add(*pair));
    let progress = Progress::new(&format!("{first} and {last}"));
    while difference.needs_more() {
        let pair = difference.pairs().len();
        progress.running(&format!("pair {}", pair + 1));
        let mut achieved = [0.0; 2];
        let mut order = [0, 1];
        random.shuffle(&mut order);
        for end in order {
            achieved[end] = programs.run(end, pair, &progress).await?;
        }
        difference.add(achieved[1] - achieved[0]);
        journal.decide_ends(difference.pairs())?;
    }
    if let Some(effect) = difference.effect() {
        let word = if effect < 0.0 { "slower" } else { "faster" };
        let by = factor(effect.abs().exp());
        progress.aside(|| {
            err!("{last} is {word} than {first}: {by} in {} pairs", difference.pairs().len());
        });
    }
    Ok(difference)
}
