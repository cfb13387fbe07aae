//! The fix: one printer for all requests, made at the start.
//!
//! `Printer::new` sounds cheap. It registers more than a hundred of minijinja's own filters, tests and
//! functions, and parses twelve templates, of which a receipt needs four. None of that depends on the
//! request; only the language does, and it is now an argument of `print`.
//!
//! Adding only the four templates of one language is half of the fix: they and minijinja's own functions
//! are still set up for each receipt. A printer for each language, made on first use, would also do.
//!
//! The first request used to report a template with a mistake. Now the start of the service would have to.
//! Here it keeps the error and answers as before, because a fix must not change an answer. In your own
//! service, let it refuse to start.
//!
//! Look for types that are called `Client`, `Engine`, `Environment` or `Printer` and made in a handler.
//! What they do in `new` is worth a look.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use minijinja::{Environment, Error, context, value::Serde};

use crate::{Language, Order, Templates, Wish, money, templates::PARTS};

/// The service's routes.
pub fn routes(templates: Templates) -> Router {
    let printer = Arc::new(Printer::new(templates));
    Router::new()
        .route("/receipts", get(newest))
        .route("/receipts/{number}", get(receipt))
        .with_state(printer)
}

async fn receipt(
    State(printer): State<Arc<Result<Printer, Error>>>,
    Path(number): Path<u32>,
    Query(wish): Query<Wish>,
) -> Result<String, Failure> {
    let order = Order::numbered(number).ok_or(Failure::NoOrder)?;
    let printer = Result::as_ref(&printer).map_err(|_| Failure::NotPrinted)?;
    Ok(printer.print(&order, wish.language)?)
}

/// The numbers of the newest orders.
async fn newest() -> String {
    let newest = (1..=crate::NEWEST).rev().take(3);
    newest.map(|number| format!("/receipts/{number}\n")).collect()
}

/// Prints receipts in all languages.
struct Printer {
    environment: Environment<'static>,
}

impl Printer {
    fn new(templates: Templates) -> Result<Self, Error> {
        let mut environment = Environment::new();
        environment.add_filter("money", money);
        environment.add_filter("pad", |text: String, width: usize| text.repeat(width));
        for (name, source) in templates {
            environment.add_template(name, source)?;
        }
        Ok(Self { environment })
    }

    fn print(&self, order: &Order, language: Language) -> Result<String, Error> {
        let mut receipt = String::new();
        for part in PARTS {
            let name = format!("{}/{part}", language.code());
            let template = self.environment.get_template(&name)?;
            receipt += &template.render(context! { order => Serde(order) })?;
        }
        Ok(receipt)
    }
}

/// Why there is no receipt.
enum Failure {
    NoOrder,
    NotPrinted,
}

impl From<Error> for Failure {
    fn from(_: Error) -> Self {
        Self::NotPrinted
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::NoOrder => (StatusCode::NOT_FOUND, "no such order\n"),
            Self::NotPrinted => {
                (StatusCode::INTERNAL_SERVER_ERROR, "the receipt cannot be printed\n")
            }
        }
        .into_response()
    }
}
