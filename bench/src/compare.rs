//! Two builds of this program in turn: each measures everything that `make bench` prints, once a round, and the medians of the
//! rounds stand side by side.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use crate::figures::{Kind, Line};

pub(crate) const USAGE: &str = "compare BEFORE AFTER [--rounds N] [--only MEASUREMENT] [--folder FOLDER]";

/// A rate of the later build below this share of the earlier one is a regression.
const LEAST_RATIO: f64 = 0.95;

/// Every measurement of `make bench`, and what it is told besides the folder.
const MEASUREMENTS: [(&str, Target); 15] = [
    ("commits", Target::Library(&[])),
    ("size", Target::Library(&[])),
    ("turns", Target::Library(&[])),
    ("steps", Target::Library(&[])),
    ("search", Target::Library(&[])),
    ("sandbox", Target::Library(&[])),
    ("upstream", Target::Library(&[])),
    ("telegram", Target::Library(&[])),
    ("memory-latency", Target::Library(&["10000", "50000"])),
    ("mcp", Target::Program),
    ("gateway", Target::Program),
    ("hook", Target::Program),
    ("cold-start", Target::Program),
    ("chat", Target::Program),
    ("serve", Target::Program),
];

/// What a measurement calls.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// The crates that are linked into this program.
    Library(&'static [&'static str]),
    /// The program `planwright` beside it.
    Program,
}

pub(crate) struct Options {
    before: PathBuf,
    after: PathBuf,
    rounds: usize,
    only: Option<String>,
    pub(crate) folder: Option<String>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut path = || arguments.next().map(PathBuf::from).context(USAGE);
        let mut options = Self { before: path()?, after: path()?, rounds: 7, only: None, folder: None };
        while let Some(option) = arguments.next() {
            let value = arguments.next().context(USAGE)?;
            match option.as_str() {
                "--rounds" => options.rounds = value.parse().context(USAGE)?,
                "--only" => options.only = Some(value),
                "--folder" => options.folder = Some(value),
                _ => bail!(USAGE),
            }
        }
        ensure!(options.rounds > 0, "at least one round is needed");
        Ok(options)
    }
}

/// A figure of both builds, one value for each round.
struct Compared {
    kind: Kind,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Compared {
    /// How much more the later build does: above 1 it is faster.
    fn ratio(&self) -> f64 {
        let ratio = median(&self.after) / median(&self.before);
        if self.kind == Kind::Time { 1.0 / ratio } else { ratio }
    }

    fn is_regression(&self) -> bool {
        self.kind == Kind::Rate && self.ratio() < LEAST_RATIO
    }

    fn verdict(&self) -> &'static str {
        match self.kind {
            Kind::Rate if self.is_regression() => "below 0.95",
            Kind::Rate => "ok",
            Kind::Time | Kind::Limit | Kind::Other => "",
        }
    }
}

/// Every figure that was measured, in the order of their first appearance, and what was not measured.
#[derive(Default)]
struct Comparison {
    order: Vec<String>,
    figures: BTreeMap<String, Compared>,
    left_out: BTreeMap<String, String>,
}

impl Comparison {
    fn add(&mut self, line: Line, is_after: bool) {
        match line {
            Line::LeftOut { name, reason } => drop(self.left_out.insert(name, reason)),
            Line::Figure { name, kind, value } => {
                let figure = self.figures.entry(name.clone()).or_insert_with(|| {
                    self.order.push(name);
                    Compared { kind, before: Vec::new(), after: Vec::new() }
                });
                if is_after { figure.after.push(value) } else { figure.before.push(value) }
            }
        }
    }

