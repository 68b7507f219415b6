//! What specialists say and call: most do their step and report on it, some do not know how that goes.

use planwright_core::model::ModelReply;
use serde_json::json;

use super::{Speaker, call};
use crate::random::Random;

#[derive(Debug, Clone, Copy)]
enum ReplyKind {
    Report,
    Work,
    /// Work, and a report that does not wait for its result.
    Both,
    /// Words instead of a report.
    Words,
    Nothing,
    Nonsense,
    /// Tools that are for others.
    Overreach,
}

impl Speaker<'_> {
    pub(super) fn does(&self, random: &mut Random) -> ModelReply {
        let moods = [
            (30, ReplyKind::Report),
            (40, ReplyKind::Work),
            (20, ReplyKind::Both),
            (6, ReplyKind::Words),
            (2, ReplyKind::Nothing),
            (3, ReplyKind::Nonsense),
            (3, ReplyKind::Overreach),
        ];
        let mut reply = ModelReply::default();
        match random.weighed(&moods) {
            ReplyKind::Report => reply.calls = vec![self.report(random)],
            ReplyKind::Work => reply.calls = self.work(random),
            ReplyKind::Both => {
                reply.calls = self.work(random);
                reply.calls.push(self.report(random));
                if random.coin() {
                    reply.calls.push(self.job(random));
                }
            }
            ReplyKind::Words => reply.text = self.says("words"),
            ReplyKind::Nothing => {}
            ReplyKind::Nonsense => reply.calls = vec![self.nonsense(random)],
            ReplyKind::Overreach => {
                let name = random.pick(&["plan_get", "plan_set_content", "plan_submit", "plan_add_step", "plan_list"]);
                reply.calls = vec![call(name, &self.plan_arguments(name, random)), self.question(random)];
                let other = json!({ "status": "done", "step": 1 + random.below(3), "note": self.phrase("note") });
                reply.calls.push(call("plan_progress", &other));
            }
        }
        reply
    }

    pub(super) fn is_asked(&self, random: &mut Random) -> ModelReply {
        let moods = [
            (40, ReplyKind::Words),
            (40, ReplyKind::Work),
            (3, ReplyKind::Nothing),
            (3, ReplyKind::Nonsense),
            (4, ReplyKind::Overreach),
            (4, ReplyKind::Report),
        ];
        let mut reply = ModelReply::default();
        match random.weighed(&moods) {
            // The planner reads it.
            ReplyKind::Words => reply.text = self.phrase("expertise"),
            ReplyKind::Work | ReplyKind::Both => reply.calls = self.work(random),
            ReplyKind::Nothing => {}
            ReplyKind::Nonsense => reply.calls = vec![self.nonsense(random)],
            ReplyKind::Overreach => {
                let name = random.pick(&["plan_get", "plan_submit", "plan_add_step", "plan_finalize"]);
                reply.calls = vec![call(name, &self.plan_arguments(name, random)), self.question(random)];
            }
            ReplyKind::Report => reply.calls = vec![self.report(random)],
        }
        reply
    }
}
