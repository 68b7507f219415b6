//! Ctrl+C counts at every moment of a command that shows the agent's work, also while the command writes and waits for no signal.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use crate::provider::{Provider, Reply};
use crate::world::{Ran, World, ran};

const SESSION: &str = "cli:session-one";
/// How long a program may take that was told to stop; one that lost the signal would wait for its model for ever.
const END_TIMEOUT: Duration = Duration::from_secs(60);

/// A program whose standard error is read only later, so that it waits in its first line.
struct Unread {
    child: Child,
    stderr: UnixStream,
}

impl Unread {
    /// The command is dropped, and with it the end of the pipe that this process has.
    fn start(mut command: Command) -> Self {
        let (stderr, mut full) = UnixStream::pair().unwrap();
        full.set_nonblocking(true).unwrap();
        let filled = loop {
            match full.write(&[b' '; 1024]) {
                Ok(written) => assert!(written > 0),
                Err(error) => break error,
            }
        };
        assert_eq!(filled.kind(), ErrorKind::WouldBlock);
        full.set_nonblocking(false).unwrap();
        let child = command.stdout(Stdio::piped()).stderr(OwnedFd::from(full)).spawn().unwrap();
        Self { child, stderr }
    }

    /// The program stands in its first line by now. Without these moments a lost signal might pass unnoticed; nothing fails for them.
    fn interrupt(&self) {
        std::thread::sleep(Duration::from_millis(100));
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(100));
    }

    /// Reads what it wrote, until it ends.
    fn read(mut self) -> Ran {
        let (ended, end) = channel();
        let mut stderr = self.stderr;
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = stderr.read_to_string(&mut text);
            let _ = ended.send(read.map(|_| text));
        });
        let text = end.recv_timeout(END_TIMEOUT);
        // One that has ended already is not killed.
        let _ = self.child.kill();
        let output = self.child.wait_with_output().unwrap();
        let stderr = text.expect("the signal was lost: the program goes on").unwrap();
        Ran { stderr, ..output.into() }
    }
}

fn call(tool: &'static str, arguments: serde_json::Value) -> Reply {
    Reply::Call { preface: "", tool, arguments }
}

fn chat(world: &World, provider: &Provider, line: &str) -> Ran {
    ran(world.command().args(["chat", "--session", SESSION, line]).envs(provider.variables()))
}

#[test]
fn ctrl_c_while_a_line_is_written_stops_the_plan() {
    let world = World::new();
    let provider = Provider::start(&[
        call("plan_set_content", json!({ "plan_markdown": "# A greeting\n\n- [ ] say hello\n" })),
        Reply::Text("Ready.".to_owned()),
        call("plan_get", json!({})),
        Reply::Hold(""),
    ]);
    chat(&world, &provider, "/plan on").done();
    chat(&world, &provider, "add a greeting").done();
    let digest = world.active_plan(SESSION).digest().to_string();
    let mut approve = world.command();
    approve.args(["plan", "approve", "1", "--session", SESSION, "--digest", &digest]).envs(provider.variables());
    let approving = Unread::start(approve);
    for _ in 0..4 {
        provider.asked();
    }
    approving.interrupt();
    approving.read().exits(3).complains("plan_get").tells("It is paused");
}

#[test]
fn ctrl_c_while_a_line_is_written_stops_the_turn_that_an_answer_continues() {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    let provider =
        Provider::start(&[call("write_file", json!({ "path": "hello.txt", "content": "hello" })), Reply::Hold("")]);
    chat(&world, &provider, "greet me").says("Allow once");
    let item = world.json("inbox")["items"][0].clone();
    let (id, digest) = (item["id"].as_str().unwrap(), item["digest"].as_str().unwrap());
    let mut answer = world.command();
    answer.args(["inbox", "answer", id, "once", "--digest", digest]).envs(provider.variables());
    let answering = Unread::start(answer);
    for _ in 0..2 {
        provider.asked();
    }
    answering.interrupt();
    answering.read().complains("write_file");
}
