use crate::cli::{Global, TourArgs};
use crate::failure::{Exit, Outcome};
pub(crate) async fn run(_: &Global, _: &TourArgs) -> Outcome { Ok(Exit::Done) }
