//! With an approver enrolled, sessions of agents with programs of their own ask for `verified` unless a person says otherwise.

use std::collections::BTreeSet;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::changes::since_last_look;
use planwright_core::approval::record::{ApprovalEvent, RecordDamage};
use planwright_core::approval::{ApprovalPolicy, ApprovalRule, Approvers, Require, Risk};
use planwright_core::plan::approval::Selection;
use planwright_core::presence::Presence;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::Channel;

use crate::approvers::{Records, approver};
use crate::world::*;

fn set(policy: &ApprovalPolicy, with_defaults: bool) -> ApprovalEvent {
    ApprovalEvent::PolicySet { policy: policy.clone(), with_defaults }
}

fn enrolled() -> ApprovalEvent {
    ApprovalEvent::ApproverAdded { approver: approver("ada", 1) }
}

/// What a plan that changes files needs, by channel.
fn asked(policy: &ApprovalPolicy, is_enrolled: bool) -> Vec<(Channel, Require)> {
    let risks = BTreeSet::from([Risk::ChangesFiles]);
    let policy = policy.with_defaults(is_enrolled);
    Channel::ALL.into_iter().map(|channel| (channel, policy.requirement(channel, &risks))).collect()
}

#[test]
fn separate_means_verified_for_mcp_and_acp_once_an_approver_is_enrolled() {
    let policy = ApprovalPolicy::requiring(Require::Separate);
    assert!(asked(&policy, false).iter().all(|(_, require)| *require == Require::Separate));
    for (channel, require) in asked(&policy, true) {
        let expected = match channel {
            Channel::Mcp | Channel::Acp => Require::Verified,
            Channel::Web | Channel::Telegram | Channel::Cli | Channel::Legacy => Require::Separate,
        };
        assert_eq!(require, expected, "{channel}");
    }
    let any = ApprovalPolicy::requiring(Require::Any);
    assert!(asked(&any, true).iter().all(|(_, require)| *require == Require::Any), "what a person chose stays");
}

#[test]
fn a_session_that_an_agent_program_comes_into_asks_for_no_less_than_those_of_such_agents() {
    let needs = |policy: &ApprovalPolicy, channel, risk| policy.requirement(channel, &BTreeSet::from([risk]));
    let enrolled = ApprovalPolicy::requiring(Require::Separate).with_defaults(true);
    let joined = enrolled.with_agent_program(Channel::Web);
    for risk in Risk::ALL {
        assert_eq!(needs(&enrolled, Channel::Web, risk), Require::Separate);
        assert_eq!(needs(&joined, Channel::Web, risk), Require::Verified);
        assert_eq!(needs(&joined, Channel::Cli, risk), Require::Separate, "another session");
    }
    let network =
        ApprovalRule { channel: None, risk: Some(Risk::Network), require: Require::Verified, people: Some(2) };
    let by_risk = ApprovalPolicy { rules: vec![network], ..ApprovalPolicy::requiring(Require::Separate) };
    let joined = by_risk.with_agent_program(Channel::Cli);
    assert_eq!(needs(&by_risk, Channel::Cli, Risk::ChangesFiles), Require::Separate);
    assert_eq!(needs(&joined, Channel::Cli, Risk::ChangesFiles), Require::Verified, "its agent uses the network");
    assert_eq!(joined.people(Channel::Cli, &BTreeSet::from([Risk::ChangesFiles])), 2);
    assert_eq!(needs(&joined, Channel::Cli, Risk::ReadsOnly), Require::Separate);
    let own = ApprovalRule { channel: Some(Channel::Cli), risk: None, require: Require::Verified, people: None };
    let stricter = ApprovalPolicy { rules: vec![own], ..ApprovalPolicy::requiring(Require::Any) };
    assert_eq!(needs(&stricter.with_agent_program(Channel::Cli), Channel::Cli, Risk::Upstream), Require::Verified);
}

#[test]
fn a_person_goes_back_for_one_channel_and_rules_for_a_risk_stay() {
    let network = ApprovalRule { channel: None, risk: Some(Risk::Network), require: Require::Verified, people: None };
    let policy = ApprovalPolicy { rules: vec![network], ..ApprovalPolicy::requiring(Require::Separate) };
    let back = policy.requiring_in(Channel::Mcp, Require::Separate).with_defaults(true);
    let needs = |channel, risk| back.requirement(channel, &BTreeSet::from([risk]));
    assert_eq!(needs(Channel::Mcp, Risk::ChangesFiles), Require::Separate);
    assert_eq!(needs(Channel::Acp, Risk::ChangesFiles), Require::Verified, "another channel");
    assert_eq!(needs(Channel::Mcp, Risk::Network), Require::Verified, "the rule for a risk");
    let again = back.requiring_in(Channel::Mcp, Require::Verified);
    assert_eq!(again.requirement(Channel::Mcp, &BTreeSet::from([Risk::ChangesFiles])), Require::Verified);
}

#[test]
fn to_go_back_takes_the_signature_of_an_approver_and_is_reported() {
    let policy = ApprovalPolicy::requiring(Require::Separate);
    let back = set(&policy.requiring_in(Channel::Mcp, Require::Separate), true);
    let mut records = Records::default();
    records.add(1, set(&policy, true), None).unwrap();
    records.add(2, enrolled(), None).unwrap();
    assert_eq!(records.add(3, back.clone(), None), Err(RecordDamage::Unsigned { seq: 3 }));
    records.add(3, back, Some(("ada", 1))).unwrap();
    let shown = since_last_look(&records.all).changes.last().unwrap().what.to_string();
    assert_eq!(shown, "the approval policy was weakened from `separate` to `separate` with one rule");
}

