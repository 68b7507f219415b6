//! The rules of the domain, each as a table of small cases, and the promises that hold over all of them.

mod world;

mod approval;
mod diff;
mod drafting;
mod execution;
mod fuzz;
mod gate;
mod import;
mod journal;
mod lifecycle;
mod mode;
mod model_check;
mod properties;
mod reference;
