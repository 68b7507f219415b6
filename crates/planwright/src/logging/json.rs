//! One JSON object per line: timestamp, level, target and message, then the same seven fields in every line, then all
//! other fields.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// These fields are in every line, `null` where they do not apply. A value comes from the event itself, else from the
/// nearest span around it.
const ALWAYS: [&str; 7] =
    ["session_identity", "run_id", "goal_id", "task_id", "run_kind", "transport_chat_hash", "event"];

const MESSAGE: &str = "message";

#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonLines;

impl<S> FormatEvent<S, JsonFields> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result
    where
        JsonFields: for<'writer> FormatFields<'writer>,
    {
        let mut fields = Fields::default();
        // The outermost span comes first, so that an inner span and the event itself overwrite its fields.
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let Some(written) = extensions.get::<FormattedFields<JsonFields>>() else { continue };
            if let Ok(Value::Object(of_span)) = serde_json::from_str(&written.fields) {
                fields.0.extend(of_span);
            }
        }
        event.record(&mut fields);
        let metadata = event.metadata();
        writeln!(writer, "{}", line(Timestamp::now(), metadata.level().as_str(), metadata.target(), fields.0))
    }
}

/// The line that tells how many lines were lost.
pub(super) fn lost_lines_json(at: Timestamp, lines: u64, reason: &str) -> String {
    let fields = [
        (MESSAGE, Value::from("log lines were lost")),
        ("event", Value::from("log_lines_lost")),
        ("lines", Value::from(lines)),
        ("reason", Value::from(reason)),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    format!("{}\n", line(at, "WARN", "planwright::logging", fields))
}

/// The fixed fields come first, in the same order in every line, so that a person can read along.
fn line(at: Timestamp, level: &str, target: &str, mut fields: Map<String, Value>) -> String {
    let message = fields.remove(MESSAGE).unwrap_or_default();
    let always = ALWAYS.map(|name| (name, fields.remove(name).unwrap_or_default()));
    let mut text = String::from("{");
    let mut add = |name: &str, value: &Value| {
        let comma = if text.len() > 1 { "," } else { "" };
        text.push_str(&format!("{comma}{}:{value}", Value::from(name)));
    };
    add("timestamp", &Value::from(format!("{at:.6}")));
    add("level", &Value::from(level));
    add("target", &Value::from(target));
    add(MESSAGE, &message);
    for (name, value) in &always {
        add(name, value);
    }
    for (name, value) in &fields {
        // A field of the same name would make the key appear twice.
        let taken = ["timestamp", "level", "target"].contains(&name.as_str());
        add(&if taken { format!("field_{name}") } else { name.clone() }, value);
    }
    text.push('}');
    text
}

#[derive(Debug, Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.set(field, value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct LogPage(Arc<Mutex<Vec<u8>>>);

    impl io::Write for LogPage {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What `work` logs: the text, and each of its lines parsed.
    fn logged(work: impl FnOnce()) -> (String, Vec<Map<String, Value>>) {
        let page = LogPage::default();
        let written = page.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || written.clone())
            .with_ansi(false)
            .fmt_fields(JsonFields::new())
            .event_format(JsonLines)
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (text, lines)
    }

    #[test]
    fn the_seven_fields_are_in_every_line_after_the_message() {
        let (text, lines) = logged(|| tracing::info!(count = 3, "up"));
        let names = [&["timestamp", "level", "target", "message"][..], &ALWAYS, &["count"]].concat();
        let places: Vec<_> = names.iter().map(|name| text.find(&format!("\"{name}\":")).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
        for name in ALWAYS {
            assert_eq!(lines[0][name], Value::Null, "{name}");
        }
        assert_eq!((&lines[0]["level"], &lines[0]["message"]), (&Value::from("INFO"), &Value::from("up")));
        assert_eq!(lines[0]["count"], 3);
        lines[0]["timestamp"].as_str().unwrap().parse::<Timestamp>().unwrap();
    }

    #[test]
    fn the_innermost_value_of_a_field_is_logged() {
        let (_, lines) = logged(|| {
            let _outer = tracing::info_span!("outer", session_identity = "web:outer", run_id = 7, tool = "a").entered();
            let inner = tracing::info_span!("inner", session_identity = "web:inner", goal_id = tracing::field::Empty);
            inner.record("goal_id", "g-1");
            let _inner = inner.entered();
            tracing::warn!(event = "tool_ended", tool = %"b", "over");
        });
        let line = &lines[0];
        assert_eq!(line["session_identity"], "web:inner");
        assert_eq!((&line["run_id"], &line["goal_id"]), (&Value::from(7), &Value::from("g-1")));
        assert_eq!((&line["event"], &line["tool"]), (&Value::from("tool_ended"), &Value::from("b")));
        assert_eq!(line["task_id"], Value::Null);
    }

    #[test]
    fn any_value_is_written_as_one_line_of_json() {
        let (text, lines) = logged(|| tracing::error!(level = "mine", why = ?"a\nb\u{1b}[2J\"", "two\nlines"));
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!((&lines[0]["message"], &lines[0]["level"]), (&Value::from("two\nlines"), &Value::from("ERROR")));
        assert_eq!(lines[0]["field_level"], "mine");
    }
}
