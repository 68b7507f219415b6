//! Every command of the program is in this table, and those that decide, switch or speak as the person are refused to a process of
//! the agent.

use std::collections::BTreeSet;
use std::process::Command;

use planwright_core::approval::Require;

use crate::place::texts;
use crate::stage::{PROGRAM, SESSION, Stage};

enum Door {
    /// It passes the door. Tried with these words; `SESSION` and `DIGEST` stand for those of the plan that waits.
    Passes(&'static [&'static str]),
    /// It only looks, or it works on something that is not the store.
    Looks,
    /// What it does is the agent's or the system's, and is recorded as theirs.
    NotPerson,
}

use Door::{Looks, NotPerson, Passes};

/// By the words of the command.
const COMMANDS: &[(&str, Door)] = &[
    ("chat", Passes(&["'Go on' --session SESSION --model rehearsal"])),
    ("plan on", Passes(&["collect --session SESSION"])),
    ("plan off", Passes(&["--session SESSION"])),
    ("plan done", Passes(&["--session SESSION"])),
    ("plan status", Looks),
    ("plan watch", Looks),
    ("plan list", Looks),
    ("plan show", Looks),
    ("plan approve", Passes(&["1 --session SESSION --digest DIGEST --later"])),
    ("plan reject", Passes(&["1 --session SESSION"])),
    ("plan revise", Passes(&["1 --feedback 'The bin is full' --session SESSION"])),
    ("plan cancel", Passes(&["1 --session SESSION"])),
    ("plan resume", Passes(&["1 --session SESSION", "1 --stop --session SESSION"])),
    ("plan diff", Looks),
    ("plan changes", Looks),
    ("plan undo", Passes(&["1 --session SESSION", "--chat --session SESSION"])),
    ("plan export", Looks),
    ("plan files on", Passes(&["--session SESSION"])),
    ("plan files off", Passes(&["--session SESSION"])),
    ("plan files list", Looks),
    ("plan files show", Looks),
    ("plan history", Looks),
    ("inbox list", Looks),
    ("inbox show", Looks),
    ("inbox open", Looks),
    ("inbox answer", Passes(&["PLAN approve --digest DIGEST", "PLAN reject"])),
    ("sessions delete", Passes(&["SESSION --yes"])),
    ("memory list", Looks),
    ("memory search", Looks),
    ("memory save", Passes(&["'Always empty the bin' --session SESSION"])),
    ("memory import", Passes(&["memories.jsonl --session SESSION"])),
    ("memory forget", Passes(&["MEMORY --session SESSION"])),
    ("memory promote", Passes(&["MEMORY --session SESSION --yes"])),
    ("memory undo", Passes(&["--session SESSION"])),
    ("memory offers", Looks),
    ("memory accept", Passes(&["MEMORY --session SESSION"])),
    ("memory decline", Passes(&["MEMORY --session SESSION"])),
    ("workbook adopt", Passes(&["--session SESSION"])),
    ("auto", Passes(&["on empty the bin --session SESSION", "resume 1 --session SESSION", "off --session SESSION"])),
    ("goal", Passes(&["add Empty the bin --session SESSION"])),
    ("task", Passes(&["add Empty the bin --session SESSION"])),
    ("schedule", Passes(&["add '0 9 * * *' Empty the bin --session SESSION"])),
    ("diary", Passes(&["add The bin was emptied --session SESSION"])),
    ("mcp", NotPerson),
    ("install", Passes(&["claude-code --scope project --yes"])),
    ("uninstall", Passes(&["claude-code --scope project --yes"])),
    ("mcp-server add", Passes(&["bin -- true", "bin --sandbox open -- true"])),
    ("mcp-server list", Looks),
    ("mcp-server show", Looks),
    ("mcp-server remove", Passes(&["bin"])),
    ("mcp-server accept", Passes(&["bin --digest DIGEST"])),
    ("serve", NotPerson),
    ("dashboard", Passes(&[""])),
    // A process that may read the file has the token.
    ("token show", Looks),
    ("token rotate", Passes(&[""])),
    ("token path", Looks),
    ("telegram bind", Passes(&["7"])),
    ("telegram unbind", Passes(&["7"])),
    ("import", Passes(&["plans.json", "planning-files .", "golemcore . --dry-run"])),
    ("backup", Looks),
    ("restore", Passes(&["archive.tar --merge"])),
    ("init", Passes(&["--approver mallory"])),
    ("approver add", Passes(&["mallory"])),
    ("approver list", Looks),
    ("approver remove", Passes(&["ada"])),
    ("approver change", Passes(&["ada"])),
    ("approver recover", Passes(&["ada"])),
    ("approver export", Looks),
    ("approver policy", Passes(&["--require any", "--require verified"])),
    ("config show", Looks),
    ("config path", Looks),
    // It works on the file of the settings that are not guarded.
    ("config edit", Looks),
    ("config set", Passes(&["sandbox.level open", "gateway.writes free", "mcp.access bin@0123456789abcdef"])),
    ("config unset", Passes(&["sandbox.level"])),
    ("permissions list", Looks),
    ("permissions add", Passes(&["'{ tool = \"run_command\" }'"])),
    ("permissions remove", Passes(&["1"])),
    ("setup", Passes(&[""])),
    ("models", Looks),
    ("verify", Looks),
    ("doctor", Looks),
    ("health", Looks),
    ("demo", Looks),
    ("completions", Looks),
    ("man", Looks),
];

