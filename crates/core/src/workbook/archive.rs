//! A workbook that was put away, as one file.

use jiff::Timestamp;

use super::{DocumentKind, Documents};

/// All three documents one after another, each as it was, with a line before it that says which one it is.
pub fn text(title: &str, at: Timestamp, documents: &Documents<String>) -> String {
    // What ends a comment would end this one.
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ").replace("--", "- -");
    let mut text = format!("<!-- workbook “{title}”, archived {at} -->\n");
    for which in DocumentKind::ALL {
        let document = documents.get(which);
        text.push_str(&format!("\n<!-- {} -->\n\n{document}", which.file_name()));
        if !document.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}
