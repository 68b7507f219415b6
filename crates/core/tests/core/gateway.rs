//! What becomes of calls to upstream tools that an external agent makes.

use planwright_core::command::{CallRunner, Command, ExternalCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::{GatewayCall, GatewayDecision, GatewayWrites, decide_gateway};
use planwright_core::permission::{Permission, PermissionOutcome, PermissionReason, PermissionRule};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStyle};
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
    writes: GatewayWrites,
    style: Option<PlanStyle>,
    plan: Option<&Plan>,
    effect: ToolEffect,
    (tool, arguments): (&str, Value),
    permission: &PermissionOutcome,
) -> &'static str {
    let call = GatewayCall { tool, arguments: &arguments, effect, permission };
    match decide_gateway(writes, style, plan, &call) {
        GatewayDecision::Run => "run",
        GatewayDecision::Record => "record",
        GatewayDecision::Recorded(_) => "recorded",
        GatewayDecision::Ask => "ask",
        GatewayDecision::Deny(_) => "deny",
    }
}

#[test]
fn outside_of_style_collect_the_setting_and_the_rules_decide_about_changes() {
    use GatewayWrites::{ApprovedPlan, Ask, Free};
    let ready = World::ready_document("- [ ] one");
    let mut approved = World::ready_document("- [ ] one");
    approved.approve(Selection::All).unwrap();
    let document = Some(PlanStyle::Document);
    for (writes, plan, reads, changes) in [
        (Free, Some(ready.active()), "run", "run"),
        (ApprovedPlan, Some(ready.active()), "run", "deny"),
        (ApprovedPlan, Some(approved.active()), "run", "run"),
        (ApprovedPlan, None, "run", "deny"),
        (Ask, Some(approved.active()), "run", "ask"),
        (Ask, None, "run", "ask"),
    ] {
        for style in [document, Some(PlanStyle::Build), None] {
            let plan = plan.filter(|_| style.is_some());
            let expected = if style.is_none() && writes == ApprovedPlan { "deny" } else { changes };
            let call = || ("up__note", json!({}));
            let of = |effect, permission: &PermissionOutcome| decide(writes, style, plan, effect, call(), permission);
            assert_eq!(of(ToolEffect::ReadsOnly, &by_default()), reads, "{writes:?} {style:?}");
            assert_eq!(of(ToolEffect::Changes, &by_default()), expected, "{writes:?} {style:?}");
            assert_eq!(of(ToolEffect::Repeatable, &by_default()), expected, "{writes:?} {style:?}");
            assert_eq!(of(ToolEffect::Changes, &by_rule(Permission::Allow)), "run");
            assert_eq!(of(ToolEffect::ReadsOnly, &by_rule(Permission::Ask)), "ask");
            assert_eq!(of(ToolEffect::ReadsOnly, &by_rule(Permission::Deny)), "deny");
        }
    }
}

fn add(tool: &str, arguments: Value, runner: CallRunner) -> Command {
    Command::External(ExternalCommand::AddCall { tool: tool.to_owned(), arguments, description: None, runner })
}

#[test]
fn with_an_approved_recorded_plan_only_its_exact_calls_are_known() {
    let collect = Some(PlanStyle::Collect);
    let mut world = World::planning(PlanStyle::Collect);
    world.agent(add("up__pay", json!({ "to": "ada", "sum": 10 }), CallRunner::Planwright)).unwrap();
    world.agent(add("up__pay", json!({ "to": "bob", "sum": 20 }), CallRunner::Planwright)).unwrap();
    world.agent(add("up__own", json!({}), CallRunner::Client)).unwrap();
    let ada = || ("up__pay", json!({ "sum": 10, "to": "ada" }));
    let ask = |world: &World, writes, call, permission: &PermissionOutcome| {
        decide(writes, collect, Some(world.active()), ToolEffect::Changes, call, permission)
    };
    assert_eq!(ask(&world, GatewayWrites::Free, ada(), &by_rule(Permission::Allow)), "record");
    assert_eq!(decide(GatewayWrites::Free, collect, None, ToolEffect::ReadsOnly, ada(), &by_default()), "record");
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
        assert_eq!(ask(&world, GatewayWrites::Free, injected.clone(), &by_default()), "deny", "{injected:?}");
        assert_eq!(ask(&world, GatewayWrites::Free, injected.clone(), &by_rule(Permission::Allow)), "deny");
        assert_eq!(ask(&world, GatewayWrites::Ask, injected, &by_default()), "ask");
    }
}
