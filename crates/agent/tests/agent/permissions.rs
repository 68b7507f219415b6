//! Permission for calls in a project: rules, the approved plan, and a person's answer, which the turn waits for.

use std::path::Path;
use std::sync::{Arc, Mutex};

use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_agent::session::outcome::Answer;
use planwright_core::ask::{Ask, AskAnswer, AskSubject, Grant};
use planwright_core::choices::Activity;
use planwright_core::event::TurnEvent;
use planwright_core::model::ModelMessage;
use planwright_core::permission::{Permission, PermissionRule, PermissionRules};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::turn::TurnEnd;
use planwright_engine::inbox::{Waiting, WaitingFor};
use planwright_engine::permission_rules::RuleSource;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::planning::{report, set};
use crate::takeover::Keeper;
use crate::test_tools::Prop;
use crate::world::{World, person};

/// A tool of an upstream server: nothing but a rule or a person permits it.
const SEND: &str = "post__send";

/// Rules that can be added to.
#[derive(Debug, Default)]
struct Rules(Mutex<Vec<PermissionRule>>);

impl RuleSource for Rules {
    fn rules(&self) -> Result<Arc<PermissionRules>, Refusal> {
        PermissionRules::new(self.0.lock().unwrap().clone()).map(Arc::new)
    }
}

fn rule(tool: &str, decide: Permission) -> PermissionRule {
    let (target, server, effect) = (None, None, None);
    PermissionRule { tool: tool.to_owned(), target, server, effect, exact: false, decide }
}

fn send(to: &str) -> Reply {
    Reply::call(SEND, json!({ "to": to }))
}

struct Post {
    world: World,
    tool: Prop,
    rules: Arc<Rules>,
}

/// A conversation with a tool that sends letters.
async fn post(replies: impl IntoIterator<Item = Reply>) -> Post {
    let (tool, rules) = (Prop::changing(SEND), Arc::new(Rules::default()));
    let world = World::with(ScriptedModel::new(replies), |setup| {
        setup.tool(&tool);
        setup.options.permissions = Arc::clone(&rules) as Arc<dyn RuleSource>;
    })
    .await;
    Post { world, tool, rules }
}

impl Post {
    async fn waiting(&self) -> Option<Ask> {
        self.world.engine().sessions().get(&self.world.session).await.unwrap().waiting_ask().cloned()
    }

    async fn in_session(&self, key: &str, text: &str) -> Answer {
        let session = crate::world::session(key);
        self.world.engine().sessions().open(&session, &person()).await.unwrap();
        let place = ChatLocation::new(self.world.place().transport, session);
        let stream = self.world.agent.submit(Input::typed(text), Request::new(place, person()));
        stream.outcome().await.unwrap().answer().expect("an answer")
    }

    async fn code(&self) -> String {
        self.waiting().await.expect("an ask").code()
    }
}

fn sent(text: &str) -> bool {
    text.contains("did not permit")
}

#[tokio::test]
async fn a_call_that_nothing_covers_waits_and_is_made_once_it_is_permitted() {
    let post = post([send("ada"), Reply::text("Sent.")]).await;
    let waits = post.world.send("Write to Ada").await;
    let Some(AskSubject::Permission(call)) = waits.ask.map(|waiting| waiting.ask.subject) else {
        panic!("no permission asked")
    };
    assert_eq!((call.tool.as_str(), &call.arguments), (SEND, &json!({ "to": "ada" })));
    assert!(waits.reply.contains("\"to\": \"ada\"") && waits.reply.contains("/allow"), "{}", waits.reply);
    assert!(post.tool.calls().is_empty());
    // Without its code nothing is permitted, and the person sees the call again.
    let shown = post.world.send("/allow").await;
    assert!(shown.reply.contains("\"to\": \"ada\"") && post.tool.calls().is_empty(), "{}", shown.reply);
    let answered = post.world.send(&format!("/allow {}", post.code().await)).await;
    assert_eq!((answered.end, answered.reply.as_str()), (Some(TurnEnd::Answered), "Sent."));
    assert_eq!(post.tool.calls().len(), 1);
    post.world.is_sound().await;
}

