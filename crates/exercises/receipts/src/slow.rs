//! Looks the order up, and prints it part by part.

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
    Router::new()
        .route("/receipts", get(newest))
        .route("/receipts/{number}", get(receipt))
        .with_state(templates)
}

async fn receipt(
    State(templates): State<Templates>,
    Path(number): Path<u32>,
    Query(wish): Query<Wish>,
) -> Result<String, Failure> {
    let order = Order::numbered(number).ok_or(Failure::NoOrder)?;
    Ok(Printer::new(templates, wish.language)?.print(&order)?)
}

/// The numbers of the newest orders.
async fn newest() -> String {
    let newest = (1..=crate::NEWEST).rev().take(3);
    newest.map(|number| format!("/receipts/{number}\n")).collect()
}

/// Prints receipts in one language.
struct Printer {
    environment: Environment<'static>,
    language: Language,
}

impl Printer {
    fn new(templates: Templates, language: Language) -> Result<Self, Error> {
        let mut environment = Environment::new();
        environment.add_filter("money", money);
        environment.add_filter("pad", |text: String, width: usize| text.repeat(width));
        for (name, source) in templates {
            environment.add_template(name, source)?;
        }
        Ok(Self { environment, language })
    }

    fn print(&self, order: &Order) -> Result<String, Error> {
        let mut receipt = String::new();
        for part in PARTS {
            let name = format!("{}/{part}", self.language.code());
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
