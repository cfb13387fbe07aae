//! The kinds of visits, and what each asks.

use serde::Serialize;
use serde_json::json;

use super::question::{Ask, Question};
use crate::data::{self, LOGGED_IN, mixed};

/// A kind of visits.
#[derive(Serialize)]
pub struct Visit {
    pub name: &'static str,
    pub weight: u32,
    /// In 99 of 100 visits, the last answer has to come within this time.
    pub objective_ms: u32,
    /// The request of each that has to get the same answer from a shop that was started again.
    pub again: Option<usize>,
    /// How many of its answers have a number that the stock service was asked for.
    pub stock_reads: u64,
    /// The reservations that each makes, by the reference; empty if it makes none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    pub alternatives: Vec<Vec<Ask>>,
}

/// Who comes, and what for. Customers and products are parted between the kinds.
pub fn kinds(seed: u32) -> Vec<(Visit, Vec<Vec<Question>>)> {
    let random = |nth: u32, salt: u32, choices: u32| mixed(nth, seed ^ salt) % choices;
    let page_of = |page: u32| Question::get(format!("/products?page={page}"));
    let product_page = |id: u32| Question::get(format!("/products/{id}"));
    let kind = |name, weight, objective_ms| Visit {
        name,
        weight,
        objective_ms,
        again: None,
        stock_reads: 0,
        references: Vec::new(),
        alternatives: Vec::new(),
    };

    let browse = (0..120).map(|nth| vec![page_of(1 + random(nth, 1, 60))]);
    let product = (0..400).map(|nth| vec![product_page(1 + random(nth, 2, 1_100))]);
    let search = (0..50).map(|nth| vec![Question::get(format!("/search?q={}", data::word(nth)))]);
    let basket = (0..400).map(|nth| {
        let entry =
            |entry| (1 + random(nth * 8 + entry, 3, 1_100), 1 + random(nth * 8 + entry, 4, 5));
        let entries: Vec<_> = (0..1 + random(nth, 5, 5)).map(entry).collect();
        let put = Question::with_json("PUT", "/basket", json!(entries));
        vec![put.of(1 + nth), Question::get("/basket".to_owned()).of(1 + nth)]
    });
    let orders = (0..400).map(|nth| vec![Question::get("/orders".to_owned()).of(601 + nth)]);

    let reference = |nth: u32| format!("new-{nth}-{:08x}", mixed(nth, seed ^ 6));
    let is_refused = |nth: &u32| random(*nth, 7, 10) == 0;
    let checkout = (0..1_650).map(|nth| {
        let (customer, own) = (1_201 + nth, 2_201 + nth);
        // Of the products that several orders have, there is enough for all of them.
        let amount = if is_refused(&nth) { 500 } else { 1 + random(nth, 8, 5) };
        let basket = json!([(own, amount), (1_101 + nth % 100, 1), (1_101 + (nth + 50) % 100, 1)]);
        vec![
            product_page(own),
            Question::with_json("PUT", "/basket", basket).of(customer),
            Question::with_json("POST", "/checkout", json!({ "reference": reference(nth) }))
                .of(customer),
            Question::get("/orders".to_owned()).of(customer),
            product_page(own),
        ]
    });
    let login = (0..64).map(|nth| {
        let customer = LOGGED_IN + 1 + random(nth, 9, data::CUSTOMERS - LOGGED_IN);
        let password = data::password_of(customer + u32::from(random(nth, 10, 4) == 0));
        let login = json!({ "mail": data::mail_of(customer), "password": password });
        vec![Question::with_json("POST", "/login", login)]
    });
    // The ten cheapest products, which a search shows, stay the same.
    let is_dear = |id: &u32| data::product(*id, seed).cents > 3_000;
    let alone: Vec<_> = (2_001..=2_200).chain(3_851..=4_000).filter(is_dear).collect();
    // One price in five is seen in a list, the others on the product's page. A visit comes again after so many others
    // that it can't meet itself.
    let price = (0..alone.len() as u32).map(|nth| {
        let (page, id) = (61 + nth / 5 % 40, alone[nth as usize]);
        let (id, seen) = if nth.is_multiple_of(5) {
            let listed = (20 * (page - 1) + 1..=20 * page).find(is_dear);
            (listed.unwrap_or(20 * page), page_of(page))
        } else {
            (id, product_page(id))
        };
        let set = |salt| {
            let cents = json!({ "cents": 9_200 + random(nth, salt, 900) });
            Question::with_json("PUT", &format!("/products/{id}/price"), cents)
        };
        vec![set(11), seen.clone(), set(12), seen]
    });

    let references =
        (0..1_650).map(|nth| if is_refused(&nth) { String::new() } else { reference(nth) });
    vec![
        (kind("browse", 60, 100), browse.collect()),
        (Visit { stock_reads: 1, ..kind("product", 50, 250) }, product.collect()),
        (kind("search", 16, 100), search.collect()),
        (Visit { again: Some(1), ..kind("basket", 32, 100) }, basket.collect()),
        (kind("orders", 22, 100), orders.collect()),
        (
            Visit {
                again: Some(3),
                stock_reads: 2,
                references: references.collect(),
                ..kind("checkout", 8, 1_000)
            },
            checkout.collect(),
        ),
        (kind("login", 2, 500), login.collect()),
        (kind("price", 3, 250), price.collect()),
    ]
}
