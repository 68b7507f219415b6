//! What a person at a terminal waits for: the prompt of the chat after its start, and a key until it is on the screen.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_engine::core as planwright_core;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use crate::times::{self, Times};
use crate::turns;

const STARTS: usize = 50;
const KEYS: usize = 200;
/// A turn has two.
const MESSAGES: usize = 10_000;
/// What the box says while it waits for a message.
const PROMPT: &str = "write a message";
/// Each drawing of the box ends like this.
const DRAWN: &str = "\u{1b}[?2026l";
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;

/// With a new session and with one of 10,000 messages, beside `true`.
pub(crate) async fn run(program: &Path, folder: &TempDir) -> anyhow::Result<()> {
    for messages in [0, MESSAGES] {
        let session = format!("bench-chat-{messages:06}");
        let name = SessionIdentity::new(Channel::Cli, ConversationKey::new(session.clone())?);
        turns::fill(folder.path(), &name, messages / 2).await?;
        let (mut nothing, mut prompts) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let begun = Instant::now();
            Command::new("true").status()?;
            nothing.push(begun.elapsed());
            prompts.push(Chat::start(program, folder.path(), &session)?.1);
        }
        let (mut chat, _) = Chat::start(program, folder.path(), &session)?;
        let keys = (0..KEYS).map(|_| chat.key()).collect::<anyhow::Result<Vec<_>>>()?;
        let (start, key) = (format!("{messages} messages, prompt"), format!("{messages} messages, key"));
        let ours = [(start.as_str(), Times::of(prompts)), (key.as_str(), Times::of(keys))];
        times::print_all("chat", "true", Times::of(nothing), &ours)?;
    }
    Ok(())
}

/// A chat on a pseudo-terminal. It is killed when it is dropped.
struct Chat {
    terminal: File,
    child: Child,
}

impl Chat {
    /// Starts it, and waits for its prompt.
    fn start(program: &Path, data: &Path, session: &str) -> anyhow::Result<(Self, Duration)> {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).context("no pseudo-terminal")?;
        grantpt(&terminal)?;
        unlockpt(&terminal)?;
        let name = ptsname(&terminal, Vec::new())?.into_string()?;
        let size = rustix::termios::Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&terminal, size)?;
        let end = || OpenOptions::new().read(true).write(true).open(&name);
        let mut command = Command::new(program);
        command.arg("--data").arg(data).args(["chat", "--model", "rehearsal", "--session", session]);
        command.env("TERM", "xterm-256color").env("PLANWRIGHT_CHAT_INTERFACE", "inline").current_dir(data);
        command.stdin(Stdio::from(end()?)).stdout(Stdio::from(end()?)).stderr(Stdio::null());
        let begun = Instant::now();
        let child = command.spawn()?;
        let mut chat = Self { terminal: File::from(terminal), child };
        chat.read_until(PROMPT)?;
        Ok((chat, begun.elapsed()))
    }

    /// Types a letter, and waits until the box is drawn with it.
    fn key(&mut self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.terminal.write_all(b"x")?;
        self.read_until(DRAWN)?;
        Ok(begun.elapsed())
    }

    fn read_until(&mut self, text: &str) -> anyhow::Result<()> {
        let (mut seen, mut bytes) = (String::new(), [0; 4096]);
        while !seen.contains(text) {
            let count = self.terminal.read(&mut bytes)?;
            anyhow::ensure!(count > 0, "the chat ended: {seen}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        Ok(())
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
