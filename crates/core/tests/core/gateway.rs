//! What becomes of calls to upstream tools that an external agent makes.

use planwright_core::command::{CallRunner, Command, ExternalCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::{
    GatewayCall, GatewayDecision, GatewayOptions, GatewayReads, GatewayWork, GatewayWrites, decide_gateway,
};
use planwright_core::permission::{Permission, PermissionOutcome, PermissionReason, PermissionRule};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use serde_json::{Value, json};

use crate::world::*;

fn by_default() -> PermissionOutcome {
    PermissionOutcome { permission: Permission::Ask, reason: PermissionReason::NotCovered }
}

fn by_rule(permission: Permission) -> PermissionOutcome {
    let rule: PermissionRule =
        serde_json::from_value(json!({ "tool": "up__*", "decide": permission })).expect("a rule");
    PermissionOutcome { permission, reason: PermissionReason::Rule { index: 0, rule } }
}

fn decide(
    options: GatewayOptions,
    work: GatewayWork<'_>,
    effect: ToolEffect,
    (tool, arguments): (&str, Value),
    permission: &PermissionOutcome,
) -> &'static str {
    let call = GatewayCall { tool, arguments: &arguments, effect, permission };
    match decide_gateway(options, work, &call) {
        GatewayDecision::Run(_) => "run",
        GatewayDecision::Record => "record",
        GatewayDecision::Recorded { .. } => "recorded",
        GatewayDecision::Ask => "ask",
        GatewayDecision::Deny(_) => "deny",
    }
}

const fn writing(writes: GatewayWrites) -> GatewayOptions {
    GatewayOptions { writes, reads: GatewayReads::Recorded, result_bytes: GatewayOptions::RESULT_BYTES }
}

#[test]
fn outside_of_style_collect_the_setting_and_the_rules_decide_about_changes() {
    use GatewayWrites::{Ask, DuringPlan, Free, Recorded};
    let ready = World::ready_document("- [ ] one");
    let mut approved = World::ready_document("- [ ] one");
    approved.approve(Selection::All).unwrap();
    for (writes, plan, changes, without_plan_work, asked) in [
        (Recorded, Some(ready.active()), "record", "deny", "record"),
        (Recorded, Some(approved.active()), "record", "deny", "record"),
        (DuringPlan, Some(ready.active()), "deny", "deny", "ask"),
        (DuringPlan, Some(approved.active()), "run", "deny", "ask"),
        (DuringPlan, None, "deny", "deny", "ask"),
        (Ask, Some(approved.active()), "ask", "ask", "ask"),
        (Ask, None, "ask", "ask", "ask"),
        (Free, Some(ready.active()), "run", "run", "ask"),
    ] {
        for style in [Some(PlanStyle::Document), Some(PlanStyle::Build), None] {
            let work = GatewayWork { style, plan: plan.filter(|_| style.is_some()), round: None };
            let (changes, asked) = match style {
                Some(_) => (changes, asked),
                None => (without_plan_work, "ask"),
            };
            let call = || ("up__note", json!({}));
            let of = |effect, permission: &PermissionOutcome| decide(writing(writes), work, effect, call(), permission);
            let case = format!("{writes:?} {style:?}");
            assert_eq!(of(ToolEffect::ReadsOnly, &by_default()), "run", "{case}");
            assert_eq!(of(ToolEffect::Changes, &by_default()), changes, "{case}");
            assert_eq!(of(ToolEffect::Repeatable, &by_default()), changes, "{case}");
            assert_eq!(of(ToolEffect::Changes, &by_rule(Permission::Allow)), "run", "{case}");
            assert_eq!(of(ToolEffect::ReadsOnly, &by_rule(Permission::Ask)), asked, "{case}");
            assert_eq!(of(ToolEffect::ReadsOnly, &by_rule(Permission::Deny)), "deny", "{case}");
        }
    }
}

