//! Changes that something else interferes with.

use std::fs;

use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Workspace;

use super::*;
use crate::toolbox::ToolContext;
use crate::toolbox::files::fence::Fence;
use crate::toolbox::files::{FileLimits, FileTools};

/// A session that works in a project with one file, `a`.
struct Project {
    folder: tempfile::TempDir,
    files: FileTools,
    session: SessionIdentity,
    workspace: Workspace,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        fs::write(folder.path().join("project/a"), "before").unwrap();
        let files = FileTools::new(folder.path().join("data/users"), FileLimits::default());
        let workspace = files.project(&folder.path().join("project")).unwrap();
        Self { folder, files, session: "cli:k3yk3y8x".parse().unwrap(), workspace }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("project").join(name)
    }

    fn context(&self, fence: Option<Fence>) -> FileCallContext {
        let context = ToolContext::without_lease(&self.session).in_workspace(&self.workspace);
        let (opening, cancel_on_drop) = FileCallContext::opening(&self.files.shared, context, fence);
        // The call is never cancelled.
        std::mem::forget(cancel_on_drop);
        opening.open().unwrap()
    }
}

fn path(name: &str) -> FilePath {
    FilePath::parse(name).unwrap()
}

type Change = fn(&ChangePlace<'_>, Option<&FoundFile>) -> Result<(), ChangeError>;

const CHANGES: [Change; 3] = [
    |target, found| target.replace(found, b"mine", None).map(drop),
    |target, found| target.remove(found.unwrap()).map(drop),
    |target, found| target.rename(found.unwrap(), &path("b")).map(drop),
];

#[test]
fn a_file_that_changed_since_it_was_looked_at_is_left_alone() {
    let disturbances: [fn(&std::path::Path); 5] = [
        |file| fs::write(file, "BEFORE").unwrap(),
        |file| fs::remove_file(file).unwrap(),
        |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        },
        |file| {
            fs::rename(file, file.with_file_name("other")).unwrap();
            std::os::unix::fs::symlink("other", file).unwrap();
        },
        |file| fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap(),
    ];
    for change in CHANGES {
        for disturb in disturbances {
            let project = Project::new();
            fs::set_permissions(project.path("a"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
            let (context, path) = (project.context(None), path("a"));
            let target = ChangePlace::new(&context, &path).unwrap();
            let found = target.find().unwrap();
            disturb(&project.path("a"));
            assert!(matches!(change(&target, found.as_ref()), Err(ChangeError::Raced)));
            assert!(!project.path("b").exists());
            for entry in fs::read_dir(project.path("")).unwrap() {
                let content = fs::read(entry.unwrap().path());
                assert!(content.is_err() || content.unwrap() != b"mine");
            }
        }
    }
    let project = Project::new();
    let (context, path) = (project.context(None), path("new"));
    let target = ChangePlace::new(&context, &path).unwrap();
    assert!(target.find().unwrap().is_none());
    fs::write(project.path("new"), "foreign").unwrap();
    assert!(matches!(target.replace(None, b"mine", None), Err(ChangeError::Raced)));
    assert_eq!(fs::read(project.path("new")).unwrap(), b"foreign");
}

#[test]
fn a_project_that_is_moved_away_under_way_is_not_changed() {
    for change in CHANGES {
        let project = Project::new();
        let (context, path) = (project.context(None), path("a"));
        let target = ChangePlace::new(&context, &path).unwrap();
        let found = target.find().unwrap();
        let moved = project.folder.path().join("moved");
        fs::rename(project.path(""), &moved).unwrap();
        fs::create_dir(project.path("")).unwrap();
        let Err(ChangeError::Refused(refusal)) = change(&target, found.as_ref()) else { panic!("it was changed") };
        assert_eq!(refusal.code, RefusalCode::Conflict);
        assert!(refusal.message.contains("in the place of the project folder"), "{refusal}");
        assert_eq!(fs::read(moved.join("a")).unwrap(), b"before");
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 1);
    }
}

/// The fence of a session holds in a project too, and its file is not there.
#[test]
fn a_lease_that_was_taken_over_changes_nothing_in_a_project() {
    for change in CHANGES {
        let project = Project::new();
        let (first, second) = (Fence { lease: "one".to_owned() }, Fence { lease: "two".to_owned() });
        let (context, path) = (project.context(Some(first.clone())), path("a"));
        first.claim(&context.own).unwrap();
        let target = ChangePlace::new(&context, &path).unwrap();
        let found = target.find().unwrap();
        second.claim(&context.own).unwrap();
        let Err(ChangeError::Refused(refusal)) = change(&target, found.as_ref()) else { panic!("it was changed") };
        assert!(refusal.message.contains("took this session over"), "{refusal}");
        assert_eq!(fs::read_dir(project.path("")).unwrap().count(), 1);
        assert_eq!(fs::read(project.path("a")).unwrap(), b"before");
    }
}
