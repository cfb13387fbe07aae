//! The pages.

use minijinja::{Environment, value::Value};

/// A page from the template of this name.
pub fn page(name: &str, values: Value) -> anyhow::Result<String> {
    Ok(environment()?.get_template(name)?.render(values)?)
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    environment.add_filter("money", money);
    environment.add_filter("stars", stars);
    for (name, source) in crate::TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

/// An amount of cents as people read it: `1,234.50`.
fn money(cents: u32) -> String {
    let mut reversed = String::new();
    let digits = format!("{:02}", cents % 100);
    for digit in digits.chars().rev() {
        reversed = reversed + &digit.to_string();
    }
    reversed = reversed + ".";
    let euros = (cents / 100).to_string();
    let mut nth = 0;
    for digit in euros.chars().rev() {
        if nth > 0 && nth % 3 == 0 {
            reversed = reversed + ",";
        }
        reversed = reversed + &digit.to_string();
        nth = nth + 1;
    }
    let characters: Vec<String> = reversed.chars().map(|character| character.to_string()).collect();
    let mut amount = String::new();
    for character in characters.iter().rev() {
        amount = amount.clone() + character;
    }
    amount
}

/// Tenths of a star as five characters.
fn stars(tenths: u32) -> String {
    let mut text = String::from("");
    for nth in 1..=5 {
        if tenths + 5 >= nth * 10 {
            text = format!("{}{}", text, "★");
        } else {
            text = format!("{}{}", text, "☆");
        }
    }
    text.clone()
}
