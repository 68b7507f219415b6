//! Writes log lines to stderr from a thread of its own (ADR 20).
//!
//! Logging must never fail or delay the work that is logged: stderr may be a closed pipe, a pipe that is not read, or a
//! file on a full disk. Lines wait in a bounded queue. A line that does not fit or cannot be written is dropped and
//! counted, and the count is written to the log as soon as the log can be written again.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use planwright_surfaces::http::{HealthSource, LOG_LINES_LOST};
use tracing_subscriber::fmt::MakeWriter;

use super::LogFormat;
use super::json::lost_lines_json;

/// How many bytes of lines wait at most.
const QUEUE_BYTES: usize = 2 << 20;

/// How often a log that cannot be written is tried again when nothing new is logged.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

const TOO_SLOW: &str = "stderr does not take lines as fast as they are logged";

/// Takes the lines of `tracing`, and tells how the log is doing. A cheap handle; clones share the queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogWriter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Something is in the queue, or the log ends or has ended.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Nothing is written until this ends: a person types or reads what is drawn anew.
    held: bool,
    /// A line is on its way to the sink.
    writing: bool,
    /// The log is to end.
    closed: bool,
    /// Nothing is written any more.
    ended: bool,
    lost: LostLines,
}

#[derive(Debug, Default)]
struct LostLines {
    /// Since the process started.
    total: u64,
    /// Not yet told in the log.
    untold: u64,
    /// Why the last line was lost; `None` once the log works again.
    reason: Option<String>,
}

impl LostLines {
    fn add(&mut self, reason: String) {
        LOG_LINES_LOST.fetch_add(1, Ordering::Relaxed);
        self.total += 1;
        self.untold += 1;
        self.reason = Some(reason);
    }
}

/// Starts the thread that writes to `sink`. The notice about lost lines is written in `format`.
pub(super) fn start(mut sink: impl Write + Send + 'static, format: LogFormat) -> io::Result<LogWriter> {
    let log = LogWriter::default();
    let of_thread = log.clone();
    std::thread::Builder::new().name("log".to_owned()).spawn(move || {
        of_thread.write_lines(&mut sink, format);
        of_thread.queue().ended = true;
        of_thread.shared.changed.notify_all();
    })?;
    Ok(log)
}

/// Where log lines go. The lock of [`std::io::stderr`] is not taken: a write that blocks would hold it, and block
/// everything else that writes there.
pub(super) fn stderr_sink() -> Box<dyn Write + Send> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        if let Ok(own) = io::stderr().as_fd().try_clone_to_owned() {
            return Box::new(std::fs::File::from(own));
        }
    }
    Box::new(io::stderr())
}

