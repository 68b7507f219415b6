//! The documents of the workbook, as text.

mod auto_init;
mod completion;
mod notes;
mod odd;
mod properties;
mod sections;
mod state;
mod templates;
