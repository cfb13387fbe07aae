//! The drawing office, which is another service: the workshop sees no more of it than its answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    routing::put,
};
use case_probe::{span, work};
use tokio::{sync::Semaphore, time::sleep};

use crate::Options;

/// A line of a drawing: how many of a part an item has.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    pub count: u32,
}

/// Every item that the workshop makes, and its parts. The workshop buys what isn't on the left.
const DRAWINGS: [(&str, &[(&str, u32)]); 14] = [
    (
        "bicycle",
        &[("frame", 1), ("wheel", 2), ("cranks", 1), ("handlebar", 1), ("saddle", 1), ("brake", 2)],
    ),
    (
        "tandem",
        &[("frame", 2), ("wheel", 2), ("cranks", 2), ("handlebar", 2), ("saddle", 2), ("brake", 3)],
    ),
    ("frame", &[("tube", 8), ("headset", 1), ("bracket", 1)]),
    ("wheel", &[("hub", 1), ("rim", 1), ("spoke", 36), ("tyre", 1)]),
    ("cranks", &[("arm", 2), ("chainring", 2), ("pedal", 2), ("bolt", 5)]),
    ("handlebar", &[("bar", 1), ("grip", 2), ("stem", 1)]),
    ("saddle", &[("rail", 2), ("cover", 1), ("bolt", 2)]),
    ("brake", &[("lever", 1), ("pad", 2), ("cable", 1), ("bolt", 4)]),
    ("headset", &[("bearing", 2), ("cup", 2)]),
    ("bracket", &[("axle", 1), ("bearing", 2), ("cup", 2)]),
    ("hub", &[("axle", 1), ("bearing", 2), ("shell", 1)]),
    ("pedal", &[("axle", 1), ("bearing", 2), ("cage", 1)]),
    ("stem", &[("bolt", 4), ("clamp", 1)]),
    ("bearing", &[("ball", 9), ("ring", 2)]),
];

/// The drawing office answers so many questions at the same time.
const AT_ONCE: usize = 8;

/// The office itself. It may change a drawing at any time.
pub struct Office {
    wait: Duration,
    desks: Semaphore,
    drawings: Mutex<BTreeMap<String, Vec<Part>>>,
}

impl Office {
    /// With the drawings of today.
    pub fn new(options: Options) -> Arc<Self> {
        let part = |&(name, count): &(&str, u32)| Part { name: name.to_owned(), count };
        let drawing = |(item, parts): (&str, &[(&str, u32)])| {
            (item.to_owned(), parts.iter().map(part).collect())
        };
        Arc::new(Self {
            wait: Duration::from_millis(options.office_ms),
            desks: Semaphore::new(AT_ONCE),
            drawings: Mutex::new(DRAWINGS.map(drawing).into()),
        })
    }

    /// The parts of an item; none if it has no drawing.
    pub async fn drawing(&self, item: &str) -> Vec<Part> {
        self.drawings(&[item]).await.into_iter().flatten().collect()
    }

    /// The parts of each of these items. It's one question, and takes as long as that for one item.
    pub async fn drawings(&self, items: &[impl AsRef<str>]) -> Vec<Vec<Part>> {
        let queue = span("queue");
        let _desk = self.desks.acquire().await;
        drop(queue);
        let _recorded = span("office");
        work("questions");
        // Simulates a request to another service.
        sleep(self.wait).await;
        let drawings = self.drawings.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = |item: &str| drawings.get(item).cloned().unwrap_or_default();
        items.iter().map(|item| parts(item.as_ref())).collect()
    }

    /// Changes how many of a part an item has. A part can be new, but isn't made of others: so no item becomes a
    /// part of itself.
    fn change(&self, item: &str, part: String, count: u32) -> StatusCode {
        let mut drawings = self.drawings.lock().unwrap_or_else(PoisonError::into_inner);
        let is_made = drawings.contains_key(&part);
        let Some(parts) = drawings.get_mut(item) else { return StatusCode::NOT_FOUND };
        match parts.iter_mut().find(|known| known.name == part) {
            _ if !(1..=100).contains(&count) || part.len() > 40 => return StatusCode::BAD_REQUEST,
            Some(known) => known.count = count,
            None if is_made => return StatusCode::BAD_REQUEST,
            None => parts.push(Part { name: part, count }),
        }
        StatusCode::NO_CONTENT
    }
}

/// `PUT /drawings/ITEM/PART/COUNT`: the drawing office itself changes a drawing.
pub fn change_routes(office: Arc<Office>) -> Router {
    type Change = Path<(String, String, u32)>;
    let change = async |State(office): State<Arc<Office>>, Path((item, part, count)): Change| {
        office.change(&item, part, count)
    };
    Router::new().route("/drawings/{item}/{part}/{count}", put(change)).with_state(office)
}