fn add(tool: &str, arguments: Value, runner: CallRunner) -> Command {
    Command::External(ExternalCommand::AddCall { tool: tool.to_owned(), arguments, description: None, runner })
}

#[test]
fn with_an_approved_recorded_plan_only_its_exact_calls_are_known() {
    let mut world = World::planning(PlanStyle::Collect);
    world.agent(add("up__pay", json!({ "to": "ada", "sum": 10 }), CallRunner::Planwright)).unwrap();
    world.agent(add("up__pay", json!({ "to": "bob", "sum": 20 }), CallRunner::Planwright)).unwrap();
    world.agent(add("up__own", json!({}), CallRunner::Client)).unwrap();
    let ada = || ("up__pay", json!({ "sum": 10, "to": "ada" }));
    let ask = |world: &World, writes, call, permission: &PermissionOutcome| {
        decide(writing(writes), GatewayWork::of(&world.snapshot), ToolEffect::Changes, call, permission)
    };
    assert_eq!(ask(&world, GatewayWrites::Free, ada(), &by_rule(Permission::Allow)), "record");
    world.agent(finalize()).unwrap();
    assert_eq!(ask(&world, GatewayWrites::Free, ada(), &by_default()), "record", "the life cycle refuses it");
    world.approve(Selection::Only([1, 3].into())).unwrap();
    assert_eq!(ask(&world, GatewayWrites::Free, ada(), &by_default()), "deny", "Planwright makes it itself");
    world.start().unwrap();
    world.run_step("s1");
    assert_eq!(ask(&world, GatewayWrites::Free, ada(), &by_default()), "recorded");
    for injected in [
        ("up__pay", json!({ "to": "ada", "sum": 11 })),
        ("up__pay", json!({ "to": "ada", "sum": "10" })),
        ("up__pay", json!({ "to": "ada", "sum": 10, "cc": "eve" })),
        ("up__pay", json!({ "to": "bob", "sum": 20 })),
        ("up__own", json!({})),
        ("up__read", json!({})),
    ] {
        for writes in [GatewayWrites::Recorded, GatewayWrites::Free, GatewayWrites::DuringPlan] {
            assert_eq!(ask(&world, writes, injected.clone(), &by_default()), "deny", "{injected:?}");
            assert_eq!(ask(&world, writes, injected.clone(), &by_rule(Permission::Allow)), "deny");
        }
        assert_eq!(ask(&world, GatewayWrites::Ask, injected, &by_default()), "ask");
    }
}

#[test]
fn in_style_collect_reads_are_recorded_unless_the_setting_lets_them_run() {
    let mut world = World::planning(PlanStyle::Collect);
    world.agent(add("up__pay", json!({}), CallRunner::Planwright)).unwrap();
    let running = GatewayOptions { reads: GatewayReads::Run, ..GatewayOptions::default() };
    let check = |world: &World, drafted: &str, other: &str| {
        let of = |options, effect, permission: &PermissionOutcome| {
            decide(options, GatewayWork::of(&world.snapshot), effect, ("up__read", json!({})), permission)
        };
        let recorded = GatewayOptions::default();
        assert_eq!(of(recorded, ToolEffect::ReadsOnly, &by_default()), drafted);
        assert_eq!(of(recorded, ToolEffect::ReadsOnly, &by_rule(Permission::Allow)), drafted);
        assert_eq!(of(running, ToolEffect::ReadsOnly, &by_default()), "run");
        assert_eq!(of(running, ToolEffect::Changes, &by_rule(Permission::Allow)), "run");
        assert_eq!(of(running, ToolEffect::ReadsOnly, &by_rule(Permission::Ask)), other);
        assert_eq!(of(running, ToolEffect::ReadsOnly, &by_rule(Permission::Deny)), "deny");
        assert_eq!(of(running, ToolEffect::Changes, &by_default()), other);
    };
    check(&world, "record", "record");
    world.agent(finalize()).unwrap();
    world.approve(Selection::All).unwrap();
    check(&world, "deny", "deny");
}
