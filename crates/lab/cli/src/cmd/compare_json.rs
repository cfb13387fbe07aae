//! The document that `lab compare --json` prints.

use lab_report::{CaseRecord, for_programs, worst};
use serde_json::{Value, json};

/// The document of `--json`. That of several candidates has one for each, and the verdict that decides the exit code.
pub fn for_a_program(cases: &[CaseRecord], record: Option<String>) -> anyhow::Result<Value> {
    let one = |case: &CaseRecord| {
        let exact =
            case.variants.iter().map(|variant| (variant.variant.clone(), json!(variant.exact)));
        let exact: serde_json::Map<_, _> = exact.collect();
        let ranges =
            case.variants.iter().map(|variant| (variant.variant.clone(), json!(variant.ranges)));
        let ranges: serde_json::Map<_, _> = ranges.collect();
        let [reason, notes] = for_programs(case)?;
        anyhow::Ok(json!({
            "metric": case.metric,
            "verdict": case.verdict,
            "reason": reason,
            "pairs": case.pairs,
            "sequential": case.sequential,
            "engine": case.runs.first().and_then(|run| run.outcome.engine.as_ref()),
            "speedup": case.speedup,
            "aa": case.control.speedup,
            "noise": case.control.noise,
            "exact": exact,
            "ranges": ranges,
            "notes": notes,
            "requests": case.requests,
            "besides": case.sides().map(|(_, candidate)| &candidate.besides),
        }))
    };
    let mut document = match cases {
        [case] => one(case)?,
        several => {
            let each = |case: &CaseRecord| anyhow::Ok((case.case.to_string(), one(case)?));
            let each: serde_json::Map<_, _> = several.iter().map(each).collect::<Result<_, _>>()?;
            json!({ "verdict": worst(several.iter()), "candidates": each })
        }
    };
    document["record"] = json!(record);
    Ok(document)
}
