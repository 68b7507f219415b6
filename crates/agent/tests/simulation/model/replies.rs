//! What the model says and calls, fitting the tools it is offered most of the time.

mod specialists;

use planwright_core::model::{ModelReply, ModelRequest, ToolCall};
use serde_json::{Value, json};

use super::memories::{goal_mark, task_mark, tick_in};
use super::recipients::{ALOUD, APART};
use crate::random::Random;
use crate::tools::TOOLS;
use crate::world::{FILES, Role, World, mark, session};

#[derive(Debug, Clone, Copy)]
enum ReplyKind {
    Answer,
    Nothing,
    /// Tools that do something to the world.
    Work,
    /// Plan tools, if there are some.
    Plan,
    /// Tools that are not there, arguments that do not fit.
    Nonsense,
    /// Work and plan tools in one reply.
    Mixture,
    /// A question to a specialist, maybe among other calls.
    Ask,
    /// A file, written over and over.
    Write,
    /// Goals, tasks, the diary and the memory.
    Remember,
}

pub(super) fn reply(world: &World, role: Role, request: &ModelRequest, mark: &str, random: &mut Random) -> ModelReply {
    let speaker = Speaker { world, role, request, mark };
    let mut reply = match role {
        Role::Summarizer => return ModelReply { text: speaker.phrase("summary"), ..ModelReply::default() },
        Role::Doing => speaker.does(random),
        Role::Asked => speaker.is_asked(random),
        Role::Agent => speaker.talks(random),
    };
    if !reply.calls.is_empty() && random.per_mille(300) {
        reply.text = speaker.says("while I do this");
    }
    reply.cut_off = random.per_mille(10);
    reply
}

struct Speaker<'a> {
    world: &'a World,
    role: Role,
    request: &'a ModelRequest,
    mark: &'a str,
}

