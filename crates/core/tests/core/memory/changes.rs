//! Who may change what is remembered, and what the session knows afterwards.

use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Approvers, Require};
use planwright_core::command::Command;
use planwright_core::event::{Event, MemoryEvent};
use planwright_core::ids::MemoryId;
use planwright_core::memory::{
    MemoryChange, MemoryCommand, MemoryItem, MemoryKind, MemoryOrigin, MemoryScope, MemorySource, MemoryTrust,
    NewMemory,
};
use planwright_core::presence::Act;
use planwright_core::refusal::RefusalCode;

use super::{goal_run, session, task_run};
use crate::approvers::approver;
use crate::signed_acts::signing;
use crate::world::{SESSION, World};

fn save(content: &str) -> Command {
    Command::Memory(MemoryCommand::Save(Box::new(NewMemory::by_person(content))))
}

fn command(command: MemoryCommand) -> Command {
    Command::Memory(command)
}

fn saved(world: &mut World, content: &str) -> MemoryItem {
    match world.person(save(content)).unwrap().as_slice() {
        [Event::Memory(MemoryEvent::Saved { item })] => (**item).clone(),
        other => panic!("{other:?}"),
    }
}

fn said_by(author: &str) -> Option<MemoryOrigin> {
    Some(MemoryOrigin { author: Some(author.to_owned()), ..MemoryOrigin::default() })
}

fn is_forgotten(world: &World, memory: &MemoryId) -> bool {
    world.snapshot.memories[memory].forgotten
}

#[test]
fn what_is_saved_says_who_wrote_it_and_when() {
    let mut world = World::new();
    let item = saved(&mut world, "  Ada likes tabs.  ");
    assert_eq!(item.content, "Ada likes tabs.");
    assert_eq!(item.scope, MemoryScope::of_session(&session(SESSION)));
    assert_eq!((item.author.name.as_str(), item.trust), ("ada", MemoryTrust::Person));
    let events = world.agent(save("The build takes long.")).unwrap();
    let Event::Memory(MemoryEvent::Saved { item }) = &events[0] else { panic!("{events:?}") };
    assert_eq!((item.author.name.as_str(), item.trust), ("coder", MemoryTrust::Agent));
}

#[test]
fn what_was_learnt_elsewhere_keeps_who_said_it_and_when() {
    let mut world = World::new();
    let item = saved(&mut world, "Grace (7 May 1969): The moon is near.");
    assert_eq!((item.said_by(), item.said_at().to_string().as_str()), ("Grace", "1969-05-07T00:00:00Z"));
    assert_eq!((item.author.name.as_str(), item.content.len()), ("ada", "Grace (7 May 1969): The moon is near.".len()));
    // Of a time that has not come yet nothing is read.
    let item = saved(&mut world, "Grace (7 May 2969): The moon is far.");
    assert_eq!((item.origin.as_ref(), item.said_by()), (None, "ada"));
    let stated = MemoryOrigin { context: Some("a letter".to_owned()), ..MemoryOrigin::default() };
    let new = NewMemory { origin: Some(stated.clone()), ..NewMemory::by_person("Grace (7 May 1969): It is.") };
    let events = world.agent(command(MemoryCommand::Save(Box::new(new)))).unwrap();
    let Event::Memory(MemoryEvent::Saved { item }) = &events[0] else { panic!("{events:?}") };
    assert_eq!((item.origin.as_ref(), item.trust), (Some(&stated), MemoryTrust::Agent), "what is stated counts alone");
}

#[test]
fn the_run_decides_the_scope() {
    for (run, kind, scope) in [
        (goal_run(SESSION, "g1", "t1"), MemoryKind::Result, "task:t1"),
        (goal_run(SESSION, "g1", "t1"), MemoryKind::Decision, "goal:cli:k3yk3y8x:g1"),
        (task_run(SESSION, "t1"), MemoryKind::Decision, "task:t1"),
        (task_run(SESSION, "t1"), MemoryKind::Preference, "session:cli:k3yk3y8x"),
    ] {
        let mut world = World::new();
        let new = NewMemory { kind, run: Some(run), ..NewMemory::by_person("Use the new parser.") };
        let events = world.agent(command(MemoryCommand::Save(Box::new(new)))).unwrap();
        let Event::Memory(MemoryEvent::Saved { item }) = &events[0] else { panic!("{events:?}") };
        assert_eq!(item.scope.to_string(), scope);
    }
}

#[test]
fn what_cannot_be_saved_is_refused() {
    let wrong = |change: fn(&mut NewMemory)| {
        let mut new = NewMemory::by_person("Something.");
        change(&mut new);
        World::new().person(command(MemoryCommand::Save(Box::new(new)))).unwrap_err().code
    };
    assert_eq!(wrong(|new| new.content = " \n".to_owned()), RefusalCode::InvalidArgument);
    assert_eq!(wrong(|new| new.content = "x".repeat(20_000)), RefusalCode::LimitExceeded);
    assert_eq!(wrong(|new| new.tags = vec!["a".to_owned(); 17]), RefusalCode::LimitExceeded);
    assert_eq!(wrong(|new| new.origin = said_by(&"x".repeat(65))), RefusalCode::LimitExceeded);
    assert_eq!(wrong(|new| new.origin = said_by("a\nb")), RefusalCode::InvalidArgument);
    let later = |new: &mut NewMemory| {
        let at = Some("2969-05-07T00:00:00Z".parse().unwrap());
        new.origin = Some(MemoryOrigin { at, ..MemoryOrigin::default() });
    };
    assert_eq!(wrong(later), RefusalCode::InvalidArgument);
    assert_eq!(wrong(|new| new.tags = vec!["a\nb".to_owned()]), RefusalCode::InvalidArgument);
    assert_eq!(wrong(|new| new.scope = Some(MemoryScope::Global)), RefusalCode::PolicyDenied);
    assert_eq!(wrong(|new| new.scope = Some("session:web:another1".parse().unwrap())), RefusalCode::NotFound);
    assert_eq!(wrong(|new| new.run = Some(task_run("web:another1", "t1"))), RefusalCode::NotFound);
    assert_eq!(
        wrong(|new| new.expires_at = Some("1960-01-01T00:00:00Z".parse().unwrap())),
        RefusalCode::InvalidArgument
    );
    let forged = |new: &mut NewMemory| {
        let (memory, promoted_by) = (MemoryId::new("m1").unwrap(), Actor::person("ada", "cli"));
        new.source = MemorySource::Promotion { memory, session: "web:another1".parse().unwrap(), promoted_by };
    };
    assert_eq!(wrong(forged), RefusalCode::PolicyDenied);
}

