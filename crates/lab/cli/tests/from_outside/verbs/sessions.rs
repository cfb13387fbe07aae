//! Services that need a login, or an id of its own in each request.

use crate::toy::{CALM, STAND_IN, Toy, fails, json};

const RUNS: [&str; 4] = ["--pairs=6", "--measurement=0.2", "--warm-up=0.1", "--open-loop=0.2"];

fn compare(toy: &Toy, more: &[&str]) -> std::process::Output {
    let server = format!("{STAND_IN}-accounts {{port}}");
    toy.run(&[&["compare", &server, &server], more, &RUNS, &CALM].concat())
}

/// All answers were right. Whether six short runs decide anything is up to the machine.
fn is_measured(document: &serde_json::Value) {
    assert_ne!(document["reason"]["code"], "faults", "{document}");
    assert!(document["record"].is_string(), "{document}");
    assert!(document["speedup"]["throughput"]["estimate"].is_number(), "{document}");
}

const LOGIN: &str = r#"
[[request]]
once = true
method = "POST"
path = "/login"
body = '{"user":"ada"}'
keep = { session = "cookie sid", token = "json token" }
"#;

#[test]
fn a_page_behind_a_login_is_measured_with_a_cookie_or_a_token() {
    let toy = Toy::new(&[]);
    let refused = compare(&toy, &["--get=/me"]);
    fails(&refused, 2, "GET /me with status 401: log in first\n  if it needs a login");
    for header in ["cookie = \"sid={session}\"", "authorization = \"Bearer {token}\""] {
        let page = format!("[[request]]\npath = \"/me\"\nheaders = {{ {header} }}\n");
        toy.write("requests.toml", &format!("{LOGIN}{page}"));
        let output = compare(&toy, &["--requests=requests.toml", "--json"]);
        let document = json(&output);
        is_measured(&document);
    }
}

#[test]
fn an_order_has_an_id_of_its_own() {
    let toy = Toy::new(&[]);
    toy.write("order.txt", "an order");
    let refused = compare(&toy, &["--post", "/orders/1", "order.txt"]);
    fails(
        &refused,
        2,
        "with status 201 at first, and then with 409: taken\n  if it needs a value of its own",
    );
    toy.write(
        "requests.toml",
        r#"
[[request]]
method = "POST"
path = "/orders/{id}"
keep = { order = "json id" }

[[request]]
path = "/orders/{order}"
"#,
    );
    let output = compare(&toy, &["--requests=requests.toml", "--json"]);
    let document = json(&output);
    is_measured(&document);
    let requests = document["requests"].as_array().unwrap();
    let names: Vec<_> = requests.iter().map(|request| request["request"].as_str()).collect();
    assert_eq!(names, [Some("POST /orders/{id}"), Some("GET /orders/{order}")]);
    assert!(requests.iter().all(|request| request["p50_ms"][1].is_number()), "{requests:?}");
    is_measured(&json(&compare(&toy, &["--post", "/orders/{id}", "order.txt", "--json"])));
}

#[test]
fn a_mistake_in_a_file_of_requests_is_named() {
    let toy = Toy::new(&[]);
    let get = |more: &str| format!("[[request]]\npath = \"/a\"\n{more}\n");
    let lacks = format!("{}{}", LOGIN.replace("json token", "json tokens"), get(""));
    for (file, message) in [
        (
            &format!("{}\n[[request]]\npath = \"/of/{{tokn}}\"\n", get("")),
            "requests.toml:5: GET /of/{tokn}: no request keeps a value as `tokn`",
        ),
        (&get("keep = { a = \"sid\" }"), "`sid` is nothing to keep: write `cookie NAME`"),
        (&get("keep = { id = \"json id\" }"), "`{id}` is a new number: keep the value"),
        (&get("once = true"), "every request is sent only `once`"),
        (&get("headers = { a = \"{line of none.txt}\" }"), "cannot read none.txt"),
        (&lacks, "POST /login: the answer has no json tokens to keep"),
    ] {
        toy.write("requests.toml", file);
        fails(&compare(&toy, &["--requests=requests.toml"]), 2, message);
    }
}
