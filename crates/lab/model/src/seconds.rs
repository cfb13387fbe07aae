//! Durations in JSON: a number of seconds, which every language can read.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(f64),
    /// As records of runs before engines were commands have it: whole seconds and nanoseconds.
    Parts(Duration),
}

impl Seconds {
    fn duration<E: Error>(self) -> Result<Duration, E> {
        match self {
            Self::Number(seconds) => Duration::try_from_secs_f64(seconds).map_err(E::custom),
            Self::Parts(duration) => Ok(duration),
        }
    }
}

pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Seconds::deserialize(deserializer)?.duration()
}

/// A duration that may be absent.
pub mod option {
    use super::*;

    pub fn serialize<S: Serializer>(
        it: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        it.map(|duration| duration.as_secs_f64()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Option::<Seconds>::deserialize(deserializer)?.map(Seconds::duration).transpose()
    }
}
