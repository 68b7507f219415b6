//! The gate: what is advertised is what may be called, and what becomes of the tools of others.

use planwright_core::gate::{
    ASK_AGENT, AutoTool, Caller, GateContext, GateDecision, OwnToolKind, PlanTool, ToolEffect, WorkbookTool,
    advertised_auto_tools, advertised_plan_tools, advertised_workbook_tools, authorize_asking, authorize_auto_tool,
    authorize_plan_tool, authorize_recording, authorize_workbook_tool, check_building, decide_other_tool,
    records_own_tool,
};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::policy::{DocumentTools, Policy};
use planwright_core::refusal::RefusalCode;

use crate::world::*;

fn situation(style: Option<PlanStyle>, status: Option<PlanStatus>, caller: Caller) -> GateContext {
    GateContext {
        style,
        status,
        caller,
        document_tools: DocumentTools::All,
        workbook: false,
        has_goals: false,
        has_rounds: false,
    }
}

#[test]
fn each_style_has_its_tools() {
    let build = "plan_get plan_create_draft plan_set_metadata plan_add_step plan_update_step plan_remove_step plan_submit plan_list";
    for (style, status, expected) in [
        (None, None, ""),
        (Some(PlanStyle::Document), Some(PlanStatus::Collecting), "plan_get plan_set_content"),
        (Some(PlanStyle::Document), Some(PlanStatus::Ready), "plan_get plan_set_content"),
        (Some(PlanStyle::Document), Some(PlanStatus::Approved), "plan_get plan_set_content plan_progress"),
        (Some(PlanStyle::Document), Some(PlanStatus::Executing), "plan_get plan_set_content plan_progress"),
        (Some(PlanStyle::Document), Some(PlanStatus::PartiallyCompleted), "plan_get plan_set_content"),
        (Some(PlanStyle::Document), None, "plan_get plan_set_content"),
        (Some(PlanStyle::Collect), Some(PlanStatus::Collecting), "plan_get plan_finalize"),
        (Some(PlanStyle::Collect), Some(PlanStatus::Executing), "plan_get plan_finalize"),
        (Some(PlanStyle::Build), Some(PlanStatus::Collecting), build),
        (Some(PlanStyle::Build), Some(PlanStatus::Ready), build),
    ] {
        let situation = situation(style, status, Caller::Conversation);
        let found: Vec<_> = advertised_plan_tools(&situation).map(PlanTool::name).collect();
        assert_eq!(found.join(" "), expected, "{style:?} {status:?}");
    }
}

/// Its program may read the list once, so it is the same for every status.
#[test]
fn an_external_agent_has_the_tools_of_its_style_whatever_the_status_is() {
    for (style, expected) in [
        (PlanStyle::Document, "plan_get plan_set_content plan_progress plan_await_decision"),
        (PlanStyle::Collect, "plan_get plan_progress plan_add_call plan_finalize plan_await_decision"),
        (
            PlanStyle::Build,
            "plan_get plan_progress plan_await_decision plan_create_draft plan_set_metadata plan_add_step plan_update_step \
             plan_remove_step plan_submit plan_list",
        ),
    ] {
        for status in PlanStatus::ALL.into_iter().map(Some).chain([None]) {
            let situation = situation(Some(style), status, Caller::ExternalAgent);
            let found: Vec<_> = advertised_plan_tools(&situation).map(PlanTool::name).collect();
            assert_eq!(found.join(" "), expected, "{style} {status:?}");
        }
    }
    let off = situation(None, None, Caller::ExternalAgent);
    assert_eq!(advertised_plan_tools(&off).count(), 0);
}

#[test]
fn an_external_agent_whose_calls_are_recorded_in_rounds_closes_them() {
    for situation in situations().filter(|situation| !situation.has_rounds) {
        let with_rounds = GateContext { has_rounds: true, ..situation };
        let closes = |situation: &GateContext| authorize_plan_tool(situation, PlanTool::Finalize).is_ok();
        let is_external = situation.caller == Caller::ExternalAgent && situation.style.is_some();
        assert_eq!(closes(&with_rounds), closes(&situation) || is_external, "{situation:?}");
        let others = PlanTool::all().filter(|tool| *tool != PlanTool::Finalize);
        for tool in others {
            let of = |situation: &GateContext| authorize_plan_tool(situation, tool).is_ok();
            assert_eq!(of(&with_rounds), of(&situation), "{tool:?} in {situation:?}");
        }
    }
}