impl LogWriter {
    /// A panic elsewhere does not end the log.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, queue: MutexGuard<'a, Queue>, time: Duration) -> MutexGuard<'a, Queue> {
        self.shared.changed.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner).0
    }

    fn push(&self, line: &[u8]) {
        let mut queue = self.queue();
        if queue.closed || queue.bytes + line.len() > QUEUE_BYTES {
            queue.lost.add(TOO_SLOW.to_owned());
            return;
        }
        queue.bytes += line.len();
        queue.lines.push_back(line.to_vec());
        self.shared.changed.notify_all();
    }

    fn write_lines(&self, sink: &mut impl Write, format: LogFormat) {
        // A line that was written in part must not run into the next one.
        let mut line_is_open = false;
        let mut queue = self.queue();
        loop {
            if queue.held && !queue.closed {
                queue = self.wait(queue, Duration::MAX);
                continue;
            }
            // What was lost is told before the next line.
            let told = queue.lost.untold;
            let line = match told {
                0 => queue.lines.pop_front(),
                _ => Some(notice(format, &queue.lost).into_bytes()),
            };
            let Some(line) = line else {
                if queue.closed {
                    return;
                }
                queue = self.wait(queue, Duration::MAX);
                continue;
            };
            if told == 0 {
                queue.bytes -= line.len();
            }
            queue.writing = true;
            drop(queue);
            let written = write_whole(sink, &line, &mut line_is_open);
            queue = self.queue();
            queue.writing = false;
            self.shared.changed.notify_all();
            match written {
                Ok(()) => {
                    queue.lost.untold -= told;
                    if queue.lost.untold == 0 {
                        queue.lost.reason = None;
                    }
                }
                Err(error) if told == 0 => queue.lost.add(error.to_string()),
                Err(_) if queue.closed => return,
                Err(error) => {
                    queue.lost.reason = Some(error.to_string());
                    queue = self.wait(queue, RETRY_INTERVAL);
                }
            }
        }
    }

    /// Holds the lines back from now on.
    pub(super) fn hold(&self) {
        self.queue().held = true;
    }

    /// Writes the lines that were held back, and holds none from now on.
    pub(super) fn release(&self) {
        self.queue().held = false;
        self.shared.changed.notify_all();
    }

    /// Writes the lines that were held back, for `time` at the longest, and holds the next ones.
    pub(super) fn write_held(&self, time: Duration) {
        let deadline = Instant::now() + time;
        let mut queue = self.queue();
        queue.held = false;
        self.shared.changed.notify_all();
        while (queue.writing || !queue.lines.is_empty()) && !queue.ended && Instant::now() < deadline {
            queue = self.wait(queue, deadline.saturating_duration_since(Instant::now()));
        }
        queue.held = true;
    }

    /// Ends the log: waits until every line is written, but not longer than `time`. A log that is not read must not keep
    /// the program from ending.
    pub(crate) fn finish(&self, time: Duration) {
        let deadline = Instant::now() + time;
        let mut queue = self.queue();
        queue.closed = true;
        self.shared.changed.notify_all();
        while !queue.ended && Instant::now() < deadline {
            queue = self.wait(queue, deadline.saturating_duration_since(Instant::now()));
        }
    }
}

