//! The workbook is kept along the way, through the whole loop: findings, errors, the hint, and a beginning by itself.

mod auto_init;
mod errors;
mod prompt;
mod research;
mod specialists;

use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::workbook::{DocumentKind, PlanningFiles};
use planwright_engine::workbook::NewWorkbook;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::{Value, json};

use crate::world::{World, person};

/// A session with a workbook, and a model that answers by this script.
async fn working(replies: impl IntoIterator<Item = Reply>) -> World {
    working_with(ScriptedModel::new(replies), |_| {}).await
}

async fn working_with(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> World {
    let world = World::with(model, change).await;
    let beginning = NewWorkbook { title: "Move the shop".to_owned(), force_new: false };
    world.engine().workbooks().init(&world.session, &person(), &beginning).await.unwrap();
    world
}

fn settings(setup: &mut AgentSetup) -> &mut PlanningFiles {
    &mut setup.policy.planning_files
}

impl World {
    async fn reads(&self, which: DocumentKind) -> String {
        self.engine().workbooks().document(&self.session, which).await.unwrap().text
    }

    /// Puts a file among those of the session.
    fn has_file(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.files()).unwrap();
        std::fs::write(self.files().join(name), text).unwrap();
    }

    /// How often something was written down without the model asking for it.
    async fn notes(&self) -> usize {
        let events = self.events().await;
        events
            .iter()
            .filter(|event| {
                matches!(
                    event,
                    Event::Workbook(WorkbookEvent::Written {
                        why: planwright_core::workbook::WriteOrigin::Middleware,
                        ..
                    })
                )
            })
            .count()
    }
}

fn read(path: &str) -> Reply {
    Reply::call("read_file", json!({ "path": path }))
}

fn list() -> Reply {
    Reply::call("list_files", json!({}))
}

fn done() -> Reply {
    Reply::text("Done.")
}

/// What the last request has as the result of the newest call.
fn newest_result(world: &World) -> String {
    crate::world::script(&world.model.last_request()).pop().unwrap()
}

fn parsed(result: &str) -> Value {
    serde_json::from_str(result.split_once(": ").unwrap().1).unwrap()
}
