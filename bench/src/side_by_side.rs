//! Two builds of this program at once on one processor. A shared machine is faster or slower by a third from one second to
//! the next, so runs one after another say little about a difference of a tenth. Here both have half of the same processor.
//!
//! Only the rates count: a short time is twice as long if the other build works meanwhile, and not if it prepares its next
//! table.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

/// Those in one process. With a server beside it the halves are not equal.
const MEASUREMENTS: [&str; 3] = ["commits", "turns", "steps"];

/// A line of a table, and when it was printed.
struct Row {
    label: String,
    figures: Vec<f64>,
    at: Instant,
}

/// What new / old was in each round.
struct Ratios {
    label: String,
    /// One list for each figure of the line.
    figures: Vec<Vec<f64>>,
}

pub(crate) async fn run(
    old: &Path,
    new: &Path,
    measurement: &str,
    rounds: usize,
    folder: &TempDir,
) -> anyhow::Result<()> {
    ensure!(MEASUREMENTS.contains(&measurement), "{measurement} cannot be compared: {} can", MEASUREMENTS.join(", "));
    ensure!(rounds > 0, "at least one round is needed");
    let processors = std::thread::available_parallelism()?.get();
    let mut all = BTreeMap::new();
    for round in 0..rounds {
        let processor = round % processors;
        let (old, new) =
            tokio::join!(rows(old, measurement, processor, folder), rows(new, measurement, processor, folder));
        let ((old, old_end), (new, new_end)) = (old?, new?);
        // What one measures after the other has ended, it measures alone. Tables may have rows of the same name.
        let both_ran = |row: &Row| row.at <= old_end.min(new_end);
        let pairs = old.iter().zip(&new).take_while(|(before, after)| both_ran(before) && both_ran(after));
        for (index, (before, after)) in pairs.enumerate().filter(|(_, (before, after))| before.label == after.label) {
            let ratios = before.figures.iter().zip(&after.figures).map(|(before, after)| after / before);
            let known = all.entry(index).or_insert_with(|| Ratios::of(before));
            known.figures.iter_mut().zip(ratios).for_each(|(known, ratio)| known.push(ratio));
        }
    }
    println!("new / old of {measurement}; for each figure of a line the mean, the least and the most of {rounds}");
    for Ratios { label, figures } in all.values() {
        println!("{label}: {}", figures.iter().map(|ratios| describe(ratios)).collect::<Vec<_>>().join("; "));
    }
    Ok(())
}

impl Ratios {
    fn of(row: &Row) -> Self {
        Self { label: row.label.clone(), figures: vec![Vec::new(); row.figures.len()] }
    }
}

fn describe(ratios: &[f64]) -> String {
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let (least, most) =
        ratios.iter().fold((f64::MAX, f64::MIN), |(least, most), ratio| (least.min(*ratio), most.max(*ratio)));
    format!("{mean:.2} ({least:.2}–{most:.2})")
}

/// The lines with figures that a build prints, and when it ended.
async fn rows(
    program: &Path,
    measurement: &str,
    processor: usize,
    folder: &TempDir,
) -> anyhow::Result<(Vec<Row>, Instant)> {
    let scratch = tempfile::tempdir_in(folder.path())?;
    let mut child = Command::new("taskset")
        .args(["--cpu-list", &processor.to_string()])
        .arg(program)
        .arg(measurement)
        .arg(scratch.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("taskset cannot be started; it is in the package util-linux")?;
    let output = child.stdout.take().context("the build has no output")?;
    let (mut lines, mut rows) = (BufReader::new(output).lines(), Vec::new());
    while let Some(line) = lines.next_line().await? {
        rows.extend(row(&line));
    }
    let ended = Instant::now();
    let status = child.wait().await?;
    ensure!(status.success(), "{} {measurement}: {status}", program.display());
    Ok((rows, ended))
}

/// A line's label is its words, and its first number if it has several.
fn row(line: &str) -> Option<Row> {
    let number = |word: &str| word.trim_end_matches("/s").parse::<f64>().ok();
    let mut figures: Vec<f64> = line.split_whitespace().filter_map(number).collect();
    let label_words = line.split_whitespace().filter(|word| number(word).is_none());
    let mut label = label_words.collect::<Vec<_>>().join(" ").trim_end_matches(':').to_owned();
    if figures.len() > 1 {
        label = format!("{} {label}", figures.remove(0)).trim().to_owned();
    }
    (!figures.is_empty()).then_some(Row { label, figures, at: Instant::now() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(String, Vec<f64>)> {
        row(line).map(|row| (row.label, row.figures))
    }

    #[test]
    fn a_line_is_known_by_its_words_and_its_first_number() {
        assert_eq!(
            read("   10 changes things    2775    0.38"),
            Some(("10 changes things".to_owned(), vec![2775.0, 0.38]))
        );
        assert_eq!(read("bare commits: 7337/s"), Some(("bare commits".to_owned(), vec![7337.0])));
        assert_eq!(read(" steps  the tool   steps/s"), None);
    }
}
