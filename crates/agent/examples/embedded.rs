// An agent inside a program. The program shows the plan and asks its user; nothing runs before.
use std::io::{self, Write as _};
use std::path::Path;

use planwright_agent::{Actor, AgentBuilder, PlanCard, SessionHandle};
use planwright_llm::{ModelChoice, Options, connect};
use planwright_store::{Location, open};

async fn plan_and_do(
    folder: &Path,
    model: &str,
    ask_user: impl Fn(&PlanCard) -> io::Result<bool>,
) -> Result<String, Box<dyn std::error::Error>> {
    let store = open(&Location::Sqlite(folder.join("planwright.db"))).await?;
    let model = connect(&model.parse::<ModelChoice>()?, |name| std::env::var(name).ok(), Options::default())?;
    let agent = AgentBuilder::new(store, model, folder).build();
    let session = SessionHandle::open(&agent, "web:ada-and-her-blog", Actor::person("ada", "my program")).await?;

    let answer = session.send("/plan move the blog to a new host").await?;
    let plan = answer.plan.ok_or("the agent drafted no plan")?;
    let decided = if ask_user(&plan)? { session.approve(&plan).await? } else { session.reject(&plan, None).await? };
    Ok(decided.reply)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "rehearsal".to_owned()); // or `openai:NAME` …
    let ask_user = |plan: &PlanCard| {
        print!("{}\n\nApprove plan {}? [y/N] ", plan.markdown, plan.number);
        io::stdout().flush()?;
        Ok(io::stdin().lines().next().transpose()?.as_deref() == Some("y"))
    };
    println!("{}", plan_and_do(Path::new("."), &model, ask_user).await?);
    Ok(())
}