/// Every situation there is.
fn situations() -> impl Iterator<Item = GateContext> {
    let with_rounds = |situation| GateContext { has_rounds: true, ..situation };
    without_rounds().chain(without_rounds().map(with_rounds))
}

fn without_rounds() -> impl Iterator<Item = GateContext> {
    let styles = [None, Some(PlanStyle::Document), Some(PlanStyle::Collect), Some(PlanStyle::Build)];
    let callers = [Caller::Conversation, Caller::ExternalAgent, Caller::Specialist, Caller::Execution];
    styles.into_iter().flat_map(move |style| {
        let statuses = PlanStatus::ALL.into_iter().map(Some).chain([None]);
        statuses.flat_map(move |status| callers.into_iter().map(move |caller| situation(style, status, caller)))
    })
}

#[test]
fn what_is_advertised_is_exactly_what_may_be_called() {
    for situation in situations() {
        let advertised: Vec<_> = advertised_plan_tools(&situation).collect();
        for tool in PlanTool::all() {
            let authorized = authorize_plan_tool(&situation, tool);
            assert_eq!(authorized.is_ok(), advertised.contains(&tool), "{tool:?} in {situation:?}");
            let codes = [RefusalCode::PolicyDenied, RefusalCode::WrongStatus];
            assert!(authorized.is_ok() || codes.contains(&authorized.unwrap_err().code));
        }
    }
}

#[test]
fn apart_from_the_conversation_only_a_step_that_is_carried_out_is_reported_on() {
    let apart = |situation: &GateContext| matches!(situation.caller, Caller::Specialist | Caller::Execution);
    for situation in situations().filter(apart) {
        let reports = situation.caller == Caller::Execution
            && situation.style == Some(PlanStyle::Build)
            && situation.status == Some(PlanStatus::Executing);
        let expected = if reports { vec![PlanTool::Progress] } else { Vec::new() };
        assert_eq!(advertised_plan_tools(&situation).collect::<Vec<_>>(), expected, "{situation:?}");
    }
}

#[test]
fn only_the_planner_of_a_built_plan_asks_specialists() {
    for situation in situations() {
        let builds = situation.caller == Caller::Conversation && situation.style == Some(PlanStyle::Build);
        let asked = authorize_asking(&situation);
        assert_eq!(asked.is_ok(), builds, "{situation:?}");
        assert!(builds || asked.unwrap_err().code == RefusalCode::PolicyDenied);
    }
    let collecting = situation(Some(PlanStyle::Collect), Some(PlanStatus::Collecting), Caller::Conversation);
    assert_eq!(authorize_recording(&collecting, ASK_AGENT).unwrap_err().code, RefusalCode::PolicyDenied);
}

#[test]
fn tools_are_found_by_their_names() {
    assert_eq!(PlanTool::all().count(), 13);
    for tool in PlanTool::all() {
        assert_eq!(PlanTool::named(tool.name()), Some(tool));
    }
    for name in ["", "plan", "Plan_get", "plan_get ", "plan_approve"] {
        assert_eq!(PlanTool::named(name), None, "{name:?}");
    }
}