impl Post {
    /// Permits the call that waits, with other arguments.
    async fn permit_with(&self, arguments: serde_json::Value) -> Answer {
        let ask = self.waiting().await.expect("an ask");
        let answer = AskAnswer::Permission { grant: Grant::Once, note: None, arguments: Some(Box::new(arguments)) };
        let input = Input::Answer { ask: ask.id, digest: ask.digest, answer };
        let stream = self.world.agent.submit(input, Request::new(self.world.place(), person()));
        stream.outcome().await.unwrap().answer().expect("an answer")
    }
}

#[tokio::test]
async fn a_person_changes_the_arguments_before_they_permit_the_call_and_the_model_is_told() {
    let post = post([send("ada"), send("ada"), Reply::text("Sent.")]).await;
    post.world.send("Write to Ada").await;
    let answered = post.permit_with(json!({ "to": "bob" })).await;
    assert_eq!(post.tool.calls(), [json!({ "to": "bob" })]);
    let request = format!("{:?}", post.world.sent(2).messages);
    assert!(request.contains("A person changed the arguments") && request.contains("bob"), "{request}");
    // It was for that one call: the next is asked about as the agent makes it.
    let Some(AskSubject::Permission(call)) = answered.ask.map(|waiting| waiting.ask.subject) else {
        panic!("no permission asked")
    };
    assert_eq!(call.arguments, json!({ "to": "ada" }));
    post.world.send(&format!("/allow {}", post.code().await)).await;
    assert_eq!(post.tool.calls().last(), Some(&json!({ "to": "ada" })));
    post.world.is_sound().await;
}

#[tokio::test]
async fn changed_arguments_do_not_pass_a_rule_that_denies() {
    let post = post([send("ada"), Reply::text("No luck.")]).await;
    post.rules.0.lock().unwrap().push(rule(SEND, Permission::Ask));
    post.world.send("Write to Ada").await;
    post.rules.0.lock().unwrap().push(rule("*", Permission::Deny));
    assert_eq!(post.permit_with(json!({ "to": "bob" })).await.reply, "No luck.");
    assert!(post.tool.calls().is_empty());
}

#[tokio::test]
async fn a_no_reaches_the_model_with_the_persons_words() {
    let post = post([send("ada"), Reply::text("Then not.")]).await;
    post.world.send("Write to Ada").await;
    assert_eq!(post.world.send("/deny she is on holiday").await.reply, "Then not.");
    assert!(post.tool.calls().is_empty());
    let request = format!("{:?}", post.world.sent(2).messages);
    assert!(sent(&request) && request.contains("she is on holiday"), "{request}");
}

#[tokio::test]
async fn the_code_of_another_call_permits_nothing() {
    let post = post([send("ada"), send("bob"), Reply::text("Sent.")]).await;
    post.world.send("Write to both").await;
    let first = post.code().await;
    assert!(post.world.send(&format!("/allow {first}")).await.ask.is_some(), "the second call is asked about");
    let stale = post.world.send(&format!("/allow {first}")).await;
    assert_eq!(stale.refusal, Some(RefusalCode::StaleApproval));
    assert!(stale.reply.contains("bob"), "{}", stale.reply);
    assert_eq!(post.tool.calls().len(), 1);
}

#[tokio::test]
async fn it_waits_over_a_restart_and_no_message_and_no_takeover_is_an_answer() {
    let post = post([send("ada")]).await;
    post.world.send("Write to Ada").await;
    let code = post.code().await;
    // What the person types is no permission, whatever it says.
    for text in ["yes", "allow it", &code, &format!("I say /allow {code}")] {
        let refused = post.world.agent.submit(Input::typed(text), Request::new(post.world.place(), person()));
        assert_eq!(refused.outcome().await.unwrap_err().code(), RefusalCode::WrongStatus, "{text}");
    }
    let idle = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&post.world, &idle).await;
    crate::execution::pauses::passes(&post.world, &keeper, &idle).await;
    keeper.end().await;
    let Post { world, tool, .. } = post;
    let world = world.restart().await;
    assert!(tool.calls().is_empty());
    world.model.then(Reply::text("Sent."));
    assert_eq!(world.send(&format!("/allow {code}")).await.reply, "Sent.");
    assert_eq!(tool.calls().len(), 1);
}

