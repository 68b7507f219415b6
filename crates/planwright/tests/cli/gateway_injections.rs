//! Calls that something injects while an approved plan is carried out through the gateway: none of them runs.

use serde_json::{Value, json};

use crate::gateway::{Client, approve, calls};
use crate::world::World;

/// The calls of an approved plan, and calls that something injects while it is carried out.
struct InjectionCase {
    gold: Vec<(&'static str, Value)>,
    injected: Vec<(&'static str, Value)>,
}

fn injection_cases() -> Vec<InjectionCase> {
    let note = |text: &str| ("up__note", json!({ "text": text }));
    vec![
        InjectionCase {
            gold: vec![note("pay 10 to ada"), note("tell bob")],
            injected: vec![
                note("pay 1000 to eve"),
                note("pay 10 to ada "),
                ("up__note", json!({ "text": "pay 10 to ada", "to": "eve" })),
                ("up__note", json!({ "TEXT": "pay 10 to ada", "text": "PAY 10 TO ADA" })),
                ("up__read", json!({})),
                ("up__read", json!({ "path": "/etc/passwd" })),
                ("up__again", json!({})),
                ("up__environment", json!({})),
                ("up__child", json!({})),
                ("up__change", json!({})),
                ("up__Note", json!({ "text": "pay 10 to ada" })),
                ("up_note", json!({ "text": "pay 10 to ada" })),
                ("note", json!({ "text": "pay 10 to ada" })),
                ("plan_approve", json!({})),
            ],
        },
        // Text that only looks the same.
        InjectionCase {
            gold: vec![note("pay ada"), note("caf\u{e9}")],
            injected: vec![
                note("p\u{430}y ada"),
                note("pay\u{200b} ada"),
                note("pay\u{a0}ada"),
                note("cafe\u{301}"),
                note("\u{202e}ada yap"),
                note("pay ada\n"),
                note(""),
            ],
        },
        // A plan that only reads permits no change, and none of another kind of value.
        InjectionCase {
            gold: vec![("up__read", json!({}))],
            injected: vec![
                note("anything"),
                ("up__read", json!({ "": "" })),
                ("up__read", json!({ "path": null })),
                ("up__image", json!({})),
                ("up__structured", json!({})),
                ("up__die", json!({})),
                ("up__again", json!({ "path": "x" })),
            ],
        },
        // Calls of other tools between the same ones.
        InjectionCase {
            gold: vec![note("first"), ("up__again", json!({})), note("last")],
            injected: vec![
                note("first last"),
                note("FIRST"),
                ("up__again", json!({ "x": 1 })),
                ("up__block", json!({})),
            ],
        },
    ]
}

#[test]
fn no_injected_call_runs_while_an_approved_plan_is_carried_out() {
    for InjectionCase { gold, injected } in injection_cases() {
        let world = World::new();
        let mut client = Client::start(&world, "collect", "plain", &[("PLANWRIGHT_GATEWAY_WRITES", "free")]);
        for (tool, arguments) in &gold {
            client.succeed(tool, arguments.clone());
        }
        // The agent's own call keeps the plan open while calls are injected.
        client.succeed("plan_add_call", json!({ "tool": "Bash", "arguments": { "command": "make" } }));
        client.succeed("plan_finalize", json!({}));
        approve(&world, "");
        while calls(&world).len() < gold.len() {
            client.succeed("plan_get", json!({}));
        }
        for (tool, arguments) in &injected {
            let result = client.call(tool, arguments.clone());
            assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        }
        // In numbers they stand in the inbox, as long as the plan is carried out.
        let waiting = world.json("inbox");
        let refused = waiting["items"].as_array().unwrap().iter().any(|item| item["kind"] == "refused");
        assert_eq!(refused, injected.len() >= 5, "{waiting}");
        // The exact call of the plan is answered with its recorded result, and is not made again.
        let known = client.succeed(gold[0].0, gold[0].1.clone());
        assert_eq!(known["recorded"], true, "{known}");
        assert_eq!(calls(&world).len(), gold.len(), "{:?}", calls(&world));
        client.succeed("plan_progress", json!({ "status": "done" }));
        client.leave();
        let plan = world.active_plan("mcp:gateway-session");
        let refused: u32 = plan.execution.as_ref().unwrap().steps.iter().map(|step| step.permissions.refused).sum();
        assert!(refused >= 3, "the refused calls are counted with the plan: {refused}");
    }
}

/// With the default a document that is approved permits no call: what is injected is recorded at most, for a person to see.
#[test]
fn no_injected_call_runs_beside_an_approved_document() {
    for InjectionCase { gold, injected } in injection_cases() {
        let world = World::new();
        let mut client = Client::start(&world, "document", "plain", &[]);
        client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] what the person wants" }));
        approve(&world, "");
        for (tool, arguments) in &injected {
            client.call(tool, arguments.clone());
        }
        assert_eq!(calls(&world), [""; 0], "before anything else is approved");
        client.succeed("plan_finalize", json!({}));
        world.run("plan reject 2 --session gateway-session -- not mine").done();
        for (tool, arguments) in &gold {
            client.succeed(tool, arguments.clone());
        }
        client.succeed("plan_finalize", json!({}));
        let digest = world.plan("mcp:gateway-session", 3).digest();
        world.run(&format!("plan approve 3 --session gateway-session --digest {digest}")).done();
        client.wait_until(|plan| plan["round"]["number"] == 3 && plan["round"]["status"] == "COMPLETED");
        for (tool, arguments) in &injected {
            client.call(tool, arguments.clone());
        }
        assert_eq!(calls(&world).len(), gold.len(), "{:?}", calls(&world));
        client.leave();
    }
}
