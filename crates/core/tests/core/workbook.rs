//! The documents of the workbook, as text.

mod auto_init;
mod completion;
mod edge_cases;
mod notes;
mod properties;
mod sections;
mod state;
mod templates;
