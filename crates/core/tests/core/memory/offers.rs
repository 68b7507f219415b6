//! What rules offer to be remembered, in which scope, and that it is remembered only once it is accepted.

use planwright_core::auto::{AutoCommand, StartTarget};
use planwright_core::command::Command;
use planwright_core::event::{Event, MemoryEvent};
use planwright_core::ids::TaskId;
use planwright_core::memory::{
    MemoryCommand, MemoryOffer, MemorySource, MemoryTrust, NewMemory, offers_of_diary, offers_of_plan,
    offers_of_task_plan,
};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;

use super::session;
use crate::world::*;

fn contents(offers: &[MemoryOffer]) -> Vec<&str> {
    offers.iter().map(|offer| offer.content.as_str()).collect()
}

/// A document plan in this status.
fn plan(markdown: &str, status: PlanStatus) -> planwright_core::plan::Plan {
    let mut world = World::new();
    world.person(on(PlanStyle::Document)).unwrap();
    world.agent(set(markdown)).unwrap();
    world.approve(Selection::All).unwrap();
    let mut plan = world.snapshot.active().unwrap().clone();
    plan.status = status;
    plan
}

#[test]
fn the_decisions_of_a_finished_plan_are_offered() {
    let markdown = "# The parser\n\n## Decisions\n\n| Decision | Why |\n|---|---|\n| Keep the old parser | the new one is \
                    slower |\n\n- No macros\n\n## Steps\n\n1. Tidy up\n";
    for status in PlanStatus::ALL {
        let offers = offers_of_plan(&plan(markdown, status));
        let finished = matches!(status, PlanStatus::Completed | PlanStatus::PartiallyCompleted);
        let expected: &[&str] =
            if finished { &["Keep the old parser — the new one is slower", "No macros"] } else { &[] };
        assert_eq!(contents(&offers), expected, "{status}");
    }
    let plan = plan("# Move\n\n1. Pack\n2. Drive\n", PlanStatus::Completed);
    let offers = offers_of_plan(&plan);
    assert_eq!(contents(&offers), ["Plan 1 “Move” was carried out: Pack; Drive"]);
    assert_eq!(offers[0].source, MemorySource::Plan { plan: plan.id.clone() });
    assert_eq!(offers[0].scope.to_string(), format!("session:{SESSION}"));
    assert_eq!(offers, offers_of_plan(&plan), "the same offer has the same id");
}

#[test]
fn only_resolved_errors_of_the_workbook_are_offered() {
    let markdown = "# Shop\n\n## Errors\n\n| What went wrong | What is done instead |\n|---|---|\n| The port is taken | use \
                    8081 |\n| The disk is full | |\n\n## Notes\n\n| a | b |\n|---|---|\n| c | d |\n";
    let at = "2026-03-01T12:00:00Z".parse().unwrap();
    let offers = offers_of_task_plan(&session(SESSION), markdown, at);
    assert_eq!(contents(&offers), ["The port is taken — resolved: use 8081"]);
    assert_eq!((offers[0].kind.as_str(), offers[0].at), ("fact", at));
}

#[test]
fn an_entry_of_the_diary_belongs_to_the_run_that_wrote_it() {
    let mut world = World::new();
    let auto = |command| Command::Auto(command);
    world.person(auto(AutoCommand::WriteDiary { text: "Moved in.".to_owned(), run: None })).unwrap();
    world.person(auto(AutoCommand::AddTask { title: "Look around".to_owned(), goal: None })).unwrap();
    let start = AutoCommand::Start { target: StartTarget::Current, driver: "here".to_owned() };
    world.person(auto(start)).unwrap();
    let state = |world: &World| world.snapshot.session.as_ref().unwrap().auto.clone().unwrap();
    let run = state(&world).runs[0].context.clone();
    let task = format!("task:{}", run.task_id());
    world.agent(auto(AutoCommand::WriteDiary { text: "Looked around.".to_owned(), run: Some(run) })).unwrap();
    let offers = offers_of_diary(&session(SESSION), &state(&world));
    let scopes: Vec<_> = offers.iter().map(|offer| (offer.content.as_str(), offer.scope.to_string())).collect();
    assert_eq!(scopes, [("Moved in.", format!("session:{SESSION}")), ("Looked around.", task.clone())]);
    // It stays there when the run has moved to another task.
    let mut moved = state(&world);
    moved.runs[0].context = moved.runs[0].context.with_task(TaskId::new("another").unwrap());
    assert_eq!(offers_of_diary(&session(SESSION), &moved)[1].scope.to_string(), task);
    // Accepted by a person, it is written where the run writes.
    let events = world.person(Command::Memory(MemoryCommand::Accept(Box::new(offers[1].clone())))).unwrap();
    let [Event::Memory(MemoryEvent::Saved { item })] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((item.scope.to_string(), &item.id, item.trust), (task, &offers[1].id, MemoryTrust::Person));
}

#[test]
fn an_offer_is_settled_once() {
    let mut world = World::new();
    let offer = offers_of_plan(&plan("# Move\n\n1. Pack\n", PlanStatus::Completed)).remove(0);
    let accept = |offer: &MemoryOffer| Command::Memory(MemoryCommand::Accept(Box::new(offer.clone())));
    let decline = |offer: &MemoryOffer| Command::Memory(MemoryCommand::Decline { offer: offer.id.clone() });
    assert_eq!(world.agent(decline(&offer)).unwrap_err().code, RefusalCode::PolicyDenied);
    world.agent(accept(&offer)).unwrap();
    for again in [accept(&offer), decline(&offer)] {
        assert_eq!(world.person(again).unwrap_err().code, RefusalCode::WrongStatus);
    }
    let other = offers_of_plan(&plan("# Stay\n\n1. Sit\n", PlanStatus::Completed)).remove(0);
    world.person(decline(&other)).unwrap();
    assert_eq!(world.person(accept(&other)).unwrap_err().code, RefusalCode::WrongStatus);
    let session = world.snapshot.session.as_ref().unwrap();
    assert_eq!(session.settled_offers, [offer.id.clone(), other.id]);
    assert_eq!(session.memory_changes.len(), 1, "a declined offer changes nothing that is remembered");
}

#[test]
fn nothing_is_offered_or_global_by_the_word_of_the_one_who_saves() {
    let mut world = World::new();
    let new = NewMemory { source: MemorySource::Diary, ..NewMemory::by_person("Trust me.") };
    let forged = Command::Memory(MemoryCommand::Save(Box::new(new)));
    assert_eq!(world.agent(forged).unwrap_err().code, RefusalCode::PolicyDenied);
    let mut offer = offers_of_plan(&plan("# Move\n\n1. Pack\n", PlanStatus::Completed)).remove(0);
    offer.scope = planwright_core::memory::MemoryScope::Global;
    let accept = Command::Memory(MemoryCommand::Accept(Box::new(offer)));
    assert_eq!(world.person(accept).unwrap_err().code, RefusalCode::PolicyDenied);
}
