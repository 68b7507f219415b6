//! Comments on a plan: kept as a draft, sent with a decision, and found again in later versions.

use planwright_core::command::{Command, Decision, DraftCommand, SessionCommand, StepChange};
use planwright_core::ids::CommentId;
use planwright_core::plan::Plan;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::review::{
    CommentAnchor, CommentAnswer, CommentKind, CommentState, MAX_COMMENTS, MAX_CONTEXT, Review, ReviewAnswers,
    ReviewComment, ReviewTracker,
};
use planwright_core::refusal::RefusalCode;

use crate::world::*;

const PLAN: &str = "# Move the blog\n\nThe old host ends at the **end of the month**.\n\n- [ ] Copy the `uploads` with rsync\n\
                    - [ ] Lower the TTL to 60 seconds\n- [ ] Switch the name\n";

fn comment(n: usize, kind: CommentKind, anchor: CommentAnchor, text: &str) -> ReviewComment {
    ReviewComment { id: CommentId::new(format!("c{n}")).unwrap(), anchor, kind, text: text.to_owned() }
}

fn quote(quote: &str, prefix: &str, suffix: &str) -> CommentAnchor {
    CommentAnchor::Quote { quote: quote.to_owned(), prefix: prefix.to_owned(), suffix: suffix.to_owned() }
}

fn on_step(id: &str) -> CommentAnchor {
    CommentAnchor::Step { step: step(id) }
}

fn review(comments: Vec<ReviewComment>) -> Review {
    Review { version: 1, comments }
}

fn two_comments() -> Review {
    review(vec![
        comment(1, CommentKind::Comment, quote("end of the month", "ends at the ", "."), "Which day?"),
        comment(2, CommentKind::Strike, on_step("s2"), ""),
    ])
}

fn draft(world: &World, review: Review) -> Command {
    Command::Session(SessionCommand::DraftReview { plan: world.active().id.clone(), review })
}

fn reviewed(command: Command, review: Review) -> Command {
    match command {
        Command::Decide(decision) => Command::Decide(Decision::Reviewed { decision: Box::new(decision), review }),
        other => panic!("{other:?}"),
    }
}

fn revise(plan: &Plan, feedback: &str) -> Command {
    crate::world::revise(&plan.id, feedback)
}

fn remove(id: &str) -> Command {
    Command::Draft(DraftCommand::RemoveStep { step: step(id) })
}

fn describe(id: &str, description: &str) -> Command {
    let change = StepChange { description: Some(description.to_owned()), ..StepChange::default() };
    Command::Draft(DraftCommand::UpdateStep { step: step(id), change })
}

#[test]
fn a_draft_changes_nothing_but_the_journal() {
    let mut world = World::ready_document(PLAN);
    let before = world.active().clone();
    let events = world.person(draft(&world.clone(), two_comments())).unwrap();
    assert_eq!(names(&events), ["review_drafted"]);
    assert_eq!(events[0].plan(), Some(&before.id));
    assert_eq!(*world.active(), before);
}

#[test]
fn only_a_person_comments() {
    let mut world = World::ready_document(PLAN);
    let command = draft(&world, two_comments());
    assert_eq!(world.agent(command).unwrap_err().code, RefusalCode::PolicyDenied);
    let command = reviewed(revise(world.active(), ""), two_comments());
    assert_eq!(world.agent(command).unwrap_err().code, RefusalCode::PolicyDenied);
}

#[test]
fn what_is_no_review_is_refused() {
    let reply = |kind, anchor, text: &str| review(vec![comment(1, kind, anchor, text)]);
    let whole = CommentAnchor::Plan {};
    let long = "x".repeat(16 * 1024 + 1);
    let twice =
        vec![comment(1, CommentKind::Strike, whole.clone(), ""), comment(1, CommentKind::Strike, whole.clone(), "")];
    let many = (0..=MAX_COMMENTS).map(|n| comment(n, CommentKind::Strike, whole.clone(), "")).collect();
    let large = (0..20).map(|n| comment(n, CommentKind::Comment, whole.clone(), &"x".repeat(16 * 1024))).collect();
    let around = "x".repeat(MAX_CONTEXT + 1);
    for (review, code) in [
        (reply(CommentKind::Comment, whole.clone(), " \n"), RefusalCode::InvalidArgument),
        (reply(CommentKind::Replace, whole.clone(), ""), RefusalCode::InvalidArgument),
        (reply(CommentKind::Comment, quote(" ", "", ""), "why?"), RefusalCode::InvalidArgument),
        (reply(CommentKind::Comment, whole.clone(), &long), RefusalCode::LimitExceeded),
        (reply(CommentKind::Comment, quote(&long, "", ""), "why?"), RefusalCode::LimitExceeded),
        (reply(CommentKind::Comment, quote("a", &around, ""), "why?"), RefusalCode::LimitExceeded),
        (review(twice), RefusalCode::InvalidArgument),
        (review(many), RefusalCode::LimitExceeded),
        (review(large), RefusalCode::LimitExceeded),
        (Review { version: 2, comments: Vec::new() }, RefusalCode::NotFound),
    ] {
        let mut world = World::ready_document(PLAN);
        let command = draft(&world, review.clone());
        assert_eq!(world.person(command).unwrap_err().code, code, "{review:?}");
        let command = reviewed(revise(world.active(), "shorter"), review.clone());
        assert_eq!(world.person(command).unwrap_err().code, code, "{review:?}");
    }
}