#[tokio::test]
async fn always_writes_a_rule_for_this_call_only() {
    let post = post([send("ada"), Reply::text("Sent."), send("ada"), Reply::text("Again.")]).await;
    post.world.send("Write to Ada").await;
    let answered = post.world.send(&format!("/allow {} always", post.code().await)).await;
    let message = answered.decided.unwrap();
    assert!(message.contains("permits `post__send` with exactly these arguments, in the session"), "{message}");
    assert_eq!(post.world.send("Once more").await.reply, "Again.");
    assert_eq!(post.tool.calls().len(), 2);
    let rules = post.world.engine().approvals().permissions().await.unwrap();
    let [(number, rule)] = rules.iter().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((&rule.by, rule.session.as_ref()), (&person(), Some(&post.world.session)));
    // Another letter and another session are asked about.
    post.world.model.then(send("bob"));
    assert!(post.world.send("Write to Bob").await.ask.is_some());
    post.world.send("/stop").await;
    post.world.model.then(send("ada"));
    assert!(post.in_session("another-session", "Write to Ada").await.ask.is_some());
    // What is taken back is asked about again.
    post.world.engine().approvals().remove_permission(&person(), *number).await.unwrap();
    post.world.model.then(send("ada"));
    assert!(post.world.send("And again").await.ask.is_some());
    assert_eq!(post.tool.calls().len(), 2);
}

/// The rule is the one that the person was shown, for sessions in this project and in no other.
#[tokio::test]
async fn always_in_a_project_names_the_project_and_what_was_shown() {
    let edit = |content: &str| Reply::call("write_file", json!({ "path": "hello.py", "content": content }));
    let post = post([edit("1")]).await;
    let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let project = |folder: &tempfile::TempDir| format!("/project {}", folder.path().display());
    post.world.send(&project(&mine)).await;
    let asks = post.world.send("Say hello").await;
    let always = "`always` permits `write_file` on `hello.py`, with any content, in every session that works in";
    assert!(asks.reply.contains(always), "{}", asks.reply);
    post.world.model.then(Reply::text("Written."));
    assert_eq!(post.world.send(&format!("/allow {} always", post.code().await)).await.reply, "Written.");
    let script = [edit("2"), Reply::text("Again."), edit("3"), Reply::text("There, too.")];
    script.into_iter().for_each(|reply| post.world.model.then(reply));
    assert_eq!(post.world.send("Once more").await.reply, "Again.");
    post.in_session("another-session", &project(&mine)).await;
    assert_eq!(post.in_session("another-session", "And you").await.reply, "There, too.");
    assert_eq!(std::fs::read_to_string(mine.path().join("hello.py")).unwrap(), "3");
    post.in_session("another-session", &project(&other)).await;
    post.world.model.then(edit("4"));
    assert!(post.in_session("another-session", "And elsewhere").await.ask.is_some(), "another project");
    let path = Reply::call("write_file", json!({ "path": "bye.py", "content": "5" }));
    post.world.model.then(path);
    assert!(post.world.send("Say goodbye").await.ask.is_some(), "another file");
}

