//! The workbook: its documents in the ledger, their files on disk, and the tools on both.

mod archives;
mod disk;
mod gate;
mod hostile;
mod switches;
mod tools;
mod two_processes;

use std::fs;
use std::path::PathBuf;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::refusal::Refusal;
use planwright_core::workbook::{DocumentKind, Workbook};
use planwright_engine::Engine;
use serde_json::{Value, json};

use crate::world::{World, person};

impl World {
    /// A session whose planning files are on.
    pub(crate) async fn with_planning_files() -> Self {
        let world = Self::new([]).await;
        world.engine().workbooks().switch_planning_files(&world.session, &person(), true).await.unwrap();
        world
    }

    /// One with a workbook in it.
    pub(crate) async fn with_workbook() -> Self {
        let world = Self::with_planning_files().await;
        world.call("init_plan", json!({ "task_title": "Move the shop" })).await;
        world
    }

    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<Value, Refusal> {
        call(self.engine(), self, tool, arguments).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.try_call(tool, arguments).await.unwrap()
    }

    pub(crate) fn plan_folder(&self) -> PathBuf {
        self.folder.path().join("users").join(self.session.folder_name()).join("plan")
    }

    /// The file of a document, as a person reads it.
    pub(crate) fn on_disk(&self, which: DocumentKind) -> String {
        fs::read_to_string(self.plan_folder().join(which.file_name())).unwrap()
    }

    /// Saves a document as a person does.
    pub(crate) fn save(&self, which: DocumentKind, text: &str) {
        fs::write(self.plan_folder().join(which.file_name()), text).unwrap();
    }

    pub(crate) async fn text(&self, which: DocumentKind) -> String {
        self.engine().workbooks().document(&self.session, which).await.unwrap().text
    }

    pub(crate) async fn workbook(&self) -> Workbook {
        self.engine().workbooks().current(&self.session).await.unwrap().unwrap()
    }

    /// The files are as the ledger has them.
    pub(crate) async fn disk_agrees(&self) {
        for which in DocumentKind::ALL {
            assert_eq!(self.on_disk(which), self.text(which).await, "{which}");
        }
    }
}

pub(crate) async fn call(engine: &Engine, world: &World, tool: &str, arguments: Value) -> Result<Value, Refusal> {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    PlanTools::new(engine).call(&world.session, &agent(), tool, arguments).await
}

pub(crate) fn agent() -> Actor {
    Actor::agent("scripted", "cli")
}

/// The names in a folder, in order; none where there is no folder.
fn names(folder: PathBuf) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