/// Earlier versions compared policies without these defaults, and what they recorded stays readable.
#[test]
fn the_records_of_an_earlier_version_stay_valid_and_the_upgrade_is_shown_once() {
    let plain = ApprovalPolicy::requiring(Require::Separate);
    let explicit = plain.requiring_in(Channel::Mcp, Require::Separate);
    let remembered = ApprovalPolicy { remember: Some(60), ..plain.clone() };
    let mut records = Records::default();
    records.add(1, set(&remembered, false), None).unwrap();
    records.add(2, enrolled(), None).unwrap();
    records.add(3, set(&explicit, false), None).unwrap();
    records.add(4, set(&plain, false), None).unwrap();
    assert!(records.state.is_raised_by_defaults());
    records.add(5, set(&plain, true), None).unwrap();
    assert!(!records.state.is_raised_by_defaults());
    let shown: Vec<_> = since_last_look(&records.all).changes.iter().map(|change| change.what.to_string()).collect();
    assert_eq!(shown.iter().filter(|text| text.contains("`mcp` and `acp`")).count(), 1, "{shown:?}");
    assert_eq!(records.add(6, set(&explicit, true), None), Err(RecordDamage::Unsigned { seq: 6 }));
}

#[test]
fn nothing_changes_with_the_upgrade_where_no_approver_is_enrolled_or_a_person_chose() {
    let plain = ApprovalPolicy::requiring(Require::Separate);
    let chosen = plain.requiring_in(Channel::Mcp, Require::Separate).requiring_in(Channel::Acp, Require::Separate);
    for (policy, is_enrolled) in [(plain, false), (chosen, true), (ApprovalPolicy::requiring(Require::Verified), true)]
    {
        let mut records = Records::default();
        records.add(1, set(&policy, false), None).unwrap();
        if is_enrolled {
            records.add(2, enrolled(), None).unwrap();
        }
        assert!(!records.state.is_raised_by_defaults(), "{policy:?}");
    }
}

#[test]
fn a_passphrase_is_remembered_for_a_quarter_of_an_hour_unless_a_person_says_otherwise() {
    let of = |remember| ApprovalPolicy { remember, ..ApprovalPolicy::default() };
    assert_eq!([None, Some(0), Some(60)].map(|remember| of(remember).remembered()), [900, 0, 60]);
    assert!(of(None).is_weaker_than(&of(Some(0))) && !of(Some(0)).is_weaker_than(&of(None)));
    assert_eq!(of(None).stricter(&of(Some(60))).remembered(), 60);
    assert_eq!(of(Some(3600)).stricter(&of(None)).remembered(), 900);
}

#[test]
fn a_user_of_a_chat_counts_as_verified_while_the_approver_who_bound_them_is_enrolled() {
    let mut world = World::ready_document(TWO_STEPS);
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    let by = |bound: &[(i64, &str)]| {
        let bound = bound.iter().map(|(user, name)| (*user, (*name).to_owned())).collect();
        Actor::person("eve", "telegram").recognised(Presence::chat_user(7)).with_binding(&bound)
    };
    for bound in [vec![], vec![(8, "ada")]] {
        let approval = approve(world.active(), Selection::All);
        refused(world.send(by(&bound), approval), RefusalCode::PolicyDenied, "passphrase");
    }
    let approval = approve(world.active(), Selection::All);
    world.send(by(&[(7, "ada")]), approval).unwrap();
    let plan = world.active();
    let permits =
        |approvers: &Approvers| plan.check_approved(&world.policy.approval, approvers, Timestamp::UNIX_EPOCH).is_ok();
    assert!(permits(&world.policy.approvers) && !permits(&Approvers::default()));
}

#[test]
fn a_user_is_bound_by_the_approver_who_signs_it() {
    let mut records = Records::default();
    records.add(1, set(&ApprovalPolicy::requiring(Require::Verified), true), None).unwrap();
    records.add(2, enrolled(), None).unwrap();
    let bob = ApprovalEvent::ApproverAdded { approver: approver("bob", 2) };
    records.add(3, bob, Some(("ada", 1))).unwrap();
    let bound = || ApprovalEvent::ChatUserBound { user: 7, approver: "ada".to_owned() };
    for by in [None, Some(("ada", 2)), Some(("bob", 2))] {
        assert_eq!(records.add(4, bound(), by), Err(RecordDamage::Unsigned { seq: 4 }), "{by:?}");
    }
    records.add(4, bound(), Some(("ada", 1))).unwrap();
    assert_eq!(records.state.bound_users.get(&7).map(String::as_str), Some("ada"));
    let shown = since_last_look(&records.all).changes.last().unwrap().what.to_string();
    assert_eq!(shown, "ada bound the user 7 of Telegram, whose buttons count as verified");
    let removed = ApprovalEvent::ApproverRemoved { name: "ada".to_owned() };
    records.add(5, removed, Some(("bob", 2))).unwrap();
    assert!(records.state.bound_users.is_empty(), "who bound them is gone");
}
