//! The contest of the shop: our state passes every rule, and mistakes in good faith break one.

use std::{fs, process::Output};

use serde_json::Value;

use crate::{
    exercises::attempts::{Copy, read, root},
    toy::{ends, fails, json, stdout},
};

/// A state that breaks a rule: what is replaced in which file, and what the contest says.
struct Mistake {
    file: &'static str,
    parts: &'static [(&'static str, &'static str)],
    said: &'static str,
}

const MISTAKES: [Mistake; 7] = [
    // A page is kept, and shows the old price and the old stock.
    Mistake {
        file: "routes/catalogue.rs",
        parts: &[(
            "    let product: Option<(String, u32, String)>",
            "    static PAGES: std::sync::Mutex<std::collections::BTreeMap<u32, String>> =
                 std::sync::Mutex::new(std::collections::BTreeMap::new());
             if let Some(page) = PAGES.lock().unwrap().get(&id) { return Ok(Html(page.clone())); }
             let page = Box::pin(new_product(shop, id)).await?;
             PAGES.lock().unwrap().insert(id, page.0.clone());
             Ok(page)
        }

        async fn new_product(shop: std::sync::Arc<super::super::Shop>, id: u32) -> Result<Html<String>, Failure> {
            let product: Option<(String, u32, String)>",
        )],
        said: "GET /products/",
    },
    // An order is answered, and then stored.
    Mistake {
        file: "routes/checkout.rs",
        parts: &[
            (
                "    match shop.stock.reserve(&reference, items).await? {",
                "    let (sent, basket_of) = (reference.clone(), shop.clone());
                 tokio::spawn(async move {
                 match shop.stock.reserve(&reference, items).await? {",
            ),
            (
                "    shop.sessions.put(",
                "    Ok::<_, Failure>(()) });
                 let (shop, reference) = (basket_of, sent);
                 shop.sessions.put(",
            ),
        ],
        said: "visit `checkout`",
    },
    // Only failures are logged.
    Mistake {
        file: "log.rs",
        parts: &[("let mut file =", "if status.is_success() { return; }\n let mut file =")],
        said: "shop.log has",
    },
    // All customers see the orders of the first.
    Mistake {
        file: "routes/account.rs",
        parts: &[(
            "    let newest =",
            "    static CUSTOMER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
             let mut visitor = visitor;
             visitor.session.customer = *CUSTOMER.get_or_init(|| visitor.session.customer);
             let newest =",
        )],
        said: "GET /orders",
    },
    // The stock service is asked once for each product, and our own orders are subtracted.
    Mistake {
        file: "stock.rs",
        parts: &[
            (
                "    pub async fn of(&self, product: u32) -> anyhow::Result<u32> {",
                "    pub async fn of(&self, product: u32) -> anyhow::Result<u32> {
                     if let Some(left) = LEFT.lock().unwrap().get(&product) { return Ok(*left); }
                     let left = self.first(product).await?;
                     Ok(*LEFT.lock().unwrap().entry(product).or_insert(left))
                 }

                 async fn first(&self, product: u32) -> anyhow::Result<u32> {",
            ),
            (
                "    pub async fn reserve(&self, reference: &str, items: Vec<Item>) -> anyhow::Result<Reservation> {",
                "    pub async fn reserve(&self, reference: &str, items: Vec<Item>) -> anyhow::Result<Reservation> {
                     let made = self.reserve_all(reference, items.clone()).await?;
                     if let Reservation::Made = made {
                         for item in items {
                             if let Some(left) = LEFT.lock().unwrap().get_mut(&item.product) { *left -= item.amount; }
                         }
                     }
                     Ok(made)
                 }

                 async fn reserve_all(&self, reference: &str, items: Vec<Item>) -> anyhow::Result<Reservation> {",
            ),
            (
                "fn connector()",
                "static LEFT: std::sync::Mutex<std::collections::BTreeMap<u32, u32>> =
                     std::sync::Mutex::new(std::collections::BTreeMap::new());

                 fn connector()",
            ),
        ],
        said: "the stock service was asked",
    },
    // After a login, the password's hash is replaced by a cheaper one.
    Mistake {
        file: "routes/account.rs",
        parts: &[(
            "    let token = sessions::new_token()?;",
            "    let cheap = Argon2::from(argon2::Params::new(64, 1, 1, None).unwrap());
             let salt = format!(\"{customer:016}\");
             let hash = argon2::PasswordHasher::hash_password_with_salt(&cheap, login.password.as_bytes(), salt.as_bytes());
             sqlx::query(\"UPDATE customers SET password = ? WHERE id = ?\")
                 .bind(hash.unwrap().to_string())
                 .bind(customer)
                 .execute(&shop.db)
                 .await?;
             let token = sessions::new_token()?;",
        )],
        said: "passwords cost less than they did",
    },
    // Baskets are only in memory.
    Mistake {
        file: "sessions.rs",
        parts: &[("fs::rename(&unfinished, &self.file)?;", "")],
        said: "a restart lost what a `basket` had changed",
    },
];

/// One run of the state in `src/mine`.
fn contest(copy: &Copy) -> Output {
    copy.practice(&["contest", "--pairs", "1", "--seed", "7", "--json"])
}

fn write(copy: &Copy, mistake: &Mistake) {
    let shop = copy.dir("shop").join("src");
    for file in [
        "routes/catalogue.rs",
        "routes/checkout.rs",
        "routes/account.rs",
        "log.rs",
        "stock.rs",
        "sessions.rs",
    ] {
        fs::write(shop.join("mine").join(file), read(&shop.join("slow").join(file))).unwrap();
    }
    let mut text = read(&shop.join("slow").join(mistake.file));
    // The code is formatted, and the parts aren't.
    text = one_line_heads(&text);
    for (from, to) in mistake.parts {
        assert!(text.contains(from), "{} has no `{from}`", mistake.file);
        text = text.replacen(from, to, 1);
    }
    fs::write(shop.join("mine").join(mistake.file), format!("#![allow(warnings)]\n{text}"))
        .unwrap();
}

/// The text, with the parameters of a function in its first line.
fn one_line_heads(text: &str) -> String {
    let mut joined = String::new();
    let mut is_head = false;
    for line in text.lines() {
        let is_end = is_head && line.trim_start().starts_with(')');
        if is_head {
            let part = line.trim_start();
            let part = if is_end { part } else { part.trim_end_matches(',') };
            joined += part;
            if !is_end && !joined.ends_with('(') {
                joined.push_str(", ");
            }
        } else {
            joined += line;
        }
        if line.trim_start().contains("fn ") && line.ends_with('(') {
            is_head = true;
        } else if !is_head || is_end {
            is_head = false;
            joined.push('\n');
        }
    }
    joined.replace(", )", ")")
}

#[test]
fn the_steps_of_the_shop_lead_to_our_state() {
    let exercises = root().join("crates/exercises");
    let steps = exercises.join("solutions/shop/steps");
    let fixed = tempfile::tempdir().unwrap();
    let [into, ours] = ["fixed", "ours"].map(|name| fixed.path().join(name));
    for (from, to) in [("shop/src/slow", &into), ("solutions/shop", &ours)] {
        let copied =
            std::process::Command::new("cp").arg("-r").arg(exercises.join(from)).arg(to).status();
        assert!(copied.unwrap().success());
    }
    std::fs::remove_dir_all(ours.join("steps")).unwrap();
    // With git, because a machine for the README's commands may have neither patch nor diff.
    let git = || {
        let mut git = std::process::Command::new("git");
        git.current_dir(fixed.path()).env("GIT_CEILING_DIRECTORIES", fixed.path());
        git
    };
    let mut count = 0;
    for step in steps.read_dir().unwrap() {
        let step = step.unwrap().path();
        let patched = git().args(["apply", "--directory=fixed"]).arg(&step).status();
        assert!(patched.unwrap().success(), "{}", step.display());
        count += 1;
    }
    assert_eq!(count, 10);
    let differ =
        git().args(["diff", "--no-index", "--exit-code", "ours", "fixed"]).output().unwrap();
    assert!(differ.status.success(), "{}", stdout(&differ));
}

#[test]
#[ignore = "builds the shop: `.ci/build practice-test our_fixes`"]
fn the_shop_with_our_fixes_breaks_no_rule() {
    let copy = Copy::new(&["shop"]);
    ends(&copy.practice(&["try", "shop"]), 0);
    fails(&copy.practice(&["try", "shop"]), 2, "was left as it is");
    fails(&copy.practice(&["check", "shop"]), 2, "`just contest` judges it");
    let mine = copy.dir("shop").join("src/mine");
    fs::remove_dir_all(&mine).unwrap();
    let ours = copy.0.join("crates/exercises/solutions/shop");
    let copied = std::process::Command::new("cp").arg("-r").arg(ours).arg(&mine).status();
    assert!(copied.unwrap().success());
    let judged: Value = json(&contest(&copy));
    assert!(judged["score_per_s"].as_f64().unwrap() > 0.0, "{judged}");
    assert_eq!(
        [&judged["is_kept"], &judged["advice"]],
        [&Value::Bool(true), &Value::Null],
        "{judged}"
    );
    // The second time, there is nothing to compare with: nothing has changed.
    let shown = stdout(&copy.practice(&["contest", "--chart"]));
    assert!(shown.contains("as it was"), "{shown}");
}

#[test]
#[ignore = "builds the shop again and again: `.ci/build practice-test`"]
fn a_shop_with_a_mistake_breaks_a_rule() {
    let copy = Copy::new(&["shop"]);
    ends(&copy.practice(&["try", "shop"]), 0);
    for mistake in &MISTAKES {
        write(&copy, mistake);
        fails(&contest(&copy), 2, mistake.said);
    }
}