#[test]
fn only_a_person_promotes_forgets_and_takes_back() {
    let mut world = World::new();
    let memory = saved(&mut world, "Ada likes tabs.").id;
    let actors = [Actor::agent("coder", "mcp"), Actor::system("test"), Actor::policy("memory.rule", "cli")];
    for by in actors {
        for denied in [
            MemoryCommand::Promote { memory: memory.clone() },
            MemoryCommand::Forget { memory: memory.clone() },
            MemoryCommand::Undo,
        ] {
            let refusal = world.send(by.clone(), command(denied)).unwrap_err();
            assert_eq!(refusal.code, RefusalCode::PolicyDenied);
        }
    }
    assert!(!is_forgotten(&world, &memory));
}

#[test]
fn a_promotion_is_refused_to_whom_the_policy_does_not_recognise() {
    let mut world = World::new();
    let item = saved(&mut world, "Ada likes tabs.");
    let memory = item.id.clone();
    world.policy.approval = ApprovalPolicy::requiring(Require::Separate);
    let promote = || command(MemoryCommand::Promote { memory: memory.clone() });
    // The surface does not say how it recognised the person.
    let refusal = world.send(Actor::person("ada", "cli"), promote()).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::PolicyDenied);
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    let shown = MemoryItem { content: "Ada likes spaces.".to_owned(), ..item.clone() };
    let ada = signing(&world, "ada", 1, Act::promote(&shown));
    assert_eq!(world.send(ada, promote()).unwrap_err().code, RefusalCode::StaleApproval, "another text was signed");
    let ada = signing(&world, "ada", 1, Act::promote(&item));
    world.send(ada, promote()).unwrap();
}

#[test]
fn a_promotion_makes_a_copy_that_knows_where_it_comes_from() {
    let mut world = World::new();
    let item = saved(&mut world, "Ada likes tabs.");
    let events = world.person(command(MemoryCommand::Promote { memory: item.id.clone() })).unwrap();
    let Event::Memory(MemoryEvent::Promoted { memory, copy }) = &events[0] else { panic!("{events:?}") };
    assert_eq!((memory, &copy.scope), (&item.id, &MemoryScope::Global));
    assert_eq!((&copy.content, &copy.author, copy.at), (&item.content, &item.author, item.at));
    let promoted_by = Actor::person("ada", "cli");
    let expected = MemorySource::Promotion { memory: item.id.clone(), session: session(SESSION), promoted_by };
    assert_eq!(copy.source, expected);
    let again = world.person(command(MemoryCommand::Promote { memory: copy.id.clone() })).unwrap_err();
    assert_eq!(again.code, RefusalCode::WrongStatus);
}

#[test]
fn every_change_can_be_taken_back() {
    let mut world = World::new();
    let item = saved(&mut world, "Ada likes tabs.");
    world.person(command(MemoryCommand::Promote { memory: item.id.clone() })).unwrap();
    let copy = world.snapshot.session.as_ref().unwrap().memory_changes.last().unwrap().memory().clone();
    world.person(command(MemoryCommand::Forget { memory: item.id.clone() })).unwrap();
    assert!(is_forgotten(&world, &item.id) && !is_forgotten(&world, &copy));

    world.person(command(MemoryCommand::Undo)).unwrap();
    assert!(!is_forgotten(&world, &item.id));
    world.person(command(MemoryCommand::Undo)).unwrap();
    assert!(is_forgotten(&world, &copy) && !is_forgotten(&world, &item.id));
    world.person(command(MemoryCommand::Undo)).unwrap();
    assert!(is_forgotten(&world, &item.id));
    let refusal = world.person(command(MemoryCommand::Undo)).unwrap_err();
    assert_eq!(refusal.message, "There is no change of the memory to take back.");
}

#[test]
fn the_last_sixteen_changes_are_known() {
    let mut world = World::new();
    let first = saved(&mut world, "number 0").id;
    for number in 1..=16 {
        saved(&mut world, &format!("number {number}"));
    }
    let changes = &world.snapshot.session.as_ref().unwrap().memory_changes;
    assert_eq!(changes.len(), 16);
    assert!(!changes.contains(&MemoryChange::Saved { memory: first }));
}

#[test]
fn what_is_not_here_cannot_be_changed() {
    let mut world = World::new();
    let missing = MemoryId::new("of-another-session").unwrap();
    for refused in [MemoryCommand::Forget { memory: missing.clone() }, MemoryCommand::Promote { memory: missing }] {
        assert_eq!(world.person(command(refused)).unwrap_err().code, RefusalCode::NotFound);
    }
    let memory = saved(&mut world, "Ada likes tabs.").id;
    world.person(command(MemoryCommand::Forget { memory: memory.clone() })).unwrap();
    let again = world.person(command(MemoryCommand::Forget { memory })).unwrap_err();
    assert_eq!(again.code, RefusalCode::NotFound);
}
