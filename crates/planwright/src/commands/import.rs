//! `planwright import`: plans of an older `plans.json`, and what other programs keep.
//!
//! - `older`: the older `plans.json`
//! - `foreign`: plans that Claude Code, planning-with-files and Task Master keep as files
//! - `golemcore`: everything in the folder of a GolemCore bot

mod foreign;
mod golemcore;
mod older;

use std::path::Path;

use planwright_core::legacy::ForeignPlans;
use planwright_engine::importer::ImportRun;
use tempfile::TempDir;

use crate::cli::{Global, ImportArgs, Typed};
use crate::context::{Context, Store};
use crate::failure::{ExitResult, Failure};

/// The name of the program whose whole folder is taken.
const GOLEMCORE: &str = "golemcore";

pub(crate) async fn run(global: &Global, arguments: &ImportArgs) -> ExitResult {
    let named = arguments.source.to_str().unwrap_or_default();
    if let Ok(whose) = named.parse::<ForeignPlans>() {
        return foreign::run(global, arguments, whose).await;
    }
    if named == GOLEMCORE {
        return golemcore::run(global, arguments).await;
    }
    if arguments.folder.is_some() || arguments.session.is_some() {
        let message = format!(
            "{} is taken for a file of older plans, which has no folder and no session; the programs are {}, {GOLEMCORE}",
            arguments.source.display(),
            ForeignPlans::ALL.map(ForeignPlans::as_str).join(", "),
        );
        return Err(Failure::usage(message));
    }
    older::run(global, arguments).await
}

/// The store, and the temporary folder it is in where a dry run has none to look at.
struct ImportStore {
    context: Context,
    _folder: Option<TempDir>,
}

impl ImportStore {
    async fn open(global: &Global, run: ImportRun) -> Result<Self, Failure> {
        if run == ImportRun::Real {
            return Ok(Self { context: Context::open(global, Store::MayBeMade).await?, _folder: None });
        }
        if let Some(context) = Context::open_existing(global).await? {
            return Ok(Self { context, _folder: None });
        }
        // A look makes no store.
        let folder =
            tempfile::tempdir().map_err(|error| Failure::unavailable(format!("a folder cannot be made: {error}")))?;
        let elsewhere = Global {
            data: Some(folder.path().to_owned()),
            database: Some(format!("sqlite:{}", folder.path().join("planwright.db").display())),
            config: None,
            typed: Typed::default(),
            ..global.clone()
        };
        Ok(Self { context: Context::open(&elsewhere, Store::MayBeMade).await?, _folder: Some(folder) })
    }
}

impl ImportArgs {
    fn run(&self) -> ImportRun {
        if self.dry_run { ImportRun::Dry } else { ImportRun::Real }
    }
}

/// Nothing was found to take.
fn nothing(folder: &Path, what: &str) -> Failure {
    Failure::unexpected(format!("nothing was taken: {} has no {what}", folder.display()))
}
