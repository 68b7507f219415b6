//! Reading the fields of an object that others wrote. Absent and `null` are the same; a wrong type names its path.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::visible::quoted;

/// Why an element is skipped.
pub(super) type Reason = String;

pub(super) struct Fields<'a> {
    path: String,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// `path` is a JSON pointer into the element, empty for the element itself.
    pub(super) fn of(value: &'a Value, path: String) -> Result<Self, Reason> {
        match value {
            Value::Object(object) => Ok(Self { path, object }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                let what = if path.is_empty() { "it" } else { path.as_str() };
                Err(format!("{what} is {}, not an object", kind(value)))
            }
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, Reason> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, other, "text")),
        }
    }

    /// Text with something in it; blank text is the same as none.
    pub(super) fn filled(&self, name: &str) -> Result<Option<&'a str>, Reason> {
        Ok(self.text(name)?.map(str::trim).filter(|text| !text.is_empty()))
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Reason> {
        match self.value(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong(name, other, "a list")),
        }
    }

    pub(super) fn whole_number(&self, name: &str) -> Result<Option<i64>, Reason> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_i64().map(Some).ok_or_else(|| self.wrong(name, value, "a whole number"))
    }

    /// A time without a zone is taken as UTC.
    pub(super) fn time(&self, name: &str) -> Result<Option<Timestamp>, Reason> {
        let Some(text) = self.filled(name)? else { return Ok(None) };
        let zoned = text.parse::<Timestamp>();
        let in_utc = || text.parse::<DateTime>()?.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
        let wrong = |_: jiff::Error| format!("{} is {}, not a time as in ISO 8601", self.at(name), quoted(text));
        zoned.or_else(|_| in_utc()).map(Some).map_err(wrong)
    }

    pub(super) fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    pub(super) fn wrong(&self, name: &str, value: &Value, expected: &str) -> Reason {
        format!("{} is {}, not {expected}", self.at(name), kind(value))
    }
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
