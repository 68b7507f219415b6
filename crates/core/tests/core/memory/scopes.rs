//! Scopes are written one way and read strictly; a chain has the scopes of its own session and run, and no others.

use planwright_core::ids::{GoalId, TaskId};
use planwright_core::memory::{MemoryKind, MemoryScope, ScopeChain};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use proptest::prelude::*;

use super::{goal_run, session, task_run};

const HERE: &str = "web:k3yk3y8x";

#[test]
fn scopes_have_one_canonical_form() {
    let here = session(HERE);
    for (scope, text) in [
        (MemoryScope::Global, "global"),
        (MemoryScope::of_session(&here), "session:web:k3yk3y8x"),
        (MemoryScope::of_goal(&here, &GoalId::new("g1").unwrap()), "goal:web:k3yk3y8x:g1"),
        (MemoryScope::of_task(&TaskId::new("t1").unwrap()), "task:t1"),
    ] {
        assert_eq!(scope.to_string(), text);
        assert_eq!(text.parse::<MemoryScope>().unwrap(), scope);
        assert_eq!(serde_json::from_value::<MemoryScope>(text.into()).unwrap(), scope);
    }
}

#[test]
fn a_malformed_scope_is_refused_and_never_global() {
    for text in [
        "",
        " ",
        "Global",
        "global ",
        " global",
        "global:",
        "global:x",
        "session",
        "session:",
        "session:web",
        "session:web:",
        "session:nowhere:k3yk3y8x",
        "session:web:k3y k3y",
        "session:web:k3yk3y8x:more",
        "goal:web:k3yk3y8x",
        "goal:web:k3yk3y8x:",
        "goal:web::g1",
        "goal:g1",
        "task",
        "task:",
        "task:a b",
        "user:ada",
        "session:web:k3yk3y8x\n",
    ] {
        let refusal = text.parse::<MemoryScope>().unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{text:?}");
        assert!(MemoryScope::of_stored(Some(text)).is_err(), "{text:?}");
    }
    assert_eq!(MemoryScope::of_stored(None).unwrap(), MemoryScope::Global);
}

#[test]
fn a_chain_is_read_from_the_nearest_scope_on() {
    let scopes = |chain: ScopeChain| chain.scopes().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(scopes(ScopeChain::of_session(&session(HERE))), ["session:web:k3yk3y8x", "global"]);
    assert_eq!(scopes(ScopeChain::of_run(&task_run(HERE, "t1"))), ["task:t1", "session:web:k3yk3y8x", "global"]);
    assert_eq!(
        scopes(ScopeChain::of_run(&goal_run(HERE, "g1", "t1"))),
        ["task:t1", "goal:web:k3yk3y8x:g1", "session:web:k3yk3y8x", "global"]
    );
}

#[test]
fn each_kind_goes_to_the_narrowest_scope_that_fits() {
    let (turn, task, goal) = (
        ScopeChain::of_session(&session(HERE)),
        ScopeChain::of_run(&task_run(HERE, "t1")),
        ScopeChain::of_run(&goal_run(HERE, "g1", "t1")),
    );
    for (kind, levels) in [
        (MemoryKind::Fact, ["session", "session", "session"]),
        (MemoryKind::Preference, ["session", "session", "session"]),
        (MemoryKind::Decision, ["session", "task", "goal"]),
        (MemoryKind::Constraint, ["session", "task", "goal"]),
        (MemoryKind::Result, ["session", "task", "task"]),
    ] {
        assert_eq!([&turn, &task, &goal].map(|chain| chain.scope_for(kind).level()), levels, "{kind}");
    }
}

#[test]
fn nothing_is_written_outside_of_the_chain_and_nothing_as_global() {
    let chain = ScopeChain::of_run(&task_run(HERE, "t1"));
    for (scope, refused) in [
        ("task:t1", None),
        ("session:web:k3yk3y8x", None),
        ("global", Some(RefusalCode::PolicyDenied)),
        ("task:t2", Some(RefusalCode::NotFound)),
        ("session:web:another1", Some(RefusalCode::NotFound)),
        ("session:cli:k3yk3y8x", Some(RefusalCode::NotFound)),
        ("goal:web:k3yk3y8x:g1", Some(RefusalCode::NotFound)),
    ] {
        let outcome = chain.check_write(&scope.parse().unwrap());
        assert_eq!(outcome.err().map(|refusal| refusal.code), refused, "{scope}");
    }
}

#[test]
fn a_run_of_another_session_makes_no_chain() {
    let foreign = task_run("web:another1", "t1");
    assert_eq!(ScopeChain::of(&session(HERE), Some(&foreign)).unwrap_err().code, RefusalCode::NotFound);
}

fn sessions() -> impl Strategy<Value = SessionIdentity> {
    prop::sample::select(vec!["web:session-one", "web:session-two", "cli:session-one", "telegram:session-three"])
        .prop_map(session)
}

fn names() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "a:b", "session-one", "web:session-one:a"])
}

fn chains() -> impl Strategy<Value = ScopeChain> {
    prop_oneof![
        sessions().prop_map(|session| ScopeChain::of_session(&session)),
        (sessions(), names()).prop_map(|(session, task)| ScopeChain::of_run(&task_run(&session.to_string(), task))),
        (sessions(), names(), names()).prop_map(|(session, goal, task)| ScopeChain::of_run(&goal_run(
            &session.to_string(),
            goal,
            task
        ))),
    ]
}

proptest! {
    /// Whatever runs, two chains of different sessions have nothing in common but `global`, and two tasks of one goal
    /// share the goal and the session and nothing else.
    #[test]
    fn chains_share_only_what_they_may(first in chains(), second in chains()) {
        let owner = |chain: &ScopeChain, scope: &MemoryScope| match scope {
            MemoryScope::Global => None,
            MemoryScope::Session(_) | MemoryScope::Goal { .. } | MemoryScope::Task(_) => Some(chain.session().clone()),
        };
        for scope in second.scopes() {
            let readable = first.nearness(&scope, owner(&second, &scope).as_ref()).is_some();
            if first.session() != second.session() {
                prop_assert_eq!(readable, scope == MemoryScope::Global, "{}", scope);
            } else {
                prop_assert_eq!(readable, first.scopes().contains(&scope), "{}", scope);
            }
        }
        // A row of another session is not read even if its scope has the same name, as two tasks may have.
        let elsewhere = session("acp:elsewhere");
        for scope in first.scopes() {
            prop_assert_eq!(first.nearness(&scope, Some(&elsewhere)), None);
        }
    }

    #[test]
    fn a_chain_never_writes_what_it_cannot_read(chain in chains()) {
        for kind in MemoryKind::ALL {
            let scope = chain.scope_for(kind);
            prop_assert_ne!(&scope, &MemoryScope::Global);
            prop_assert!(chain.check_write(&scope).is_ok());
            prop_assert!(chain.nearness(&scope, Some(chain.session())).is_some());
        }
    }

    #[test]
    fn every_scope_of_a_chain_is_read_as_it_was_written(chain in chains()) {
        for scope in chain.scopes() {
            prop_assert_eq!(scope.to_string().parse::<MemoryScope>().unwrap(), scope);
        }
    }

    #[test]
    fn no_other_text_is_global(text in any::<String>()) {
        prop_assume!(text != "global");
        prop_assert_ne!(text.parse::<MemoryScope>().ok(), Some(MemoryScope::Global));
    }
}
