//! The case file requests exactly what the site has: 19 resources, 368,000 bytes in total.

use tls_site::{bundle, site};
use toml::{Table, Value};

#[test]
fn the_case_file_asks_for_the_site() {
    let request = |resource: &site::Resource| {
        format!(
            "[[request]]\npath = \"{}\"\nbytes = {}\ncrc32 = \"{:08x}\"\n",
            resource.path,
            resource.body.len(),
            crc32fast::hash(&resource.body),
        )
    };
    let site = site::resources();
    assert_eq!(site.iter().map(|resource| resource.body.len()).sum::<usize>(), 368_000);
    let requests = site.iter().map(request).collect::<Vec<_>>().join("\n");
    let case: Table = include_str!("../case.toml").parse().unwrap();
    let expected: Table = requests.parse().unwrap();
    assert!(
        case.get("request") == expected.get("request"),
        "case.toml does not agree with the site; if the site is right, replace all requests in \
         case.toml with these:\n\n{requests}",
    );
    assert_eq!(case["env"]["SSL_CERT_DIR"], Value::from(bundle::DIRECTORY));
    // mechanism.rs assumes 6 connections too.
    assert_eq!(case["load"]["connections"], Value::from(6));
}
