//! The fix: the price list is indexed once, at the start, in the form in which parcels ask for it.
//!
//! `slow` makes two texts for each of the 108 tariffs and one for each of the 10 surcharges, for every
//! parcel: 226 texts, most of which are compared once and thrown away, and a vector of the tariffs that
//! fit. No line says `clone`; `format!` and `collect` allocate just as well.
//!
//! It helps to make the text of a parcel once, in place of once for each tariff: that leaves half. But the
//! price list doesn't change between parcels, so nothing about it has to be computed again. Here the
//! tariffs are in a map from zone and service, and an area is a country and a range of postcodes. A parcel
//! costs two look-ups and a few comparisons of numbers, and allocates nothing.
//!
//! Comparing the fields without making texts would allocate nothing either. It is a smaller change, and it
//! would still go over 108 tariffs for every parcel.

use std::{collections::HashMap, ops::Range, sync::Arc};

use axum::{
    Router,
    extract::{Query, State},
    routing::get,
};

use crate::{Batch, Parcel, Surcharge, Tariff, surcharges, tariffs, zone};

/// The service's routes.
pub fn routes() -> Router {
    let prices = Prices::new(tariffs(), surcharges());
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

/// The price list, by what a parcel knows about itself.
struct Prices {
    /// By zone and then by service, from the lightest on.
    tariffs: HashMap<String, HashMap<String, Vec<Tariff>>>,
    areas: Vec<Area>,
}

struct Area {
    country: String,
    postcodes: Range<u32>,
    cents: u32,
}

impl Prices {
    fn new(list: Vec<Tariff>, surcharges: Vec<Surcharge>) -> Self {
        let mut tariffs: HashMap<String, HashMap<String, Vec<Tariff>>> = HashMap::new();
        for tariff in list {
            let of_zone = tariffs.entry(tariff.zone.clone()).or_default();
            of_zone.entry(tariff.service.clone()).or_default().push(tariff);
        }
        Self { tariffs, areas: surcharges.iter().filter_map(Area::of).collect() }
    }

    /// What a parcel costs; `None` if it is too heavy for every tariff.
    fn cents(&self, parcel: &Parcel) -> Option<u32> {
        let tariffs = self.tariffs.get(zone(parcel.country)?)?.get(parcel.service)?;
        let tariff = tariffs.iter().find(|tariff| parcel.grams <= tariff.up_to_grams)?;
        Some(tariff.cents + self.surcharge(parcel))
    }

    /// The highest surcharge of the areas that the address is in.
    fn surcharge(&self, parcel: &Parcel) -> u32 {
        let of_address = self.areas.iter().filter(|area| area.contains(parcel));
        of_address.map(|area| area.cents).max().unwrap_or_default()
    }
}

impl Area {
    /// `DE-18` is the postcodes from 18000 to 18999 in Germany.
    fn of(surcharge: &Surcharge) -> Option<Self> {
        let (country, digits) = surcharge.area.split_once('-')?;
        let width = 10_u32.pow(5_u32.checked_sub(digits.len() as u32)?);
        let first = digits.parse::<u32>().ok()? * width;
        let (country, cents) = (country.to_owned(), surcharge.cents);
        Some(Self { country, postcodes: first..first + width, cents })
    }

    fn contains(&self, parcel: &Parcel) -> bool {
        self.country == parcel.country && self.postcodes.contains(&parcel.postcode)
    }
}
