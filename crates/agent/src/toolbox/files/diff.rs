//! What changed in a file, as a unified diff in the form of `git diff`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use planwright_core::workspace::{FileChange, FileVersion, Workspace};
use similar::{Algorithm, DiffOp};

use super::text::{Encoding, encoding_of};

const CONTEXT: usize = 3;
/// After this long the rest of two very different files is shown as replaced.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);
/// Of the line that a hunk is in, this much is shown.
const HEADING: usize = 80;

/// The difference that changes make to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub workspace: Workspace,
    pub path: String,
    /// In the form of `git diff`, without its `index` line.
    pub text: String,
    pub added_lines: usize,
    pub removed_lines: usize,
    /// The text was cut because it was too long.
    pub truncated: bool,
}

impl FileDiff {
    /// Cuts the text between lines so that it has at most this many bytes.
    #[must_use]
    pub fn shortened(mut self, bytes: usize) -> Self {
        if self.text.len() > bytes {
            let end = self.text.floor_char_boundary(bytes);
            let end = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
            self.text.truncate(end);
            self.truncated = true;
        }
        self
    }
}

/// `before` and `after` are the contents; `None` where there is no file, or where its content is no longer kept.
pub(super) fn of_change(change: &FileChange, before: Option<&[u8]>, after: Option<&[u8]>) -> FileDiff {
    let mut diff = FileDiff {
        workspace: change.workspace.clone(),
        path: change.path.clone(),
        text: String::new(),
        added_lines: 0,
        removed_lines: 0,
        truncated: false,
    };
    if change.before == change.after {
        return diff;
    }
    let (old_name, new_name) = (name('a', &change.path), name('b', &change.path));
    diff.text = format!("diff --git {old_name} {new_name}\n{}", mode_lines(change));
    let same_content = change.before.map(|version| version.hash) == change.after.map(|version| version.hash);
    if same_content {
        return diff;
    }
    let (Some(before), Some(after)) = (content(change.before, before), content(change.after, after)) else {
        diff.text.push_str("The content is no longer kept.\n");
        return diff;
    };
    let shown =
        |version: Option<FileVersion>, name: String| if version.is_some() { name } else { "/dev/null".to_owned() };
    let (old_name, new_name) = (shown(change.before, old_name), shown(change.after, new_name));
    let (Encoding::Utf8(before), Encoding::Utf8(after)) = (encoding_of(before), encoding_of(after)) else {
        let _ = writeln!(diff.text, "Binary files {old_name} and {new_name} differ");
        return diff;
    };
    if before != after {
        // A name with a space ends with a tab, so that programs find its end.
        let end = |name: &str| if name.contains(' ') { "\t" } else { "" };
        let _ = writeln!(diff.text, "--- {old_name}{}\n+++ {new_name}{}", end(&old_name), end(&new_name));
        hunks(before, after, &mut diff);
    }
    diff
}

/// The difference between two texts, each with its path; `None` where there is no file.
pub(super) fn of_texts(before: Option<(&str, &str)>, after: Option<(&str, &str)>) -> String {
    let shown = |side: char, version: Option<(&str, &str)>| match version {
        Some((path, _)) => name(side, path),
        None => "/dev/null".to_owned(),
    };
    let mut diff = FileDiff {
        workspace: Workspace::Own,
        path: String::new(),
        text: format!("--- {}\n+++ {}\n", shown('a', before), shown('b', after)),
        added_lines: 0,
        removed_lines: 0,
        truncated: false,
    };
    let text = |version: Option<(&str, &str)>| version.map_or_else(String::new, |(_, text)| text.to_owned());
    hunks(&text(before), &text(after), &mut diff);
    diff.text
}

fn content(version: Option<FileVersion>, content: Option<&[u8]>) -> Option<&[u8]> {
    if version.is_none() { Some(b"") } else { content }
}

fn mode_lines(change: &FileChange) -> String {
    let mode = |version: FileVersion| {
        let executable = version.mode.is_some_and(|mode| mode & 0o100 != 0);
        if executable { "100755" } else { "100644" }
    };
    match (change.before.map(mode), change.after.map(mode)) {
        (None, Some(mode)) => format!("new file mode {mode}\n"),
        (Some(mode), None) => format!("deleted file mode {mode}\n"),
        (Some(before), Some(after)) if before != after => format!("old mode {before}\nnew mode {after}\n"),
        (Some(_), Some(_)) | (None, None) => String::new(),
    }
}

/// As git writes names with unusual characters.
fn name(side: char, path: &str) -> String {
    if !path.contains(|c: char| c == '"' || !(' '..='~').contains(&c)) {
        return format!("{side}/{path}");
    }
    let mut quoted = format!("\"{side}/");
    for byte in path.bytes() {
        match byte {
            b'"' => quoted.push_str("\\\""),
            b' '..=b'~' => quoted.push(char::from(byte)),
            other => {
                let _ = write!(quoted, "\\{other:03o}");
            }
        }
    }
    quoted.push('"');
    quoted
}

fn hunks(before: &str, after: &str, diff: &mut FileDiff) {
    let (old, new) = (lines(before), lines(after));
    let deadline = Instant::now().checked_add(DIFF_TIMEOUT);
    let compared = similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    for group in similar::group_diff_ops(compared, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (old_start, new_start) = (first.old_range().start, first.new_range().start);
        let (old_count, new_count) = (last.old_range().end - old_start, last.new_range().end - new_start);
        let heading = heading(&old[..old_start]);
        let _ = writeln!(diff.text, "@@ -{} +{} @@{heading}", range(old_start, old_count), range(new_start, new_count));
        for op in &group {
            match op {
                DiffOp::Equal { .. } => old[op.old_range()].iter().for_each(|line| push(&mut diff.text, ' ', line)),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    diff.removed_lines += op.old_range().len();
                    diff.added_lines += op.new_range().len();
                    old[op.old_range()].iter().for_each(|line| push(&mut diff.text, '-', line));
                    new[op.new_range()].iter().for_each(|line| push(&mut diff.text, '+', line));
                }
            }
        }
    }
}

/// Only `\n` ends a line, as for git.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

fn range(start: usize, count: usize) -> String {
    match count {
        // An empty range names the line before it.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{count}", start + 1),
    }
}

/// The last line above a hunk that begins at the left, such as the head of a function.
fn heading(above: &[&str]) -> String {
    let is_heading = |line: &&&str| line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
    let Some(line) = above.iter().rev().find(is_heading) else { return String::new() };
    let line = &line[..line.floor_char_boundary(HEADING)];
    format!(" {}", line.trim_end())
}