    /// Prints the table and returns whether no rate fell.
    fn print(&self) -> bool {
        let row = |name: &str, cells: [&dyn Display; 3], verdict: &str| {
            println!("{name:<70} {:>14} {:>14} {:>7}  {verdict}", cells[0], cells[1], cells[2]);
        };
        row("figure", [&"before", &"after", &"ratio"], "ok/below 0.95");
        for name in &self.order {
            let figure = &self.figures[name];
            if figure.before.is_empty() || figure.after.is_empty() {
                println!("{name}: left out, because only one of the builds measures it");
                continue;
            }
            let shown = |values: &[f64]| format!("{:.3}", median(values));
            let ratio = format!("{:.2}", figure.ratio());
            row(name, [&shown(&figure.before), &shown(&figure.after), &ratio], figure.verdict());
        }
        for (name, reason) in &self.left_out {
            println!("{name}: left out, because {reason}");
        }
        !self.figures.values().any(Compared::is_regression)
    }
}

/// Returns whether no rate fell below its share.
pub(crate) fn run(options: &Options, folder: &TempDir) -> anyhow::Result<bool> {
    let chosen = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    let measurements: Vec<_> = MEASUREMENTS.into_iter().filter(|(name, _)| chosen(name)).collect();
    ensure!(
        !measurements.is_empty(),
        "no such measurement; there are {}",
        MEASUREMENTS.map(|(name, _)| name).join(", ")
    );
    let mut comparison = Comparison::default();
    for round in 0..options.rounds {
        for (name, target) in &measurements {
            eprintln!("round {} of {}: {name}", round + 1, options.rounds);
            // Neither is always the first, which finds another state of the caches.
            for is_after in if round % 2 == 0 { [false, true] } else { [true, false] } {
                let build = if is_after { &options.after } else { &options.before };
                measure(build, name, *target, folder)?.into_iter().for_each(|line| comparison.add(line, is_after));
            }
        }
    }
    Ok(comparison.print())
}

fn measure(build: &Path, name: &str, target: Target, folder: &TempDir) -> anyhow::Result<Vec<Line>> {
    let build = build.canonicalize().with_context(|| format!("{} is not there", build.display()))?;
    let scratch = tempfile::tempdir_in(folder.path())?;
    let scratch = scratch.path().canonicalize()?;
    let mut command = Command::new(&build);
    command.args(["--json", name]).current_dir(&scratch);
    match target {
        Target::Library(arguments) => command.arg(&scratch).args(arguments),
        Target::Program => command.arg(build.with_file_name("planwright")).arg(&scratch),
    };
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{} {name}: {}", build.display(), output.status);
    let lines = std::str::from_utf8(&output.stdout)?.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().with_context(|| format!("{} {name} prints no lines of figures", build.display()))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(kind: Kind, before: [f64; 3], after: [f64; 3]) -> Comparison {
        let mut comparison = Comparison::default();
        for (is_after, values) in [(false, before), (true, after)] {
            for value in values {
                comparison.add(Line::Figure { name: "a figure".to_owned(), kind, value }, is_after);
            }
        }
        comparison
    }

    #[test]
    fn a_rate_whose_median_falls_by_more_than_a_twentieth_is_a_regression() {
        assert!(comparison(Kind::Rate, [100.0, 90.0, 110.0], [95.5, 10.0, 200.0]).print());
        assert!(!comparison(Kind::Rate, [100.0, 90.0, 110.0], [94.5, 10.0, 200.0]).print());
        assert!(comparison(Kind::Limit, [100.0; 3], [50.0; 3]).print(), "it says nothing about the build");
    }

    #[test]
    fn a_shorter_time_is_a_ratio_above_one() {
        let comparison = comparison(Kind::Time, [2.0; 3], [1.0; 3]);
        assert_eq!(comparison.figures["a figure"].ratio(), 2.0);
        assert!(comparison.print());
    }

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let line = Line::Figure { name: "commits".to_owned(), kind: Kind::Rate, value: 1.5 };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(text, r#"{"figure":{"name":"commits","kind":"rate","value":1.5}}"#);
        let read: Line = serde_json::from_str(&text).unwrap();
        assert!(matches!(read, Line::Figure { value: 1.5, kind: Kind::Rate, .. }));
    }
}
