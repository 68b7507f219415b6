//! What specialists say and call: most do their step and report on it, some do not know how that goes.

use planwright_core::model::ModelReply;
use serde_json::json;

use super::{Speaker, call};
use crate::random::Random;

#[derive(Debug, Clone, Copy)]
enum Mood {
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
            (30, Mood::Report),
            (40, Mood::Work),
            (20, Mood::Both),
            (6, Mood::Words),
            (2, Mood::Nothing),
            (3, Mood::Nonsense),
            (3, Mood::Overreach),
        ];
        let mut reply = ModelReply::default();
        match random.weighed(&moods) {
            Mood::Report => reply.calls = vec![self.report(random)],
            Mood::Work => reply.calls = self.work(random),
            Mood::Both => {
                reply.calls = self.work(random);
                reply.calls.push(self.report(random));
                if random.coin() {
                    reply.calls.push(self.job(random));
                }
            }
            Mood::Words => reply.text = self.says("words"),
            Mood::Nothing => {}
            Mood::Nonsense => reply.calls = vec![self.nonsense(random)],
            Mood::Overreach => {
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
            (40, Mood::Words),
            (40, Mood::Work),
            (3, Mood::Nothing),
            (3, Mood::Nonsense),
            (4, Mood::Overreach),
            (4, Mood::Report),
        ];
        let mut reply = ModelReply::default();
        match random.weighed(&moods) {
            // The planner reads it.
            Mood::Words => reply.text = self.phrase("expertise"),
            Mood::Work | Mood::Both => reply.calls = self.work(random),
            Mood::Nothing => {}
            Mood::Nonsense => reply.calls = vec![self.nonsense(random)],
            Mood::Overreach => {
                let name = random.pick(&["plan_get", "plan_submit", "plan_add_step", "plan_finalize"]);
                reply.calls = vec![call(name, &self.plan_arguments(name, random)), self.question(random)];
            }
            Mood::Report => reply.calls = vec![self.report(random)],
        }
        reply
    }
}
