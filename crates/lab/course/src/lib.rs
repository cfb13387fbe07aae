//! What readers see of a record: `chart/` draws it, and `report/` makes one HTML page of a run.

pub mod chart;
pub mod report;
