//! What a person is shown of the records about who may decide.

use std::collections::BTreeMap;

use jiff::Timestamp;
use planwright_core::approval::changes::{ChangedAbout, since_last_look};
use planwright_core::approval::record::ApprovalEvent;
use planwright_core::approval::{ApprovalPolicy, Require};

use crate::approvers::{Records, approver};

fn policy(require: Require) -> ApprovalEvent {
    ApprovalEvent::PolicySet { policy: ApprovalPolicy::requiring(require), with_defaults: true }
}

fn settings(pairs: &[(&str, &str)]) -> ApprovalEvent {
    let settings: BTreeMap<_, _> = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    ApprovalEvent::SettingsSet { settings }
}

fn shown(records: &Records) -> Vec<String> {
    since_last_look(&records.all).changes.iter().map(|change| change.what.to_string()).collect()
}

#[test]
fn what_weakens_or_lets_others_decide_is_shown_until_a_person_has_seen_it() {
    let mut records = Records::default();
    let add = |records: &mut Records, event| records.add(10, event, None).unwrap();
    add(&mut records, policy(Require::Separate));
    add(&mut records, settings(&[("telegram.allowed_users", "7")]));
    assert_eq!(shown(&records), [""; 0], "a new store");
    add(&mut records, policy(Require::Verified));
    assert_eq!(shown(&records), [""; 0], "a stricter policy");
    add(&mut records, policy(Require::Any));
    add(&mut records, settings(&[("telegram.allowed_users", "7,8"), ("telegram.webhook_secret", "hush")]));
    let (link, browser) = ("one".to_owned(), "b".to_owned());
    let ends = Timestamp::from_second(1000).unwrap();
    add(&mut records, ApprovalEvent::SignInLinkMade { link: link.clone(), ends });
    add(&mut records, ApprovalEvent::BrowserSignedIn { link, browser, ends });
    add(&mut records, ApprovalEvent::ApproverAdded { approver: approver("eve", 3) });
    let expected = [
        "the approval policy was weakened from `verified` to `any`",
        "`telegram.allowed_users` was changed from 7 to 7,8",
        "`telegram.webhook_secret` was changed",
        "a browser was signed in with a link",
        "eve was enrolled as an approver",
    ];
    assert_eq!(shown(&records), expected);
    let unseen = since_last_look(&records.all);
    let weakens = |what: &ChangedAbout| what.is_weakening();
    assert_eq!(unseen.changes.iter().filter(|change| weakens(&change.what)).count(), 1);
    assert_eq!((unseen.since, unseen.changes[0].by.name.as_str()), (None, "ada"));
    let until = Timestamp::from_second(10).unwrap();
    add(&mut records, ApprovalEvent::RecordsSeen { seq: unseen.changes[2].seq.unwrap(), until });
    assert_eq!(shown(&records), expected[3..]);
    assert_eq!(since_last_look(&records.all).since, Some(until));
}
