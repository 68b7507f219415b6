//! Tables of figures: text for people, or with `--json` one line of JSON for each figure.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// What a figure says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// How much Planwright does in a second.
    Rate,
    /// How long something takes.
    Time,
    /// What the machine or another program does, measured beside it.
    Limit,
    /// A ratio, a size, a count.
    Other,
}

/// A line of the output with `--json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Line {
    Figure { name: String, kind: Kind, value: f64 },
    LeftOut { name: String, reason: String },
}

static JSON: OnceLock<()> = OnceLock::new();

/// From here on figures are lines of JSON, and nothing else is printed.
pub(crate) fn print_json() {
    JSON.get_or_init(|| ());
}

fn is_json() -> bool {
    JSON.get().is_some()
}

impl Line {
    fn print(&self) -> anyhow::Result<()> {
        println!("{}", serde_json::to_string(self)?);
        Ok(())
    }
}

/// A remark for people.
pub(crate) fn remark(text: &str) {
    if !is_json() {
        println!("{text}");
    }
}

/// Says that something cannot be measured here, and why.
pub(crate) fn left_out(name: &str, reason: &str) -> anyhow::Result<()> {
    remark(&format!("\n{name}: left out, because {reason}."));
    if is_json() {
        Line::LeftOut { name: name.to_owned(), reason: reason.to_owned() }.print()?;
    }
    Ok(())
}

/// Prints each row when it is measured.
#[derive(Debug)]
pub(crate) struct Table {
    name: &'static str,
    rows: &'static str,
    columns: &'static [(&'static str, Kind)],
}

impl Table {
    /// `rows` is what the rows are named by.
    pub(crate) fn new(name: &'static str, rows: &'static str, columns: &'static [(&'static str, Kind)]) -> Self {
        let titles = columns.iter().map(|(title, _)| format!("{title:>width$}", width = width(title)));
        remark(&format!("\n{name}\n{rows:<26}{}", titles.collect::<String>()));
        Self { name, rows, columns }
    }

    /// A figure may be missing in a row.
    pub(crate) fn row<V: Into<Option<f64>>>(
        &self,
        row: impl ToString,
        values: impl IntoIterator<Item = V>,
    ) -> anyhow::Result<()> {
        let row = row.to_string();
        let mut text = format!("{row:<26}");
        for ((title, kind), value) in self.columns.iter().zip(values) {
            let (value, width) = (value.into(), width(title));
            let shown = value.map_or_else(String::new, |value| format!("{value:.digits$}", digits = digits(title)));
            text.push_str(&format!("{shown:>width$}"));
            if let (Some(value), true) = (value, is_json()) {
                let name = format!("{}, {} {row}: {title}", self.name, self.rows).replace("  ", " ");
                Line::Figure { name, kind: *kind, value }.print()?;
            }
        }
        remark(&text);
        Ok(())
    }
}

fn width(title: &str) -> usize {
    title.chars().count().max(8) + 3
}

fn digits(title: &str) -> usize {
    match title {
        _ if title.ends_with("/s") || title.ends_with("µs") || title == "found" => 0,
        _ if title.ends_with("ms") => 3,
        _ => 2,
    }
}