#[test]
fn comments_go_with_a_request_for_changes_in_words() {
    for (feedback, message) in [("", ""), ("Shorter, please.", "Shorter, please.\n\n")] {
        let mut world = World::ready_document(PLAN);
        let events = world.person(reviewed(revise(world.active(), feedback), two_comments())).unwrap();
        assert_eq!(names(&events), ["revision_requested", "review_sent"]);
        let comments = "Comments on version 1:\n\n1. On \"end of the month\": Which day?\n\
                        2. Strike step 2 (Lower the TTL to 60 seconds).";
        assert_eq!(world.active().feedback.as_ref().unwrap().text, format!("{message}{comments}"));
    }
}

#[test]
fn comments_go_with_an_approval_as_its_note() {
    let mut world = World::ready_document(PLAN);
    let one = review(vec![comment(1, CommentKind::Replace, on_step("s1"), "Copy with care")]);
    let events = world.person(reviewed(approve(world.active(), Selection::All), one)).unwrap();
    assert_eq!(names(&events), ["plan_approved", "review_sent"]);
    let note = world.active().approval.as_ref().unwrap().note.clone().unwrap();
    assert_eq!(note, "Comments on version 1:\n\n1. Replace step 1 (Copy the uploads with rsync) by: Copy with care");
}

#[test]
fn an_agent_answers_comments_and_only_a_person_resolves_them() {
    let mut world = World::ready_document(PLAN);
    let plan = world.active().id.clone();
    let id = CommentId::new("c1").unwrap();
    let answered = |text: &str| {
        let answers = vec![CommentAnswer { comment: id.clone(), text: text.to_owned() }];
        let answers = Some(ReviewAnswers { plan: plan.clone(), answers });
        set("1. Copy the uploads").with_answers(answers)
    };
    // One entry after the other in one commit: no crash leaves the version without the answers.
    assert_eq!(names(&world.agent(answered("On the 30th.")).unwrap()), ["content_set", "review_answered"]);
    let before = world.active().clone();
    assert_eq!(world.agent(answered(" ")).unwrap_err().code, RefusalCode::InvalidArgument);
    assert_eq!(world.agent(answered(&"x".repeat(16 * 1024 + 1))).unwrap_err().code, RefusalCode::LimitExceeded);
    let resolve =
        Command::Session(SessionCommand::ResolveComment { plan: plan.clone(), comment: id.clone(), resolved: true });
    assert_eq!(world.agent(resolve.clone()).unwrap_err().code, RefusalCode::PolicyDenied);
    assert_eq!(names(&world.person(resolve).unwrap()), ["comment_resolved"]);
    assert_eq!(*world.active(), before);
}

#[test]
fn a_review_without_comments_is_a_plain_decision() {
    let mut world = World::ready_document(PLAN);
    let nothing = review(Vec::new());
    let refused = world.person(reviewed(revise(world.active(), " "), nothing.clone())).unwrap_err();
    assert_eq!(refused.code, RefusalCode::InvalidArgument);
    let events = world.person(reviewed(approve(world.active(), Selection::All), nothing)).unwrap();
    assert_eq!(names(&events), ["plan_approved"]);
}

#[test]
fn comments_go_with_no_other_decision() {
    let mut world = World::ready_document(PLAN);
    let rejection = reject(&world.active().id);
    let refused = world.person(reviewed(rejection, two_comments())).unwrap_err();
    assert_eq!(refused.code, RefusalCode::InvalidArgument);
}

#[test]
fn what_was_written_while_a_review_was_sent_stays_a_draft() {
    let sent = two_comments();
    let mut draft = sent.clone();
    draft.comments[0].text = "Which day exactly?".to_owned();
    draft.comments.push(comment(3, CommentKind::Comment, CommentAnchor::Plan {}, "And the feed?"));
    let left = draft.without(&sent);
    let texts: Vec<_> = left.comments.iter().map(|comment| comment.text.as_str()).collect();
    assert_eq!(texts, ["Which day exactly?", "And the feed?"]);
}

/// A document as it was commented on, and as it is now.
#[track_caller]
fn check(comment: &ReviewComment, now: &str, expected: CommentState) {
    let (before, after) = (World::ready_document(PLAN), World::ready_document(now));
    assert_eq!(ReviewTracker::new(before.active(), after.active()).state(comment), expected, "{comment:?}\n{now}");
}