#[tokio::test]
async fn for_the_plan_means_this_call_until_the_execution_ends() {
    let script = [
        set("- [ ] write to Ada and Bob"),
        Reply::text("Ready."),
        send("ada"),
        send("ada"),
        send("bob"),
        report(1),
        Reply::text("Done."),
        send("ada"),
        Reply::text("And again."),
    ];
    let post = post(script).await;
    post.world.send("/plan on").await;
    post.world.say("Plan the letters").await;
    let waits = post.world.send("/plan approve").await;
    assert!(waits.ask.is_some());
    // The second letter to Ada is covered, the one to Bob is not.
    let waits = post.world.send(&format!("/allow {} plan", post.code().await)).await;
    let Some(AskSubject::Permission(call)) = waits.ask.map(|waiting| waiting.ask.subject) else {
        panic!("Bob is not covered")
    };
    assert_eq!((call.arguments, post.tool.calls().len()), (json!({ "to": "bob" }), 2));
    post.world.send(&format!("/allow {}", post.code().await)).await;
    assert_eq!(post.world.plan(1).await.status, PlanStatus::Completed);
    assert!(post.world.send("Once more").await.ask.is_some(), "the execution is over");
    assert_eq!(post.tool.calls().len(), 3);
}

#[tokio::test]
async fn a_rule_that_denies_beats_a_rule_that_allows_and_an_answer() {
    let post = post([send("ada"), send("ada"), Reply::text("No luck.")]).await;
    post.rules.0.lock().unwrap().push(rule(SEND, Permission::Ask));
    post.world.send("Write to Ada").await;
    let code = post.code().await;
    post.rules.0.lock().unwrap().extend([rule("*", Permission::Deny), rule(SEND, Permission::Allow)]);
    assert_eq!(post.world.send(&format!("/allow {code}")).await.reply, "No luck.");
    assert!(post.tool.calls().is_empty());
}

#[tokio::test]
async fn the_first_answer_counts_and_only_a_persons() {
    let post = post([send("ada"), Reply::text("Sent.")]).await;
    post.world.send("Write to Ada").await;
    let ask = post.waiting().await.unwrap();
    let answer = |grant| planwright_core::command::AnswerCommand {
        ask: ask.id.clone(),
        digest: ask.digest,
        answer: AskAnswer::permission(grant, None),
    };
    let submit = async |by: planwright_core::actor::Actor, grant| {
        let command = planwright_core::command::Command::Answer(answer(grant));
        post.world.engine().submit(&post.world.session, &by, command).await
    };
    let agent = planwright_core::actor::Actor::agent("a model", "test");
    assert_eq!(submit(agent, Grant::Once).await.unwrap_err().code(), RefusalCode::PolicyDenied);
    submit(person(), Grant::No).await.unwrap();
    assert_eq!(submit(person(), Grant::Once).await.unwrap_err().code(), RefusalCode::Conflict);
}

/// A file tool is compared with rules by the path after links were resolved.
#[cfg(unix)]
#[tokio::test]
async fn a_rule_about_a_path_is_not_passed_by_a_link() {
    let rules = Arc::new(Rules::default());
    let deny = PermissionRule { target: Some("secret/**".to_owned()), ..rule("*", Permission::Deny) };
    rules.0.lock().unwrap().push(deny);
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    let write = |path: &str| Reply::call("write_file", json!({ "path": path, "content": "mine" }));
    let script =
        [write("open.txt"), Reply::text("1"), read("link/key"), Reply::text("2"), write("link/new"), Reply::text("3")];
    let world = World::with(ScriptedModel::new(script), |setup| {
        setup.options.permissions = Arc::clone(&rules) as Arc<dyn RuleSource>;
    })
    .await;
    world.say("Begin").await;
    let files = find(world.folder.path(), "open.txt");
    std::fs::create_dir(files.join("secret")).unwrap();
    std::fs::write(files.join("secret/key"), "the key").unwrap();
    std::os::unix::fs::symlink("secret", files.join("link")).unwrap();
    world.say("Read it").await;
    world.say("Write it").await;
    for number in [4, 6] {
        let request = format!("{:?}", world.sent(number).messages);
        assert!(!request.contains("the key"), "{request}");
    }
    assert!(!files.join("secret/new").exists());
    let refused = world.events().await.into_iter().filter_map(|event| match event.turn_event() {
        Some(TurnEvent::ToolEnded { outcome, .. }) => Some(outcome.text.contains("is denied")),
        _ => None,
    });
    assert_eq!(refused.collect::<Vec<_>>(), [false, true, true]);
}

