//! `diff`: what leads from one source file to another.

use similar::TextDiff;

use super::excerpt::{fenced, without_module_doc};
use crate::docs::recipe::{Call, Made};

/// `diff FILE_A FILE_B`.
pub fn diff(call: &Call) -> anyhow::Result<Made> {
    let [a, b] = call.arguments()?;
    let ((path_a, text_a), (path_b, text_b)) = (call.file(a)?, call.file(b)?);
    let [old, new] = [&text_a, &text_b].map(|text| without_module_doc(text));
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(3).header(a, b).to_string();
    anyhow::ensure!(!unified.is_empty(), "{a} and {b} are the same");
    Ok(format!(
        "{}\n\n*From [`{a}`]({}) to [`{b}`]({})*",
        fenced("diff", &unified),
        call.link(&path_a),
        call.link(&path_b)
    )
    .into())
}