impl HealthSource for LogWriter {
    fn problems(&self) -> Vec<String> {
        let Queue { lost, .. } = &*self.queue();
        let problem = |reason| format!("The log cannot be written ({} lines are lost): {reason}.", lost.total);
        lost.reason.iter().map(problem).collect()
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

/// `tracing` writes each line at once.
impl Write for &LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_whole(sink: &mut impl Write, line: &[u8], line_is_open: &mut bool) -> io::Result<()> {
    if *line_is_open {
        write_all(sink, b"\n", line_is_open)?;
    }
    write_all(sink, line, line_is_open)
}

fn write_all(sink: &mut impl Write, mut bytes: &[u8], line_is_open: &mut bool) -> io::Result<()> {
    while !bytes.is_empty() {
        match sink.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                *line_is_open = bytes[written - 1] != b'\n';
                bytes = &bytes[written..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Another program may have made the pipe that it shares with this one non-blocking.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn notice(format: LogFormat, lost: &LostLines) -> String {
    let reason = lost.reason.as_deref().unwrap_or_default();
    let at = jiff::Timestamp::now();
    match format {
        LogFormat::Json => lost_lines_json(at, lost.untold, reason),
        LogFormat::Pretty => {
            format!("{at:.6}  WARN planwright: {} log lines were lost: {reason}\n", lost.untold)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Reports each write and waits to be told its result, so that a test decides what happens when.
    struct ScriptedSink {
        written: Sender<String>,
        results: Receiver<io::Result<usize>>,
    }

    impl Write for ScriptedSink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.written.send(String::from_utf8(bytes.to_vec()).unwrap()).unwrap();
            // The test ends without waiting for this thread.
            let result = self.results.recv().unwrap_or(Ok(bytes.len()));
            result.map(|written| written.min(bytes.len()))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Log {
        writer: LogWriter,
        written: Receiver<String>,
        results: Sender<io::Result<usize>>,
    }

    fn log(format: LogFormat) -> Log {
        let (to_test, written) = channel();
        let (results, from_test) = channel();
        let writer = start(ScriptedSink { written: to_test, results: from_test }, format).unwrap();
        Log { writer, written, results }
    }

    impl Log {
        fn line(&self, text: &str) {
            self.writer.make_writer().write_all(text.as_bytes()).unwrap();
        }

        /// What the thread tries to write now.
        fn tries(&self) -> String {
            self.written.recv().unwrap()
        }

        fn lines_lost(&self) -> u64 {
            self.writer.queue().lost.total
        }

        fn problem(&self) -> Option<String> {
            self.writer.problems().pop()
        }

        fn succeeds(&self) {
            self.results.send(Ok(usize::MAX)).unwrap();
        }

        fn fails(&self) {
            self.results.send(Err(io::ErrorKind::StorageFull.into())).unwrap();
        }
    }

    #[test]
    fn lines_that_are_held_back_are_written_at_the_next_good_moment() {
        let log = log(LogFormat::Pretty);
        log.writer.hold();
        log.line("one\n");
        log.line("two\n");
        let held = log.writer.clone();
        let writing = std::thread::spawn(move || held.write_held(Duration::from_secs(60)));
        for line in ["one\n", "two\n"] {
            assert_eq!(log.written.recv().unwrap(), line);
            log.results.send(Ok(usize::MAX)).unwrap();
        }
        writing.join().unwrap();
        log.line("three\n");
        assert!(log.written.try_recv().is_err(), "held back again");
        let ending = log.writer.clone();
        let ending = std::thread::spawn(move || ending.finish(Duration::from_secs(60)));
        assert_eq!(log.written.recv().unwrap(), "three\n");
        log.results.send(Ok(usize::MAX)).unwrap();
        ending.join().unwrap();
    }

    #[test]
    fn lost_lines_are_counted_and_told_when_the_log_can_be_written_again() {
        let log = log(LogFormat::Pretty);
        log.line("one\n");
        assert_eq!(log.tries(), "one\n");
        log.fails();
        assert!(log.tries().ends_with("1 log lines were lost: no storage space\n"));
        assert_eq!(log.lines_lost(), 1);
        assert!(log.problem().unwrap().contains("no storage space"));
        // The thread tries again by itself.
        log.fails();
        assert!(log.tries().contains("1 log lines were lost"));
        log.succeeds();
        log.line("two\n");
        assert_eq!(log.tries(), "two\n");
        assert_eq!((log.lines_lost(), log.problem()), (1, None));
        log.succeeds();
    }

    #[test]
    fn a_sink_that_blocks_does_not_block_the_caller() {
        let log = log(LogFormat::Json);
        log.line("first\n");
        assert_eq!(log.tries(), "first\n");
        let large = "x".repeat(QUEUE_BYTES / 2);
        for _ in 0..5 {
            log.line(&large);
        }
        assert_eq!(log.lines_lost(), 3);
        assert!(log.problem().unwrap().contains(TOO_SLOW));
        log.succeeds();
        let notice: serde_json::Value = serde_json::from_str(&log.tries()).unwrap();
        assert_eq!((&notice["event"], &notice["lines"]), (&"log_lines_lost".into(), &3.into()));
        // The thread is in the middle of a write that does not end, and the program ends all the same.
        log.writer.finish(Duration::ZERO);
    }

    #[test]
    fn the_end_waits_for_what_was_logged() {
        let log = log(LogFormat::Pretty);
        log.line("last words\n");
        log.succeeds();
        log.writer.finish(Duration::from_secs(600));
        assert_eq!(log.written.try_recv().unwrap(), "last words\n");
    }

    #[test]
    fn half_a_line_does_not_run_into_the_next_one() {
        let log = log(LogFormat::Pretty);
        log.line("one line\n");
        log.results.send(Ok(3)).unwrap();
        log.fails();
        assert_eq!((log.tries().as_str(), log.tries().as_str()), ("one line\n", " line\n"));
        assert_eq!(log.tries(), "\n");
        log.succeeds();
        assert!(log.tries().contains("1 log lines were lost"));
    }
}
