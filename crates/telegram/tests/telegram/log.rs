//! What one test logs. Every test has a thread of its own.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

#[derive(Debug)]
pub(crate) struct Log {
    lines: Lines,
    _guard: DefaultGuard,
}

/// Everything that this thread logs until it is dropped.
pub(crate) fn log() -> Log {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(lines.clone()).finish();
    Log { lines, _guard: tracing::subscriber::set_default(subscriber) }
}

impl Log {
    /// How many lines have these words.
    pub(crate) fn count(&self, expected: &str) -> usize {
        let text = String::from_utf8(self.lines.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(expected)).count()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