/// A permission is for the file that the call led to when the person was asked.
#[cfg(unix)]
#[tokio::test]
async fn a_permission_does_not_follow_a_link_that_leads_elsewhere_since() {
    let rules = Arc::new(Rules::default());
    let ask = PermissionRule { target: Some("link/**".to_owned()), ..rule("write_file", Permission::Ask) };
    rules.0.lock().unwrap().push(ask);
    let write = |path: &str| Reply::call("write_file", json!({ "path": path, "content": "mine" }));
    let script = [write("open.txt"), Reply::text("1"), write("link/new"), write("link/new"), Reply::text("Written.")];
    let world = World::with(ScriptedModel::new(script), |setup| {
        setup.options.permissions = Arc::clone(&rules) as Arc<dyn RuleSource>;
    })
    .await;
    world.say("Begin").await;
    let files = find(world.folder.path(), "open.txt");
    let lead = |to: &str| {
        let _ = std::fs::remove_file(files.join("link"));
        std::os::unix::fs::symlink(to, files.join("link")).unwrap();
    };
    let asked = |answer: &Answer| match answer.ask.as_ref().map(|waiting| &waiting.ask.subject) {
        Some(AskSubject::Permission(call)) => (call.paths.clone(), call.reason.clone()),
        Some(AskSubject::Questions { .. }) | None => panic!("no permission asked: {}", answer.reply),
    };
    let code = async || world.engine().sessions().get(&world.session).await.unwrap().waiting_ask().unwrap().code();
    for folder in ["one", "two"] {
        std::fs::create_dir(files.join(folder)).unwrap();
    }
    lead("one");
    let (paths, reason) = asked(&world.send("Write it").await);
    assert_eq!(paths, ["link/new", "one/new"]);
    assert!(reason.ends_with("It leads to `one/new`."), "{reason}");
    lead("two");
    let answered = world.send(&format!("/allow {}", code().await)).await;
    assert!(!files.join("two/new").exists() && !files.join("one/new").exists());
    assert_eq!(asked(&answered).0, ["link/new", "two/new"], "the call that the agent makes again is asked about");
    assert_eq!(world.send(&format!("/allow {}", code().await)).await.reply, "Written.");
    assert_eq!(std::fs::read_to_string(files.join("two/new")).unwrap(), "mine");
}

/// What may not be read is not found by a search over the folder around it either.
#[tokio::test]
async fn a_search_passes_by_what_a_rule_denies() {
    let rules = Arc::new(Rules::default());
    let about =
        |tool: &str, path: &str| PermissionRule { target: Some(path.to_owned()), ..rule(tool, Permission::Deny) };
    rules.0.lock().unwrap().extend([about("read_file", "secret/**"), about("glob_files", "*.pem")]);
    let write = |path: &str| Reply::call("write_file", json!({ "path": path, "content": "the key\n" }));
    let search = Reply::call("grep_files", json!({ "pattern": "key", "no_ignore": true, "hidden": true }));
    let names = Reply::call("glob_files", json!({ "pattern": "**" }));
    let script = [write("open.txt"), write("Secret/key"), write("a.pem"), search, names, Reply::text("Done.")];
    let world = World::with(ScriptedModel::new(script), |setup| {
        setup.options.permissions = Arc::clone(&rules) as Arc<dyn RuleSource>;
    })
    .await;
    world.say("Search").await;
    let results: Vec<_> = world
        .model
        .last_request()
        .messages
        .iter()
        .filter_map(|message| match message {
            ModelMessage::ToolResult { text, .. } => Some(text.clone()),
            ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
        })
        .collect();
    let named = |result: &str| ["open.txt", "Secret/key", "a.pem"].map(|path| result.contains(path));
    assert_eq!(named(&results[3]), [true, false, true], "{}", results[3]);
    assert_eq!(named(&results[4]), [true, true, false], "{}", results[4]);
}