#[test]
fn the_tools_of_others_run_are_recorded_or_denied() {
    use Caller::{Conversation, Execution, ExternalAgent, Specialist};
    use ToolEffect::{Changes, ReadsOnly, Repeatable};
    let (document, collect, build) = (Some(PlanStyle::Document), Some(PlanStyle::Collect), Some(PlanStyle::Build));
    for (caller, style, reads, repeats, changes) in [
        (Conversation, None, "run", "run", "run"),
        (Conversation, document, "run", "run", "run"),
        (Conversation, collect, "record", "record", "record"),
        (Conversation, build, "run", "deny", "deny"),
        (ExternalAgent, None, "run", "run", "run"),
        (ExternalAgent, document, "run", "run", "run"),
        (ExternalAgent, collect, "record", "record", "record"),
        (ExternalAgent, build, "run", "run", "run"),
        (Specialist, None, "run", "deny", "deny"),
        (Specialist, document, "run", "deny", "deny"),
        (Specialist, collect, "run", "deny", "deny"),
        (Specialist, build, "run", "deny", "deny"),
        (Execution, None, "run", "run", "run"),
        (Execution, document, "run", "run", "run"),
        (Execution, collect, "run", "run", "run"),
        (Execution, build, "run", "run", "run"),
    ] {
        for (effect, expected) in [(ReadsOnly, reads), (Repeatable, repeats), (Changes, changes)] {
            for status in PlanStatus::ALL {
                let verdict = decide_other_tool(&situation(style, Some(status), caller), "send", effect);
                assert_eq!(word(&verdict), expected, "{caller:?} {style:?} {effect:?} {status}");
            }
        }
    }
}

fn word(verdict: &GateDecision) -> &'static str {
    match verdict {
        GateDecision::Run => "run",
        GateDecision::Record => "record",
        GateDecision::Deny(refusal) => {
            assert_eq!(refusal.code, RefusalCode::PolicyDenied);
            assert!(refusal.message.contains("`send`"), "{refusal}");
            "deny"
        }
    }
}

#[test]
fn the_setting_read_only_holds_until_a_document_is_approved() {
    for status in PlanStatus::ALL {
        let drafting = matches!(status, PlanStatus::Collecting | PlanStatus::Ready);
        let situation = GateContext {
            document_tools: DocumentTools::ReadOnly,
            ..situation(Some(PlanStyle::Document), Some(status), Caller::Conversation)
        };
        let changing = decide_other_tool(&situation, "send", ToolEffect::Changes);
        assert_eq!(word(&changing), if drafting { "deny" } else { "run" }, "{status}");
        assert_eq!(decide_other_tool(&situation, "send", ToolEffect::ReadsOnly), GateDecision::Run);
    }
}

#[test]
fn calls_are_recorded_only_while_a_plan_is_collected() {
    for (style, taken) in [
        (None, false),
        (Some(PlanStyle::Document), false),
        (Some(PlanStyle::Collect), true),
        (Some(PlanStyle::Build), false),
    ] {
        let situation = situation(style, Some(PlanStatus::Collecting), Caller::Conversation);
        assert_eq!(authorize_recording(&situation, "send").is_ok(), taken, "{style:?}");
    }
}

#[test]
fn the_situation_is_read_from_the_session() {
    let policy = Policy { document_tools: DocumentTools::ReadOnly, ..Policy::default() };
    let of = |world: &World| {
        let situation = GateContext::of(&world.snapshot, &policy, Caller::Conversation);
        assert_eq!(situation.document_tools, DocumentTools::ReadOnly);
        (situation.style, situation.status)
    };
    let mut world = World::unopened(SESSION);
    assert_eq!(of(&world), (None, None));
    world.person(open()).unwrap();
    assert_eq!(of(&world), (None, None));
    world.person(on(PlanStyle::Document)).unwrap();
    assert_eq!(of(&world), (Some(PlanStyle::Document), Some(PlanStatus::Collecting)));
    world.agent(set("x")).unwrap();
    world.approve(Selection::All).unwrap();
    assert_eq!(of(&world), (Some(PlanStyle::Document), Some(PlanStatus::Approved)));
    world.person(off()).unwrap();
    assert_eq!(of(&world), (None, None));
}

