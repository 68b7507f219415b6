//! Which build of Planwright this is. The script `build.rs` reads the commit; a development build has none, so that it is not
//! compiled again after every commit.

/// The version of the release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version with commit and date, as `planwright --version` says it.
pub const DESCRIBED: &str = env!("PLANWRIGHT_DESCRIBED");

/// The commit that the program was built from; `+` follows if files had been changed since.
pub const COMMIT: Option<&str> = option_env!("PLANWRIGHT_BUILT_COMMIT");

/// The day of the commit: `2026-11-19`.
pub const COMMIT_DATE: Option<&str> = option_env!("PLANWRIGHT_BUILT_DATE");
