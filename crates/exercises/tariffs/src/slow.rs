//! Estimates parcels one by one, and adds them up.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Query, State},
    routing::get,
};

use crate::{Batch, Parcel, Surcharge, Tariff, surcharges, tariffs, zone};

/// The service's routes.
pub fn routes() -> Router {
    let prices = Prices { tariffs: tariffs(), surcharges: surcharges() };
    Router::new().route("/estimate", get(estimate)).with_state(Arc::new(prices))
}

async fn estimate(State(prices): State<Arc<Prices>>, Query(batch): Query<Batch>) -> String {
    let mut estimate = Estimate::default();
    for parcel in batch.parcels() {
        estimate.add(prices.cents(&parcel));
    }
    estimate.text()
}

/// The sums of a batch.
#[derive(Default)]
struct Estimate {
    parcels: u64,
    without_tariff: u64,
    cents: u64,
    highest: u32,
}

impl Estimate {
    fn add(&mut self, cents: Option<u32>) {
        self.parcels += 1;
        match cents {
            None => self.without_tariff += 1,
            Some(cents) => {
                self.cents += u64::from(cents);
                self.highest = self.highest.max(cents);
            }
        }
    }

    fn text(&self) -> String {
        let Self { parcels, without_tariff, cents, highest } = self;
        format!("{parcels} parcels, {without_tariff} too heavy\n{cents} cents, at most {highest}\n")
    }
}

struct Prices {
    tariffs: Vec<Tariff>,
    surcharges: Vec<Surcharge>,
}

impl Prices {
    /// What a parcel costs; `None` if it is too heavy for every tariff.
    fn cents(&self, parcel: &Parcel) -> Option<u32> {
        let tariffs = self.tariffs_of(parcel);
        let tariff = tariffs.into_iter().find(|tariff| parcel.grams <= tariff.up_to_grams)?;
        Some(tariff.cents + self.surcharge(parcel))
    }

    /// The tariffs for a parcel's zone and service, from the lightest on.
    fn tariffs_of(&self, parcel: &Parcel) -> Vec<&Tariff> {
        let zone = zone(parcel.country).unwrap_or_default();
        let fits = |it: &&Tariff| kind(&it.zone, &it.service) == kind(zone, parcel.service);
        self.tariffs.iter().filter(fits).collect()
    }

    /// The highest surcharge of the areas that the address is in.
    fn surcharge(&self, parcel: &Parcel) -> u32 {
        let of_address = self.surcharges.iter().filter(|it| address(parcel).starts_with(&it.area));
        of_address.map(|surcharge| surcharge.cents).max().unwrap_or_default()
    }
}

/// A zone and a service, as the price list has them in its headings.
fn kind(zone: &str, service: &str) -> String {
    format!("{zone}, {service}")
}

/// A parcel's address, in the form that areas have.
fn address(parcel: &Parcel) -> String {
    format!("{}-{:05}", parcel.country, parcel.postcode)
}
