//! A shell on a terminal of its own, which `script` plays. Lines are typed into it one after another.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Runs each line, and keeps its output and its exit code in files.
const LOOP: &str = r#"n=0
while IFS= read -r line; do
  n=$((n + 1))
  ( eval "$line" ) > "$1.$n.out" 2>&1
  echo $? > "$1.$n.tmp"
  mv "$1.$n.tmp" "$1.$n.code"
done
"#;

/// What an agent tries as a passphrase.
pub(crate) const GUESS: &str = "let me in";

pub(crate) struct Shell {
    child: Child,
    stdin: ChildStdin,
    screen: Arc<Mutex<String>>,
    files: PathBuf,
    lines: u32,
}

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) output: String,
}

impl Shell {
    pub(crate) fn start(folder: &Path, name: &str) -> Self {
        Self::start_within(folder, name, &[])
    }

    /// A shell that another program starts, such as `unshare`.
    pub(crate) fn start_within(folder: &Path, name: &str, around: &[&str]) -> Self {
        let (program, files) = (folder.join("loop.sh"), folder.join(name));
        std::fs::write(&program, LOOP).unwrap();
        let line = format!("exec sh {} {}", program.display(), files.display());
        let mut words =
            around.iter().copied().chain(["script", "--quiet", "--return", "--command", &line, "/dev/null"]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(folder);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap()).env("SHELL", "/bin/sh").env("TERM", "xterm");
        command.env("USER", "ada").env("PLANWRIGHT_DATA", folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut output, seen) = (child.stdout.take().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                seen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let stdin = child.stdin.take().unwrap();
        Self { child, stdin, screen, files, lines: 0 }
    }

    /// When the process that holds its terminal started, in the kernel's count.
    pub(crate) fn started(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(19).unwrap().parse().unwrap()
    }

    /// Types a line and waits for its end.
    pub(crate) fn run(&mut self, line: &str) -> Ran {
        self.type_line(line);
        self.end()
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        assert!(line.len() < 4000 && !line.contains('\n'), "{line}");
        self.lines += 1;
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// Types a secret once the question for it is on the screen.
    pub(crate) fn answer(&mut self, question: &str, answer: &str) {
        let asked = until(|| {
            let mut screen = self.screen.lock().unwrap();
            let end = screen.find(question)? + question.len();
            screen.drain(..end);
            Some(())
        });
        assert!(asked.is_some(), "{question:?} was not asked: {:?} {:?}", self.screen, self.output());
        writeln!(self.stdin, "{answer}").unwrap();
    }

    /// The outcome of the line that was typed last. A question for a passphrase is answered with a guess.
    pub(crate) fn end(&mut self) -> Ran {
        self.end_answering(&[("Passphrase of ", GUESS)])
    }

    /// Types a line and answers the questions that it asks, if it asks them.
    pub(crate) fn run_answering(&mut self, line: &str, answers: &[(&str, &str)]) -> Ran {
        self.type_line(line);
        self.end_answering(answers)
    }

    fn end_answering(&mut self, answers: &[(&str, &str)]) -> Ran {
        let code = until(|| {
            let answer = answers.iter().find_map(|(question, answer)| {
                let mut screen = self.screen.lock().unwrap();
                let end = screen.find(question).and_then(|at| Some(at + screen[at..].find(": ")?))?;
                screen.drain(..end);
                Some(answer)
            });
            if let Some(answer) = answer {
                writeln!(self.stdin, "{answer}").unwrap();
            }
            std::fs::read_to_string(self.file("code")).ok()
        });
        let code = code.unwrap_or_else(|| panic!("it never ended: {:?} {}", self.screen, self.output()));
        Ran { code: code.trim().parse().unwrap(), output: self.output() }
    }

    /// The outcome of a line that another program typed.
    pub(crate) fn end_of_typed(&mut self) -> Ran {
        self.lines += 1;
        self.end()
    }

    /// The number of the program that shows the terminal.
    pub(crate) fn program(&self) -> u32 {
        self.child.id()
    }

    /// What is on the screen and was not asked for yet.
    pub(crate) fn seen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.file("out")).unwrap_or_default()
    }

    fn file(&self, kind: &str) -> PathBuf {
        PathBuf::from(format!("{}.{}.{kind}", self.files.display(), self.lines))
    }
}

impl Shell {
    /// Ends its terminal, and so everything in it.
    pub(crate) fn finish(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Waits for something that another process does. Five minutes without it are a failure: the machine may be busy with other programs.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..30_000 {
        if let Some(found) = look() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}
