//! Orders as a message queue delivered them, and what is computed from one.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::faults::Fault;

/// How many orders the service holds: 1 to this.
pub const ORDERS: u32 = 32;
const LINES: u32 = 400;
const DISCOUNTS: u64 = 40;
/// A code such as `AB-1204` or `AB-1204/red`.
const CODE: &str = r"^[A-Z]{2}-[0-9]{4}(/(red|green|blue|black|white))?$";

#[derive(Clone, Debug, Deserialize)]
pub struct Order {
    pub customer: String,
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Line {
    pub code: String,
    pub title: String,
    pub quantity: u64,
    pub cents: u64,
}

/// What is known of an order before the stock is asked.
#[derive(Debug, Eq, PartialEq)]
pub struct Quote {
    pub cents: u64,
    pub discount: u64,
    pub unknown_codes: usize,
}

pub struct Orders {
    messages: Vec<Vec<u8>>,
    faults: Vec<Fault>,
}

impl Orders {
    pub fn new(faults: &[Fault]) -> Self {
        Self { messages: (1..=ORDERS).map(message).collect(), faults: faults.to_vec() }
    }

    /// The message of an order; `None` if no order has this number.
    pub fn message(&self, id: u32) -> Option<&[u8]> {
        self.messages.get(id.checked_sub(1)? as usize).map(Vec::as_slice)
    }

    pub fn read(&self, message: &[u8]) -> Result<Order, serde_json::Error> {
        if self.faults.contains(&Fault::Parse) {
            read_checked(message)
        } else {
            serde_json::from_slice(message)
        }
    }

    pub fn quote(&self, order: &Order) -> Quote {
        let is_code = if self.faults.contains(&Fault::Regex) { is_valid_code } else { is_code };
        let discount = if self.faults.contains(&Fault::Clone) {
            (1..=DISCOUNTS).map(|rule| lines_discount(rule, order.lines.clone())).sum()
        } else {
            (1..=DISCOUNTS).map(|rule| discount(rule, &order.lines)).sum()
        };
        Quote {
            cents: order.lines.iter().map(|line| line.quantity * line.cents).sum(),
            discount,
            unknown_codes: order.lines.iter().filter(|line| !is_code(&line.code)).count(),
        }
    }
}

/// Looks at the version before it trusts the rest.
fn read_checked(message: &[u8]) -> Result<Order, serde_json::Error> {
    let document: Value = serde_json::from_slice(message)?;
    match document["version"].as_u64() {
        Some(_) => serde_json::from_value(document.clone()),
        None => Err(serde::de::Error::missing_field("version")),
    }
}

fn is_code(code: &str) -> bool {
    static PATTERN: LazyLock<Regex> = LazyLock::new(pattern);
    PATTERN.is_match(code)
}

fn is_valid_code(code: &str) -> bool {
    pattern().is_match(code)
}

fn pattern() -> Regex {
    Regex::new(CODE).expect("the pattern is valid")
}

/// Every so many pieces of an item, one is free.
fn discount(rule: u64, lines: &[Line]) -> u64 {
    let discounted = lines.iter().filter(|line| line.cents % DISCOUNTS + 1 == rule);
    discounted.map(|line| line.quantity / (rule + 1) * line.cents).sum()
}

fn lines_discount(rule: u64, mut lines: Vec<Line>) -> u64 {
    lines.retain(|line| line.cents % DISCOUNTS + 1 == rule);
    lines.into_iter().map(|line| line.quantity / (rule + 1) * line.cents).sum()
}

/// The message with this number, the same on every machine. It has more fields than the service needs.
fn message(id: u32) -> Vec<u8> {
    let line = |nth: u32| {
        let number = nth * 7919 + id * 104_729;
        let colour = ["", "/red", "/green", "/blue", "/pink"][(number % 5) as usize];
        json!({
            "code": format!("AB-{:04}{colour}", number % 10_000),
            "title": format!("Item {number} of the catalogue"),
            "quantity": number % 90 + 1,
            "cents": number % 9_973 + 99,
            "currency": "EUR",
            "tax_percent": 19,
            "warehouse": format!("north-{}", number % 3),
            "gift": null,
        })
    };
    let lines: Vec<_> = (0..LINES).map(line).collect();
    json!({ "version": 1, "customer": format!("customer-{id}"), "lines": lines }).to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an order allocates with these faults, and its quote.
    fn allocations(faults: &[Fault]) -> (u64, Quote) {
        let orders = Orders::new(faults);
        let message = orders.message(7).unwrap();
        let once = || orders.quote(&orders.read(message).unwrap());
        let quote = once();
        let counted = allocation_counter::measure(|| assert_eq!(once(), quote));
        (counted.count_total, quote)
    }

    #[test]
    fn each_fault_allocates_many_times_as_much_for_the_same_quote() {
        let (healthy, quote) = allocations(&[]);
        assert!(healthy <= u64::from(LINES) * 6, "{healthy}");
        // A string for each code and title, in a new vector, for each discount.
        let cloned = DISCOUNTS * u64::from(2 * LINES + 1);
        // Each field's name and each text, once for the document and once for its copy.
        let documents = u64::from(LINES) * 12;
        for (fault, more) in [
            (Fault::Clone, cloned),
            (Fault::Parse, documents),
            (Fault::Regex, u64::from(LINES) * 20),
        ] {
            let (counted, same) = allocations(&[fault]);
            assert!(counted >= healthy + more, "{fault:?}: {counted}, healthy {healthy}");
            assert_eq!(same, quote);
        }
    }

    #[test]
    fn a_message_that_breaks_off_is_an_error_in_both_readers() {
        for faults in [&[][..], &[Fault::Parse]] {
            let orders = Orders::new(faults);
            assert!(orders.message(0).is_none() && orders.message(ORDERS + 1).is_none());
            assert!(orders.read(b"{}").is_err() && orders.read(b"{\"version\":1,").is_err());
        }
    }
}