/// The folder that holds a file with this name.
fn find(folder: &Path, name: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false if entry.file_name() == name => return folder,
                false => {}
            }
        }
    }
    panic!("no {name}")
}

fn write(path: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": "mine" }))
}

async fn counts(world: &World) -> Vec<PermissionCounts> {
    let plan = world.plan(1).await;
    let execution = plan.execution.expect("it was carried out");
    let all: Vec<_> = execution.steps.iter().map(|run| run.permissions).collect();
    let sum = all.iter().fold(PermissionCounts::default(), |sum, counts| sum + *counts);
    assert_eq!(execution.permissions(), sum);
    all
}

const fn counted(covered: u32, asked: u32, refused: u32) -> PermissionCounts {
    PermissionCounts { covered, asked, refused }
}

#[tokio::test]
async fn what_the_plan_covered_what_was_asked_and_what_was_refused_is_counted_by_step() {
    let script = [
        set("- [ ] write\n- [ ] send"),
        Reply::text("Ready."),
        // Covered: changes below the project while the plan is carried out. Reading is not counted.
        write("a.txt").and_call("read_file", json!({ "path": "a.txt" })),
        report(1),
        Reply::call("plan_progress", json!({ "step": 2, "status": "in_progress" })),
        send("ada"),
        send("bob"),
        // A rule denies this one.
        write("secret/key"),
        report(2),
        Reply::text("Done."),
        // The execution is over.
        send("ada"),
    ];
    let post = post(script).await;
    let deny = PermissionRule { target: Some("secret/**".to_owned()), ..rule("*", Permission::Deny) };
    post.rules.0.lock().unwrap().push(deny);
    let project = tempfile::tempdir().unwrap();
    post.world.send(&format!("/project {}", project.path().display())).await;
    post.world.send("/plan on").await;
    post.world.say("Plan the letters").await;
    post.world.send("/plan approve").await;
    post.world.send(&format!("/allow {}", post.code().await)).await;
    let ended = post.world.send("/deny not Bob").await;
    assert_eq!(post.world.plan(1).await.status, PlanStatus::Completed, "{}", ended.reply);
    assert_eq!(counts(&post.world).await, [counted(1, 0, 0), counted(0, 2, 2)]);
    post.world.send("And to Ada again").await;
    assert_eq!(counts(&post.world).await[1], counted(0, 2, 2), "what is outside of the plan is not counted");
    let events = post.world.event_names().await;
    let at = |name: &str| events.iter().position(|event| *event == name).unwrap();
    assert_eq!(events[at("permission_asked") + 1], "permissions_counted", "in the entry of the ask");
    post.world.is_sound().await;
}

#[tokio::test]
async fn a_document_that_says_what_it_needs_covers_nothing_else() {
    let script = [
        set("- [ ] write\n\n```planwright-needs\nfiles = [\"a.txt\"]\n```\n"),
        Reply::text("Ready."),
        write("a.txt"),
        write("b.txt"),
        report(1),
        Reply::text("Done."),
    ];
    let post = post(script).await;
    let project = tempfile::tempdir().unwrap();
    post.world.send(&format!("/project {}", project.path().display())).await;
    post.world.send("/plan on").await;
    post.world.say("Plan the letters").await;
    post.world.send("/plan approve").await;
    let ended = post.world.send("/deny not that one").await;
    assert_eq!(post.world.plan(1).await.status, PlanStatus::Completed, "{}", ended.reply);
    assert_eq!(counts(&post.world).await, [counted(1, 1, 1)]);
    assert!(project.path().join("a.txt").exists() && !project.path().join("b.txt").exists());
    post.world.is_sound().await;
}

