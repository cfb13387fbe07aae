//! The order service: `GET /orders/ID` reads an order, writes it to the audit log, and asks for its stock.

use std::{path::Path, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{self, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use futures_util::{StreamExt as _, future::ready, stream::once};
use tokio::net::TcpStream;

use crate::{
    audit::Audit,
    faults::Fault,
    orders::Orders,
    stock::{Stock, StockService},
};

struct Shop {
    orders: Orders,
    audit: Audit,
    stock: Stock,
}

/// The service's routes. `log` is the file of the audit log.
pub fn routes(stock: &StockService, log: &Path, faults: &[Fault]) -> anyhow::Result<Router> {
    let shop = Shop {
        orders: Orders::new(faults),
        audit: Audit::new(log, faults)?,
        stock: Stock::new(stock.address, faults)?,
    };
    Ok(Router::new().route("/orders/{id}", get(order)).with_state(Arc::new(shop)))
}

/// Sets up a connection that was just accepted.
pub fn accepted(stream: &TcpStream, faults: &[Fault]) {
    let _ = stream.set_nodelay(!faults.contains(&Fault::Nodelay));
}

async fn order(State(shop): State<Arc<Shop>>, extract::Path(id): extract::Path<u32>) -> Response {
    let Some(message) = shop.orders.message(id) else {
        return (StatusCode::NOT_FOUND, "no such order\n").into_response();
    };
    let order = match shop.orders.read(message) {
        Ok(order) => order,
        Err(error) => return failed(&error.into()),
    };
    let quote = shop.orders.quote(&order);
    if let Err(error) = shop.audit.record(id, &order) {
        return failed(&error.into());
    }
    let first = format!(
        "{{\"order\":{id},\"lines\":{},\"cents\":{},\"discount\":{},\"unknown_codes\":{},",
        order.lines.len(),
        quote.cents,
        quote.discount,
        quote.unknown_codes
    );
    // The client can show the price while the stock is looked up.
    let last = async move { shop.stock.level(id).await.map(|it| format!("\"stock\":{it}}}\n")) };
    let parts = once(ready(anyhow::Ok(first))).chain(once(last));
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(parts)).into_response()
}

fn failed(error: &anyhow::Error) -> Response {
    eprintln!("an order failed: {error:#}");
    (StatusCode::INTERNAL_SERVER_ERROR, "the order can't be shown\n").into_response()
}
