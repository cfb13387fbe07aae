//! A service that estimates what the parcels of a depot cost to send, by a price list.
//!
//! All variants share this file. Read [`slow`]: `just try tariffs` copies it to `mine.rs`, which is yours.

#[path = "../../solutions/tariffs.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;

use case_server::InProcess;
use serde::Deserialize;

/// A parcel in the depot.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Such as `DE`.
    pub country: &'static str,
    pub postcode: u32,
    pub service: &'static str,
    pub grams: u32,
}

impl Parcel {
    /// The parcel with this number. The depot is simulated, so a number always means the same parcel.
    fn numbered(number: u32) -> Self {
        let mixed = number.wrapping_mul(2_654_435_761);
        let pick = |shift: u32, of: usize| (mixed >> shift) as usize % of;
        Self {
            country: COUNTRIES[pick(3, COUNTRIES.len())].0,
            postcode: (mixed >> 7) % 100_000,
            service: SERVICES[pick(11, SERVICES.len())],
            grams: 50 + (mixed >> 13) % 32_000,
        }
    }
}

const SERVICES: [&str; 3] = ["economy", "standard", "express"];

/// Countries, and the zone of each in the price list.
const COUNTRIES: [(&str, &str); 8] = [
    ("DE", "home"),
    ("AT", "near"),
    ("FR", "near"),
    ("PL", "near"),
    ("GR", "far"),
    ("PT", "far"),
    ("IS", "overseas"),
    ("NO", "overseas"),
];

/// The zone of a country that the depot sends to.
fn zone(country: &str) -> Option<&'static str> {
    COUNTRIES.into_iter().find(|(code, _)| *code == country).map(|(_, zone)| zone)
}

/// A line of the price list.
#[derive(Clone, Debug)]
pub struct Tariff {
    pub zone: String,
    pub service: String,
    pub up_to_grams: u32,
    pub cents: u32,
}

/// What an address in an area costs in addition.
#[derive(Clone, Debug)]
pub struct Surcharge {
    /// A country and the first digits of a postcode, such as `DE-18`.
    pub area: String,
    pub cents: u32,
}

/// The price list: for each zone and service, from the lightest parcel to the heaviest.
fn tariffs() -> Vec<Tariff> {
    let mut tariffs = Vec::new();
    for (zone, factor) in [("home", 2), ("near", 5), ("far", 7), ("overseas", 12)] {
        for (service, more) in SERVICES.into_iter().zip([100, 160, 390]) {
            for kilos in [1, 2, 3, 5, 8, 12, 18, 25, 31] {
                let (zone, service) = (zone.to_owned(), service.to_owned());
                let cents = factor * more + kilos * 10 * factor;
                tariffs.push(Tariff { zone, service, up_to_grams: kilos * 1000, cents });
            }
        }
    }
    tariffs
}

/// Islands, mountains and other places that take a driver half a day.
fn surcharges() -> Vec<Surcharge> {
    let areas =
        ["DE-18", "DE-2649", "DE-87", "FR-20", "FR-971", "GR-8", "GR-29", "PT-9", "NO-9", "IS-4"];
    let cents = (4..).map(|step| step * 150);
    let areas = areas.into_iter().zip(cents);
    areas.map(|(area, cents)| Surcharge { area: area.to_owned(), cents }).collect()
}

/// More parcels aren't in the depot.
const MOST_PARCELS: u32 = 20_000;

/// Which parcels to estimate: this many, from the first on.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Batch {
    parcels: u32,
    #[serde(default)]
    first: u32,
}

impl Batch {
    fn parcels(self) -> impl Iterator<Item = Parcel> {
        let numbers = 0..self.parcels.min(MOST_PARCELS);
        numbers.map(move |nth| Parcel::numbered(self.first.wrapping_add(nth)))
    }
}

/// All variants by name, for tests that use no socket.
pub fn variants() -> [(&'static str, InProcess); 2] {
    [("slow", InProcess::new(slow::routes())), ("fixed", InProcess::new(fixed::routes()))]
}
