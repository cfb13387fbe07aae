//! What the shop tells its monitoring, as Prometheus text.

use prometheus::{
    Encoder as _, HistogramOpts, HistogramVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};
use sqlx::SqlitePool;

pub struct Metrics {
    registry: Registry,
    pub seconds: HistogramVec,
    pub in_flight: IntGauge,
    connections: IntGaugeVec,
    db: SqlitePool,
}

impl Metrics {
    pub fn new(db: SqlitePool) -> prometheus::Result<Self> {
        let registry = Registry::new();
        let seconds = HistogramOpts::new("http_request_duration_seconds", "How long requests took")
            .buckets(vec![0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5]);
        let seconds = HistogramVec::new(seconds, &["method", "route"])?;
        let in_flight = IntGauge::new("http_requests_in_flight", "Requests without an answer")?;
        let connections = Opts::new("db_pool_connections", "Connections to the database");
        let connections = IntGaugeVec::new(connections, &["state"])?;
        registry.register(Box::new(seconds.clone()))?;
        registry.register(Box::new(in_flight.clone()))?;
        registry.register(Box::new(connections.clone()))?;
        Ok(Self { registry, seconds, in_flight, connections, db })
    }

    pub fn as_text(&self) -> anyhow::Result<String> {
        let (all, idle) = (i64::from(self.db.size()), self.db.num_idle() as i64);
        self.connections.with_label_values(&["idle"]).set(idle);
        self.connections.with_label_values(&["busy"]).set(all - idle);
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(String::from_utf8(text)?)
    }
}