#[tokio::test]
async fn the_calls_of_a_recorded_plan_are_counted_with_their_steps() {
    let script = [send("ada").and_call(SEND, json!({ "to": "bob" })), Reply::call("plan_finalize", json!({}))];
    let post = post(script).await;
    post.world.send("/plan on collect").await;
    post.world.say("Plan the letters").await;
    post.world.send("/plan approve").await;
    assert_eq!(counts(&post.world).await, [counted(1, 0, 0); 2]);
    assert!(!post.world.event_names().await.contains(&"permissions_counted"), "the outcome of the step says it");
    post.world.is_sound().await;
}

#[tokio::test]
async fn an_execution_that_begins_again_counts_anew() {
    let script = [send("ada").and_call("read_file", json!({ "path": "no" })), Reply::call("plan_finalize", json!({}))];
    let post = post(script).await;
    post.world.send("/plan on collect").await;
    post.world.say("Plan the letters").await;
    post.world.send("/plan approve").await;
    assert_eq!(counts(&post.world).await[0], counted(1, 0, 0));
    post.world.send("/plan resume").await;
    assert_eq!(counts(&post.world).await[0], counted(0, 0, 0), "it was done in the execution before");
    post.world.is_sound().await;
}

/// Whichever turn asks, the plan that is worked on is not called paused: resuming it would fail.
#[tokio::test]
async fn a_plan_that_a_message_continues_waits_for_what_the_turn_asks() {
    let script = [
        set("- [ ] write to Ada"),
        Reply::text("Ready."),
        Reply::text("I stop here."),
        Reply::text("I stop here again."),
        send("ada"),
    ];
    let post = post(script).await;
    post.world.send("/plan on").await;
    post.world.say("Plan the letter").await;
    post.world.send("/plan approve").await;
    let (session, plan) = (&post.world.session, post.world.plan(1).await);
    assert!(plan.is_paused(), "{:?}", plan.execution);
    assert!(post.world.send("Go on").await.ask.is_some());
    let plan = post.world.plan(1).await;
    let activity = post.world.engine().plans().activity(session, &plan).await.unwrap();
    assert!(matches!(activity, Some(Activity::Asking(_))), "{activity:?}");
    for command in ["/plan status", "/status"] {
        let status = post.world.send(command).await.reply;
        assert!(
            status.contains("The agent asks for permission") && !status.contains("no process works on it"),
            "{command}: {status}"
        );
    }
    // The inbox has what the agent asks, and no pause beside it.
    let inbox = post.world.engine().inbox();
    assert_eq!(inbox.asks().await.unwrap().0.len(), 1);
    assert_eq!(inbox.list(None, 10).await.unwrap().items, []);
    post.world.send("/stop").await;
    let paused = inbox.list(None, 10).await.unwrap().items;
    assert!(matches!(paused.as_slice(), [Waiting { wants: WaitingFor::Paused, .. }]), "{paused:?}");
}

/// The turn before left the plan open, and the next one asks for permission.
#[tokio::test]
async fn a_turn_that_reminds_the_agent_and_asks_for_permission_is_not_called_paused() {
    let script = [set("- [ ] write to Ada"), Reply::text("Ready."), Reply::text("I stop here."), send("ada")];
    let post = post(script).await;
    post.world.send("/plan on").await;
    post.world.say("Plan the letter").await;
    let asks = post.world.send("/plan approve").await;
    assert!(asks.ask.is_some(), "{}", asks.reply);
    assert!(!asks.reply.contains("no process works on it"), "{}", asks.reply);
    assert!(post.world.plan(1).await.is_paused(), "no step has moved since the first turn");
    assert_eq!(post.world.engine().inbox().list(None, 10).await.unwrap().items, []);
    let denied = [Reply::text("Then I stop."), Reply::text("I stop.")];
    denied.into_iter().for_each(|reply| post.world.model.then(reply));
    post.world.send("/deny not now").await;
    let paused = post.world.engine().inbox().list(None, 10).await.unwrap().items;
    assert_eq!(paused.len(), 1, "the turn is over: {paused:?}");
}
