//! The section `gateway`: calls of agents of other programs to upstream servers.

use std::time::Duration;

use planwright_core::gateway::{GatewayOptions, GatewayReads, GatewayWrites};

use super::setting::{Choice, Choices, Positive, Seconds, section};

section! {
    pub(super) struct GatewaySection, "gateway" {
        "What becomes of upstream calls of another program's agent that change things, in styles document and build: they are recorded in rounds that a person approves, run while an approved plan is carried out, run after a person was asked in the client, or run at any time. In style collect every such call is recorded."
        writes: Choice<GatewayWrites> = GatewayWrites::default(),
        "What becomes of upstream calls that only read, in style collect: they are recorded, too, or run at once. In the other styles they run."
        reads: Choice<GatewayReads> = GatewayReads::default(),
        "The bytes of text of an upstream result that the client gets at once. The rest is read by parts."
        result_bytes: Positive<usize> = GatewayOptions::RESULT_BYTES,
        "The time after the start of `planwright mcp` for which a list of tools waits for the servers named with `--upstream`. A server that takes longer is added when it answers."
        start_seconds: Seconds = Duration::from_secs(8),
    }
}

impl GatewaySection {
    pub(super) fn options(&mut self) -> GatewayOptions {
        GatewayOptions { writes: self.writes(), reads: self.reads(), result_bytes: self.result_bytes() }
    }
}

impl Choices for GatewayWrites {
    const NAMES: &'static [(&'static str, Self)] =
        &[("recorded", Self::Recorded), ("during_plan", Self::DuringPlan), ("ask", Self::Ask), ("free", Self::Free)];
    // It let every call of the agent run once a plan was approved. Who relied on it gets what protects.
    const EARLIER: &'static [(&'static str, Self)] = &[("approved_plan", Self::Recorded)];
}

impl Choices for GatewayReads {
    const NAMES: &'static [(&'static str, Self)] = &[("recorded", Self::Recorded), ("run", Self::Run)];
}