#[test]
fn workbook_tools_are_there_for_each_as_far_as_they_may_go() {
    let all = "init_plan read_plan write_plan update_plan clear_plan list_plans export_plan";
    for off in situations() {
        let on = GateContext { workbook: true, ..off };
        let expected = match on.caller {
            Caller::Conversation if drafts_a_build(&on) => all.trim_end_matches(" export_plan"),
            Caller::Conversation | Caller::ExternalAgent => all,
            Caller::Specialist => "read_plan list_plans",
            Caller::Execution => "read_plan write_plan update_plan list_plans",
        };
        let names = |situation: &GateContext| {
            advertised_workbook_tools(situation).map(WorkbookTool::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((names(&on).as_str(), names(&off).as_str()), (expected, ""), "{on:?}");
        for tool in WorkbookTool::all() {
            let authorized = authorize_workbook_tool(&on, tool);
            assert_eq!(authorized.is_ok(), names(&on).split(' ').any(|name| name == tool.name()), "{tool:?} in {on:?}");
            assert_eq!(authorize_workbook_tool(&off, tool).unwrap_err().code, RefusalCode::PolicyDenied);
            let is_step = tool == WorkbookTool::Export && on.style == Some(PlanStyle::Collect);
            assert_eq!(authorize_recording(&on, tool.name()).is_ok(), is_step, "{tool:?} in {on:?}");
        }
    }
}

/// Whether nothing but notes may be written, because a plan is built and not approved.
fn drafts_a_build(situation: &GateContext) -> bool {
    use PlanStatus::{Approved, Completed, Executing, PartiallyCompleted};
    let approved = [Approved, Executing, PartiallyCompleted, Completed];
    situation.style == Some(PlanStyle::Build) && !situation.status.is_some_and(|status| approved.contains(&status))
}

/// Before a plan is approved nothing changes in collect and build: what changes something is recorded in the one and
/// refused in the other. The agent's own notes are free.
#[test]
fn own_tools_that_change_something_wait_for_the_approval() {
    let table = [
        ("memory_search", OwnToolKind::Reads),
        ("goal_list", OwnToolKind::Reads),
        ("task_list", OwnToolKind::Reads),
        ("read_plan", OwnToolKind::Reads),
        ("list_plans", OwnToolKind::Reads),
        ("diary_write", OwnToolKind::Notes),
        ("init_plan", OwnToolKind::Notes),
        ("write_plan", OwnToolKind::Notes),
        ("update_plan", OwnToolKind::Notes),
        ("clear_plan", OwnToolKind::Notes),
        ("memory_save", OwnToolKind::Changes),
        ("goal_add", OwnToolKind::Changes),
        ("goal_update", OwnToolKind::Changes),
        ("task_add", OwnToolKind::Changes),
        ("task_update", OwnToolKind::Changes),
        ("export_plan", OwnToolKind::Changes),
    ];
    for (name, kind) in table {
        assert_eq!(OwnToolKind::of(name), Some(kind), "{name}");
        let changes = kind == OwnToolKind::Changes;
        for status in PlanStatus::ALL.into_iter().map(Some).chain([None]) {
            for style in [None, Some(PlanStyle::Document), Some(PlanStyle::Collect), Some(PlanStyle::Build)] {
                let here = situation(style, status, Caller::Conversation);
                let collects = style == Some(PlanStyle::Collect);
                assert_eq!(records_own_tool(&here, name), changes && collects, "{name} {style:?} {status:?}");
                assert_eq!(
                    authorize_recording(&here, name).is_ok(),
                    changes && collects,
                    "{name} {style:?} {status:?}"
                );
                let refused = check_building(&here, name).is_err();
                assert_eq!(refused, changes && drafts_a_build(&here), "{name} {style:?} {status:?}");
            }
        }
    }
    assert_eq!(table.len(), 7 + 2 + AutoTool::ALL.len());
    assert_eq!(OwnToolKind::of("read_file"), None);
}

#[test]
fn goal_and_task_tools_are_offered_where_there_are_goals() {
    let adding = "goal_add task_add diary_write";
    let all = "goal_add goal_list goal_update task_add task_list task_update diary_write";
    for without in situations() {
        let with = GateContext { has_goals: true, ..without };
        let expected = match without.caller {
            Caller::Conversation if drafts_a_build(&without) => ("diary_write", "goal_list task_list diary_write"),
            Caller::Conversation => (adding, all),
            Caller::ExternalAgent => (all, all),
            Caller::Specialist | Caller::Execution => ("", ""),
        };
        let names = |situation: &GateContext| {
            advertised_auto_tools(situation).map(AutoTool::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((names(&without).as_str(), names(&with).as_str()), expected, "{without:?}");
        for tool in AutoTool::ALL {
            let advertised = names(&without).split(' ').any(|name| name == tool.name());
            assert_eq!(authorize_auto_tool(&without, tool).is_ok(), advertised, "{tool:?} in {without:?}");
        }
    }
}
