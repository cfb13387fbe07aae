//! Groups of functions, as the file of rules names them.

use std::collections::BTreeMap;

use lab_observation::Pattern;

use super::figure::Figure;

/// Functions that belong together.
#[derive(Debug, Default)]
pub struct Groups {
    /// By the figure that says how much CPU time they take.
    pub functions: BTreeMap<Figure, Vec<Pattern>>,
    /// The groups that allocate for a reason of their own.
    pub allocate: Vec<Figure>,
}
