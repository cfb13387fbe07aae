//! The case file requests exactly what the site has: 19 resources, 368,000 bytes in total.

use tls_site::{bundle, site};
use toml::{Table, Value};

#[test]
fn the_case_file_asks_for_the_site() {
    let request = |resource: &site::Resource| {
        format!(
            "    {{ path = {:?}, bytes = {}, crc32 = \"{:08x}\" }},\n",
            resource.path,
            resource.body.len(),
            crc32fast::hash(&resource.body),
        )
    };
    let site = site::resources();
    assert_eq!(site.iter().map(|resource| resource.body.len()).sum::<usize>(), 368_000);
    let requests = site.iter().map(request).collect::<String>();
    let file = include_str!("../case.toml");
    assert!(
        file.contains(&format!("\nrequest = [\n{requests}]\n")),
        "case.toml does not agree with the site; if the site is right, replace all requests in \
         case.toml with these:\n\n{requests}",
    );
    let case: Table = file.parse().unwrap();
    let directory = case["companion"][0]["args"][1].as_str().expect("a directory");
    assert_eq!(case["env"]["SSL_CERT_DIR"], Value::from(directory));
    let file = bundle::file(directory.as_ref());
    assert_eq!(case["env"]["SSL_CERT_FILE"], Value::from(file.to_str().expect("ASCII")));
    // mechanism.rs assumes 6 connections too.
    assert_eq!(case["load"]["connections"], Value::from(6));
}