/// The commands that have no further commands below them, as the program's help lists them.
fn listed(path: &[&str]) -> BTreeSet<String> {
    let output = Command::new(PROGRAM.path()).args(path).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| line.is_empty() || line.starts_with(' ')).filter_map(|line| {
        // What belongs to a command stands further to the right.
        let line = line.strip_prefix("  ")?;
        line.split_whitespace().next().filter(|name| line.starts_with(name) && *name != "help")
    });
    let mut found: BTreeSet<String> =
        names.flat_map(|name| listed(&path.iter().copied().chain([name]).collect::<Vec<_>>())).collect();
    if found.is_empty() {
        found.insert(path.join(" "));
    }
    found
}

#[test]
fn every_command_is_in_the_table() {
    let table: BTreeSet<_> = COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed(&[]), table);
}

fn records(stage: &Stage) -> usize {
    texts(stage.folder(), "SELECT body FROM approval_record").len()
}

/// From a process of the agent without a terminal.
#[test]
fn what_passes_the_door_is_refused_to_a_process_of_the_agent() {
    let mut stage = Stage::without_approver(Require::Separate);
    stage.person_runs(&format!("{PROGRAM} memory save 'Never empty the bin' --session {SESSION}"));
    let list = stage.person_runs(&format!("{PROGRAM} memory list --session {SESSION} --json"));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let (plan, memory) = (stage.plan(), list["items"][0]["id"].as_str().unwrap().to_owned());
    stage.write("plans.json", "[]");
    stage.write("archive.tar", "");
    stage.write("memories.jsonl", "{\"content\":\"Always empty the bin\"}\n");
    stage.write("task_plan.md", "# Empty the bin\n");
    let before = (stage.acts_of_people(), records(&stage), std::fs::read(stage.path("planwright.toml")).unwrap());
    for (name, door) in COMMANDS {
        let Passes(tried) = door else { continue };
        for message in *tried {
            let message = message
                .replace("SESSION", SESSION)
                .replace("DIGEST", plan["digest"].as_str().unwrap())
                .replace("PLAN", plan["id"].as_str().unwrap())
                .replace("MEMORY", &memory);
            let ran = stage.agent.run(&format!("setsid --wait {PROGRAM} {name} {message} < /dev/null"));
            assert_ne!(ran.code, 0, "{name} {message}: {}", ran.output);
            assert!(!ran.output.contains("panicked"), "{name} {message}: {}", ran.output);
            let after =
                (stage.acts_of_people(), records(&stage), std::fs::read(stage.path("planwright.toml")).unwrap());
            assert_eq!(after, before, "{name} {message}: {}", ran.output);
        }
    }
    assert_eq!(stage.status(), "READY");
    assert!(!stage.path(".mcp.json").exists());
}
