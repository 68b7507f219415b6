//! The section `gateway`: calls of agents of other programs to upstream servers.

use std::time::Duration;

use planwright_core::gateway::GatewayWrites;

use super::setting::{Choice, Choices, Seconds, section};

section! {
    pub(super) struct GatewaySection, "gateway" {
        "When an agent of another program may call upstream tools that change things, in styles document and build: at any time, while an approved plan is carried out, or after a person was asked in the client. In style collect every call is recorded."
        writes: Choice<GatewayWrites> = GatewayWrites::default(),
        "The time after the start of `planwright mcp` for which a list of tools waits for the servers named with `--upstream`. A server that takes longer is added when it answers."
        start_seconds: Seconds = Duration::from_secs(8),
    }
}

impl Choices for GatewayWrites {
    const NAMES: &'static [(&'static str, Self)] =
        &[("free", Self::Free), ("approved_plan", Self::ApprovedPlan), ("ask", Self::Ask)];
}
