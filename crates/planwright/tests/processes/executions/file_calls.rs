//! A process that changes files of a project is killed right before and right behind every write to the journal. A change that was made is
//! found after the restart and not made again; a person is asked only about a call that was announced and not made. In the end
//! every file was changed once, the journal knows every change, and an undo puts every byte back.

use std::path::Path;

use planwright_core::plan::PlanStatus;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::child::Act;
use super::fixture::{Stage, resume, typed};
use super::kill_points::KillPoint;
use crate::stores::Store;

/// More than this plan is written down.
const WRITES: u32 = 14;

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_files_survive_every_kill_on_sqlite() {
    every_kill(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_files_survive_every_kill_on_postgres() {
    every_kill(Store::postgres().await).await;
}

/// Each of them, done twice, would fail or leave something else.
fn calls() -> [(&'static str, Value); 5] {
    let longer = json!({"path": "text.txt", "edits": [{"old": "a", "new": "aa", "all": true}]});
    [
        ("edit_file", longer.clone()),
        ("edit_file", longer),
        ("write_file", json!({"path": "new/file.txt", "content": "new\n"})),
        ("move_file", json!({"path": "old.txt", "to": "moved.txt"})),
        ("delete_file", json!({"path": "gone.txt"})),
    ]
}

const BEFORE: [(&str, &str); 3] = [("text.txt", "a b\r\n"), ("old.txt", "old"), ("gone.txt", "gone\n")];
const AFTER: [(&str, &str); 3] = [("text.txt", "aaaa b\r\n"), ("moved.txt", "old"), ("new/file.txt", "new\n")];

/// Every file below the folder with its content, by path.
fn tree(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(tree(&path).into_iter().map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

fn sorted(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut files: Vec<_> = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    files.sort();
    files
}

async fn every_kill(store: Store) {
    let stage = Stage::new(store);
    let folder = TempDir::new().unwrap();
    let mut plans = Vec::new();
    for kill_point in (1..=WRITES).flat_map(|number| [KillPoint::BeforeWrite(number), KillPoint::BehindWrite(number)]) {
        let name = format!("{kill_point:?}").replace(['(', ')'], "-");
        let project = folder.path().join(&name);
        std::fs::create_dir(&project).unwrap();
        BEFORE.iter().for_each(|(file, text)| std::fs::write(project.join(file), text).unwrap());
        let approved = stage.approved_calls(&name, &project, &calls()).await;
        plans.push((approved, project, kill_point));
    }
    let kill_points = plans.iter().map(|(approved, _, kill_point)| (approved, Some(*kill_point)));
    let ended = stage.job(resume(), kill_points).run_and_kill();
    let (mut killed, mut asked) = (0, 0);
    for (approved, project, kill_point) in &plans {
        if !ended.contains(&approved.name()) {
            killed += 1;
            for act in [Act::TakeUp, resume()] {
                let standing = approved.standing().await;
                if standing.status != PlanStatus::Completed && standing.uncertain().is_none() {
                    approved.job(act).run_here().await;
                }
            }
            if approved.standing().await.uncertain().is_some() {
                assert!(
                    matches!(kill_point, KillPoint::BehindWrite(_)),
                    "{kill_point:?}: the change was made, so nothing is asked"
                );
                asked += 1;
                approved.job(typed("/plan resume 1 retry")).run_here().await;
            }
        }
        let standing = approved.standing().await;
        assert_eq!(standing.status, PlanStatus::Completed, "{kill_point:?}: {standing:?}");
        assert_eq!(tree(project), sorted(&AFTER), "{kill_point:?}");
        approved.job(typed("/undo 1")).run_here().await;
        assert_eq!(tree(project), sorted(&BEFORE), "{kill_point:?}: an undo puts every byte back");
    }
    assert!(killed > 2 * calls().len() && asked <= calls().len(), "{killed} were killed, {asked} were asked about");
    stage.is_whole().await;
}
