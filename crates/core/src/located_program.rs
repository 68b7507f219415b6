//! A program where it was found.

use serde::{Deserialize, Serialize};

/// Whoever starts Planwright sets `PATH`, so what a person accepted is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocatedProgram {
    /// The absolute path.
    pub file: String,
    /// The `PATH` that it was looked for in and that it gets.
    pub path: String,
}
