//! The product's promises as people would say them: every scenario under `features/`, on both stores, each a test
//! of its own.

#![allow(clippy::unwrap_used)]

mod ask_agent;
mod auto;
mod browser;
mod conversation;
mod execution;
mod life_cycle;
mod memory;
mod planner;
mod process;
mod projects;
mod routing;
mod settings;
mod steps;
mod telegram;
mod test_tools;
mod workbook;
mod world;

use std::path::{Path, PathBuf};

use cucumber::gherkin::{Feature, GherkinEnv};
use cucumber::writer::{self, Coloring, Stats as _};
use cucumber::{World as _, WriterExt as _, feature::Ext as _};
use libtest_mimic::{Arguments, Failed, Trial};
use planwright_test_support::{stores, talk};

use world::{StoreKind, World, on_store};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../features");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the features are there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    let trials = files.iter().flat_map(|file| trials(file)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trials(file: &Path) -> Vec<Trial> {
    let feature = Feature::parse_path(file, GherkinEnv::default())
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        .expand_examples()
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut trials = Vec::new();
    for scenario in &feature.scenarios {
        for kind in [StoreKind::Sqlite, StoreKind::Postgres] {
            let (file, line) = (file.to_owned(), scenario.position.line);
            let name = format!("{kind:?}: {}: {} (line {line})", feature.name, scenario.name);
            trials.push(Trial::test(name, move || run(&file, line, kind)));
        }
    }
    trials
}

fn run(file: &Path, line: usize, kind: StoreKind) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut shown = Vec::new();
    let failed = runtime.block_on(on_store(kind, async {
        let output = writer::Basic::raw(&mut shown, Coloring::Never, 0).normalized().summarized();
        let writer = World::cucumber()
            .max_concurrent_scenarios(1)
            .with_writer(output)
            .fail_on_skipped()
            .with_default_cli()
            .filter_run(file.to_owned(), move |_, _, scenario| scenario.position.line == line)
            .await;
        writer.execution_has_failed() || writer.passed_steps() == 0
    }));
    if failed { Err(String::from_utf8_lossy(&shown).into_owned().into()) } else { Ok(()) }
}