impl Speaker<'_> {
    /// The agent in the conversation.
    fn talks(&self, random: &mut Random) -> ModelReply {
        let offered = self.plan_tools();
        let carries_out = self.world.conditions.carries_out;
        let (answer, plan, mixture) = match (offered.contains(&"plan_finalize"), offered.is_empty()) {
            // A plan that is collected needs something in it.
            (true, _) if carries_out => (30, 4, 300),
            (true, _) => (30, 8, 50),
            (false, false) if offered.contains(&"plan_progress") => (8, 45, 15),
            (false, false) => (30, 45, 10),
            (false, true) => (30, 2, 0),
        };
        let ask = if self.offers("ask_agent") { 25 } else { 1 };
        let moods = [
            (answer, ReplyKind::Answer),
            (2, ReplyKind::Nothing),
            (30, ReplyKind::Work),
            (plan, ReplyKind::Plan),
            (4, ReplyKind::Nonsense),
            (mixture, ReplyKind::Mixture),
            (ask, ReplyKind::Ask),
            (if self.mark == mark(&session(FILES)) { 120 } else { 0 }, ReplyKind::Write),
            (self.remembers(), ReplyKind::Remember),
        ];
        let mut reply = ModelReply::default();
        match random.weighed(&moods) {
            ReplyKind::Answer => reply.text = self.says("answer"),
            ReplyKind::Nothing => {}
            ReplyKind::Work => reply.calls = self.work(random),
            ReplyKind::Plan => reply.calls = self.plan(random),
            ReplyKind::Nonsense => reply.calls = vec![self.nonsense(random)],
            ReplyKind::Mixture => {
                reply.calls = self.work(random);
                reply.calls.extend(self.plan(random));
            }
            ReplyKind::Remember => reply.calls = (0..=random.below(2)).map(|_| self.note(random)).collect(),
            ReplyKind::Write => reply.calls = (0..=random.below(2)).map(|_| self.file()).collect(),
            ReplyKind::Ask => {
                if random.per_mille(300) {
                    reply.calls.push(self.job(random));
                }
                reply.calls.extend((0..=random.below(2)).map(|_| self.question(random)));
                if random.per_mille(300) {
                    reply.calls.push(self.job(random));
                }
            }
        }
        reply
    }

    fn remembers(&self) -> u64 {
        match (tick_in(self.request), self.world.conditions.works_alone) {
            (Some(_), _) => 90,
            (None, true) => 12,
            (None, false) => 0,
        }
    }

    /// A call about goals, tasks, the diary or the memory. What belongs to the task or the goal of a run has its mark.
    fn note(&self, random: &mut Random) -> ToolCall {
        let tick = tick_in(self.request);
        let task = tick.map(|tick| task_mark(tick.task)).unwrap_or_default();
        // A decision of a run without a goal belongs to its task.
        let decided = tick.and_then(|tick| tick.goal).map_or_else(|| task.clone(), goal_mark);
        match random.below(if tick.is_some() { 9 } else { 6 }) {
            0 => call("memory_save", &json!({ "content": self.phrase("fact") })),
            1 | 2 => call("memory_search", &json!({ "query": "fact result decision says diary" })),
            3 => call(
                "memory_save",
                &json!({ "content": format!("{} {decided}", self.phrase("decision")), "kind": "decision" }),
            ),
            4 => call(
                "memory_save",
                &json!({ "content": format!("{} {task}", self.phrase("result")), "kind": "result" }),
            ),
            5 => call("task_add", &json!({ "title": self.phrase("task") })),
            6 => call("diary_write", &json!({ "text": format!("{} {task}", self.phrase("diary")) })),
            _ => {
                let status = random.pick(&["done", "done", "failed", "skipped"]);
                call("task_update", &json!({ "status": status, "note": self.phrase("note") }))
            }
        }
    }

    /// Something that others may come to read.
    fn phrase(&self, what: &str) -> String {
        format!("{} {what} {}", self.mark, self.world.number())
    }

    /// Something for those alone who hear it.
    fn says(&self, what: &str) -> String {
        let to = match self.role {
            Role::Agent | Role::Summarizer => ALOUD,
            Role::Doing | Role::Asked => APART,
        };
        format!("{} {to} {what} {}", self.mark, self.world.number())
    }

    fn work(&self, random: &mut Random) -> Vec<ToolCall> {
        let count = 1 + random.below(4);
        (0..count).map(|_| self.job(random)).collect()
    }

    fn job(&self, random: &mut Random) -> ToolCall {
        let (tool, _) = random.pick(&TOOLS);
        let number = match self.role {
            Role::Agent | Role::Summarizer => self.world.number(),
            Role::Doing | Role::Asked => self.world.number_apart(),
        };
        call(tool, &json!({ "number": number, "mark": self.mark }))
    }

    /// The file holds the highest number that was written.
    fn file(&self) -> ToolCall {
        call("write_file", &json!({ "path": crate::files::NAME, "content": self.phrase("number") }))
    }

    fn question(&self, random: &mut Random) -> ToolCall {
        let agent = random.pick(&["coder", "coder", "researcher", "tester", "nobody", "planner"]);
        call("ask_agent", &json!({ "agent": agent, "question": self.phrase("question") }))
    }

    fn nonsense(&self, random: &mut Random) -> ToolCall {
        let (tool, _) = random.pick(&TOOLS);
        let mark = self.mark;
        let (name, arguments) = match random.below(7) {
            0 => ("fly", "{}".to_owned()),
            1 => (tool, format!("{{\"mark\": \"{mark}\"")),
            2 => (tool, format!("[\"{mark}\"]")),
            3 => (tool, json!({ "mark": mark }).to_string()),
            4 => ("plan_everything", "{}".to_owned()),
            5 => ("ask_agent", json!({ "agent": "coder", "question": " " }).to_string()),
            _ => ("plan_submit", json!({ "mark": mark }).to_string()),
        };
        ToolCall { name: name.to_owned(), arguments, signatures: Vec::new() }
    }

    fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| offered.name == tool)
    }

    fn plan_tools(&self) -> Vec<&str> {
        let names = self.request.tools.iter().map(|tool| tool.name.as_str());
        names.filter(|name| name.starts_with("plan_")).collect()
    }

    /// One of the plan tools that are offered, and in style build everything that makes a whole proposal.
    fn plan(&self, random: &mut Random) -> Vec<ToolCall> {
        let offered = self.plan_tools();
        if offered.contains(&"plan_submit") && random.coin() {
            let names = ["plan_create_draft", "plan_set_metadata", "plan_add_step", "plan_add_step", "plan_submit"];
            return names.iter().map(|name| call(name, &self.plan_arguments(name, random))).collect();
        }
        // An agent that carries out a document seldom rewrites it.
        if offered.contains(&"plan_progress") && random.per_mille(850) {
            return (0..=random.below(3)).map(|_| self.report(random)).collect();
        }
        let preferred = ["plan_finalize", "plan_set_content", "plan_progress"];
        let preferred: Vec<_> = preferred.into_iter().filter(|name| offered.contains(name)).collect();
        let name = match (preferred.is_empty(), offered.is_empty()) {
            (_, true) => "plan_get",
            (false, false) if random.per_mille(800) => random.pick(&preferred),
            (_, false) => random.pick(&offered),
        };
        vec![call(name, &self.plan_arguments(name, random))]
    }

    fn report(&self, random: &mut Random) -> ToolCall {
        call("plan_progress", &self.plan_arguments("plan_progress", random))
    }

    fn plan_arguments(&self, name: &str, random: &mut Random) -> Value {
        let step = format!("s{}", 1 + random.below(3));
        match name {
            "plan_set_content" => {
                let steps: String = (0..=random.below(4)).map(|_| format!("- [ ] {}\n", self.phrase("step"))).collect();
                json!({ "plan_markdown": format!("# {}\n\n{steps}", self.phrase("plan")) })
            }
            "plan_progress" => {
                let status = random.pick(&["in_progress", "done", "done", "done", "failed", "skipped"]);
                json!({ "status": status, "note": self.phrase("note") })
            }
            "plan_finalize" | "plan_submit" => json!({ "summary": self.phrase("summary of the plan") }),
            "plan_create_draft" => json!({ "goal": self.phrase("goal") }),
            "plan_set_metadata" => {
                let list = || json!([self.phrase("item")]);
                let goal = self.phrase("goal");
                json!({ "goal": goal, "assumptions": list(), "risks": list(), "verification": list(), "files": list() })
            }
            "plan_add_step" => {
                let needs = if random.coin() { json!([]) } else { json!([step]) };
                let agent = random.pick(&["coder", "coder", "tester", "writer"]);
                json!({ "description": self.phrase("step"), "agent": agent, "needs": needs })
            }
            "plan_update_step" => json!({ "step_id": step, "description": self.phrase("step") }),
            "plan_remove_step" => json!({ "step_id": step }),
            // `plan_get`, `plan_list`, and whatever comes to the table later.
            _ => json!({}),
        }
    }
}

fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall { name: name.to_owned(), arguments: arguments.to_string(), signatures: Vec::new() }
}
