//! The record itself within the page, for programs and for doubters.

use anyhow::Context as _;
use maud::{Markup, PreEscaped, html};

use crate::bench::Record;

const SCRIPT: &str = include_str!("download.js");

pub fn section(record: &Record) -> anyhow::Result<Markup> {
    let json = serde_json::to_string(record).context("the record cannot be written")?;
    let name = record.created.strftime("%Y%m%dT%H%M%S%3fZ.json").to_string();
    Ok(html! {
        section class="raw" {
            h2 { "The record" }
            p {
                "Every single run, as JSON. It is part of this page, in the element "
                code { "#record" } "; latencies are HDR histograms in base64. "
                // Without a script there is no link, and nothing else is missing.
                a id="download" download=(name) hidden { "Download it" }
            }
            script type="application/json" id="record" { (PreEscaped(in_script(&json))) }
            script { (PreEscaped(SCRIPT)) }
        }
    })
}

/// JSON that cannot end the element that it is in. In JSON, `<` is only found in strings, where it
/// may be written by its number.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_end_its_element_and_stays_the_same() {
        let json = serde_json::to_string(&["</script><!-- <script>"]).unwrap();
        let escaped = in_script(&json);
        assert!(!escaped.contains('<'), "{escaped}");
        let back: [String; 1] = serde_json::from_str(&escaped).unwrap();
        assert_eq!(back, ["</script><!-- <script>"]);
    }
}
