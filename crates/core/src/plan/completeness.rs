//! Whether a built plan may be proposed. Every missing part is reported at once, each with its path.

use crate::agents::AgentRegistry;
use crate::plan::content::Built;
use crate::refusal::Problem;

pub fn missing(built: &Built, agents: &AgentRegistry) -> Vec<Problem> {
    let mut problems = Vec::new();
    if built.goal.as_ref().is_none_or(|goal| goal.trim().is_empty()) {
        problems.push(Problem::new("/goal", "the goal is not set; use plan_set_metadata"));
    }
    let lists = [
        ("/assumptions", "assumptions", &built.assumptions),
        ("/risks", "risks", &built.risks),
        ("/verification", "verification criteria", &built.verification),
        ("/files", "affected files", &built.files),
    ];
    for (path, name, list) in lists {
        if list.is_empty() {
            problems.push(Problem::new(path, format!("no {name} are given; use plan_set_metadata")));
        }
    }
    if built.steps.is_empty() {
        problems.push(Problem::new("/steps", "there is no step; use plan_add_step"));
    }
    for (index, step) in built.steps.iter().enumerate() {
        // An agent may have left the registry since the step was added.
        if let Err(refusal) = agents.assignable(&step.agent) {
            problems.push(Problem::new(format!("/steps/{index}/agent"), refusal.message));
        }
    }
    problems
}