#[test]
fn words_are_found_again_without_their_marks() {
    use CommentKind::{Comment, Replace, Strike};
    use CommentState::{Addressed, Open, Orphaned};
    let month = || quote("end of the month", "The old host ends at the ", ".Copy the uploads");
    let with = |from: &str, to: &str| {
        assert!(PLAN.contains(from));
        PLAN.replace(from, to)
    };
    for (kind, anchor, text, now, expected) in [
        // The text is the same, or only its layout is another one.
        (Comment, month(), "Which day?", PLAN.to_owned(), Open),
        (Comment, month(), "Which day?", with("**end of the month**", "_end\nof the month_"), Open),
        (Comment, month(), "Which day?", with("rsync", "scp"), Open),
        // The words are others now, in the same place.
        (Comment, month(), "Which day?", with("**end of the month**", "30th"), Addressed),
        (Strike, month(), "", with(" at the **end of the month**", ""), Addressed),
        (Strike, month(), "", with("rsync", "scp"), Open),
        (Replace, month(), "30th", with("**end of the month**", "30th"), Addressed),
        (Replace, month(), "end of the month of May", with("month**", "month** of May"), Addressed),
        (Replace, month(), "30th", with("rsync", "scp"), Open),
        // The words were moved, or everything around them is gone.
        (Comment, month(), "Which day?", "Something else. It is over at end of the month then.".to_owned(), Open),
        (Comment, month(), "Which day?", "# Nothing of it\n\n1. is left\n".to_owned(), Orphaned),
        (Replace, month(), "30th", "# Nothing of it\n\n1. is left\n".to_owned(), Orphaned),
        (Strike, month(), "", "# Nothing of it\n\n1. is left\n".to_owned(), Addressed),
        // Code, and words over several elements as a browser selects them.
        (Comment, quote("uploads with rsync", "Copy the ", "Lower"), "all?", with("TTL", "time"), Open),
        (Comment, quote("rsyncLower the TTL", "uploads with ", " to 60"), "order?", with("name", "host"), Open),
        (Comment, CommentAnchor::Plan {}, "too long", with("rsync", "scp"), Addressed),
    ] {
        check(&comment(1, kind, anchor, text), &now, expected);
    }
}

#[test]
fn steps_are_found_again() {
    use CommentKind::{Comment, Strike};
    use CommentState::{Addressed, Open, Orphaned};
    let without_second = PLAN.replace("- [ ] Lower the TTL to 60 seconds\n", "");
    for (kind, id, now, expected) in [
        (Comment, "s3", without_second.as_str(), Open),
        (Comment, "s2", without_second.as_str(), Orphaned),
        (Strike, "s2", without_second.as_str(), Addressed),
        (Comment, "s2", &PLAN.replace("60 seconds", "30 seconds"), Addressed),
        (Comment, "s9", without_second.as_str(), Orphaned),
    ] {
        check(&comment(1, kind, on_step(id), "why?"), now, expected);
    }
}

#[test]
fn steps_for_agents_are_found_by_their_id_in_the_plan_that_replaces_theirs() {
    let mut world = World::draft(&["measure", "cache", "review"]);
    world.agent(submit()).unwrap();
    let before = world.active().clone();
    world
        .person(reviewed(revise(&before, ""), review(vec![comment(1, CommentKind::Strike, on_step("s2"), "")])))
        .unwrap();
    let state = |world: &World, id: &str, kind| {
        ReviewTracker::new(&before, world.active()).state(&comment(1, kind, on_step(id), "why?"))
    };
    assert_ne!(world.active().id, before.id);
    assert_eq!(state(&world, "s2", CommentKind::Strike), CommentState::Open);
    world.agent(remove("s3")).unwrap();
    world.agent(describe("s1", "measure twice")).unwrap();
    assert_eq!(state(&world, "s1", CommentKind::Comment), CommentState::Addressed);
    assert_eq!(state(&world, "s2", CommentKind::Comment), CommentState::Open);
    assert_eq!(state(&world, "s3", CommentKind::Comment), CommentState::Orphaned);
    assert_eq!(state(&world, "s3", CommentKind::Strike), CommentState::Addressed);
}

#[test]
fn a_session_is_named_and_its_name_is_taken_away() {
    let rename = |title: Option<&str>| Command::Session(SessionCommand::Rename { title: title.map(str::to_owned) });
    let mut world = World::new();
    let title = |world: &World| world.snapshot.session.as_ref().unwrap().title.clone();
    assert_eq!(names(&world.person(rename(Some("  The blog "))).unwrap()), ["session_renamed"]);
    assert_eq!(title(&world).as_deref(), Some("The blog"));
    assert!(world.person(rename(Some("The blog"))).unwrap().is_empty());
    for (message, code) in
        [("two\nlines".to_owned(), RefusalCode::InvalidArgument), ("x".repeat(201), RefusalCode::LimitExceeded)]
    {
        assert_eq!(world.person(rename(Some(&message))).unwrap_err().code, code);
    }
    world.person(rename(Some(" "))).unwrap();
    assert_eq!(title(&world), None);
}
