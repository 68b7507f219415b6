//! The documents of the workbook, as text.

mod completion;
mod notes;
mod odd;
mod properties;
mod sections;
mod state;
mod templates;
mod verdicts;
