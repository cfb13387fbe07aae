//! The site is what the case says it is: 19 resources of 368,000 bytes, the same every time.

use per_request_client::upstream::{bundle, site};
use toml::{Table, Value};

/// The requests of the case file, as the site has them.
fn requests() -> String {
    site::resources()
        .iter()
        .map(|resource| {
            format!(
                "[[request]]\npath = \"{}\"\nbytes = {}\ncrc32 = \"{:08x}\"\n",
                resource.path,
                resource.body.len(),
                crc32fast::hash(&resource.body),
            )
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_page_and_the_18_others_weigh_368_kb() {
    let resources = site::resources();
    assert_eq!(resources.len(), 19);
    assert_eq!(resources.iter().map(|resource| resource.body.len()).sum::<usize>(), 368_000);
}

#[test]
fn the_page_refers_to_every_other_resource_once() {
    let resources = site::resources();
    let page = std::str::from_utf8(&resources[0].body).unwrap();
    for resource in &resources[1..] {
        assert_eq!(page.matches(&format!("\"{}\"", resource.path)).count(), 1, "{}", resource.path);
    }
    assert_eq!(page.matches("src=").count() + page.matches("href=").count(), 18);
}

#[test]
fn text_is_text() {
    for resource in site::resources() {
        let is_text = std::str::from_utf8(&resource.body).is_ok_and(|text| text.ends_with('\n'));
        assert_eq!(is_text, resource.content_type != "font/woff2", "{}", resource.path);
    }
}

#[test]
fn the_case_file_asks_for_the_site() {
    let case: Table = include_str!("../case.toml").parse().unwrap();
    let expected: Table = requests().parse().unwrap();
    assert!(
        case.get("request") == expected.get("request"),
        "case.toml does not agree with the site; if the site is right, replace all requests in \
         case.toml with these:\n\n{}",
        requests()
    );
    assert_eq!(case["env"]["SSL_CERT_DIR"], Value::from(bundle::DIRECTORY));
    // One connection more or less would be another case: mechanism.rs counts on 6.
    assert_eq!(case["load"]["connections"], Value::from(6));
}
