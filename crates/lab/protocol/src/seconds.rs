//! Durations in JSON: a number of seconds, which every language can read.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(Error::custom)
}

/// A duration that may be absent.
pub mod option {
    use super::*;

    pub fn serialize<S: Serializer>(
        seconds: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        seconds.map(|duration| duration.as_secs_f64()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        seconds.map(Duration::try_from_secs_f64).transpose().map_err(Error::custom)
    }
}
