//! Random commands, and random lines that nearly are some.

use std::collections::BTreeSet;

use planwright_core::auto::TaskStatus;
use planwright_core::command::StuckChoice;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::reference::PlanReference;
use planwright_core::session::ConversationKey;
use planwright_core::slash::{
    AutoSubcommand, Comparison, GoalSubcommand, MemorySubcommand, OnOff, PlanCommand, ScheduleSubcommand, SlashCommand,
    TaskSubcommand, ToolsCommand,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn any_command() -> impl Strategy<Value = SlashCommand> {
    prop_oneof![
        4 => plan_command().prop_map(SlashCommand::Plan),
        1 => other_command(),
    ]
}

/// Pieces of commands in any order, with a little of everything else.
pub(super) fn any_line() -> impl Strategy<Value = String> {
    let pieces = vec![
        "/",
        "/plan",
        "/plan",
        "/plans",
        "/pln",
        "on",
        "off",
        "onn",
        "approve",
        "aprove",
        "reject",
        "revise",
        "cancel",
        "diff",
        "show",
        "files",
        "only",
        "--only",
        "skip",
        "1,3",
        "2-4",
        "1-",
        ",",
        "-",
        "--",
        "—",
        "3",
        "0190ab",
        "0",
        "because",
        "/switch",
        "/help",
        "/auto",
        "/goal",
        "/stop",
        "/new",
        "@Bot",
        "document",
        "żółw",
        "\u{202e}",
        "\n",
        "//",
        "/etc/passwd",
    ];
    let piece = prop_oneof![12 => select(pieces).prop_map(str::to_owned), 1 => any::<String>()];
    let gap = select(vec![" ", " ", " ", "", "\t", "\n", "\u{a0}"]);
    prop::collection::vec((piece, gap), 0..9)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, gap)| piece + gap).collect())
}

/// Made of what arguments are made of, so that some of it would be taken for one.
fn text() -> impl Strategy<Value = String> {
    let message =
        vec!["on", "3", "--", "—", "0190ab", "because", "only 1", "skip", "show", "/plan", "a\nb", "@x", "-", "é"];
    let message = prop::collection::vec(select(message), 1..6).prop_map(|message| message.join(" "));
    prop_oneof![3 => message, 1 => any::<String>().prop_map(|text| format!("x{text}y"))]
}

fn reference() -> impl Strategy<Value = PlanReference> {
    let pieces = vec!["0190ab", "0190-aaaa-111111", "123456", "99999999999", "checkout-redesign", "plan_7:x", "000000"];
    prop_oneof![any::<u32>().prop_map(|n| n.max(1).to_string()), select(pieces).prop_map(str::to_owned)]
        .prop_map(|text| text.parse().unwrap())
}

fn selection() -> impl Strategy<Value = Selection> {
    let positions = || prop::collection::btree_set(1..10_001_usize, 1..5);
    let of = |make: fn(BTreeSet<usize>) -> Selection| positions().prop_map(make);
    prop_oneof![Just(Selection::All), of(Selection::Only), of(Selection::Skip)]
}

fn plan_command() -> impl Strategy<Value = PlanCommand> {
    use PlanCommand::*;
    let plan = || option::of(reference());
    let message = || option::of(text());
    prop_oneof![
        option::of(select(PlanStyle::ALL.to_vec())).prop_map(|style| On { style }),
        select(vec![Off, Done, Status, Files(OnOff::On), Files(OnOff::Off)]),
        plan().prop_map(|plan| Show { plan }),
        (plan(), option::of(select(StuckChoice::ALL.to_vec()))).prop_map(|(plan, choice)| Resume { plan, choice }),
        plan().prop_map(|plan| Export { plan }),
        (plan(), selection(), any::<bool>(), message()).prop_map(|(plan, selection, step_by_step, note)| Approve {
            plan,
            selection,
            step_by_step,
            note
        }),
        (plan(), message()).prop_map(|(plan, reason)| Reject { plan, reason }),
        (plan(), message()).prop_map(|(plan, reason)| Cancel { plan, reason }),
        (plan(), text()).prop_map(|(plan, feedback)| Revise { plan, feedback }),
        plan().prop_map(|plan| Diff(Comparison::Versions { plan })),
        (reference(), reference()).prop_map(|(first, second)| Diff(Comparison::Plans { first, second })),
        text().prop_map(About),
    ]
}

fn other_command() -> impl Strategy<Value = SlashCommand> {
    use SlashCommand::*;
    let bare = vec![
        Plans,
        Goals,
        Tasks,
        Diary { text: None },
        New,
        Sessions,
        Reset,
        Compact,
        Stop,
        Status,
        Tools(ToolsCommand::List),
    ];
    prop_oneof![
        select(bare),
        "[a-zA-Z0-9_-]{1,64}".prop_map(|key| Switch { key: ConversationKey::existing(key).unwrap() }),
        option::of(text()).prop_map(|topic| Help { topic }),
        option::of(text()).prop_map(|goal| Auto(AutoSubcommand::On { goal })),
        text().prop_map(|title| Goal(GoalSubcommand::Add { title })),
        (option::of("[1-9][0-9]{0,3}"), text()).prop_map(|(goal, title)| Task(TaskSubcommand::Add { goal, title })),
        ("[1-9][0-9]{0,3}", option::of("[a-z]{1,8}"))
            .prop_map(|(task, note)| { Task(TaskSubcommand::Change { task, status: TaskStatus::Failed, note }) }),
        (option::of(1..99_u32), text()).prop_map(|(max_executions, title)| {
            let (expression, zone, goal) = ("0 9 * * 1".to_owned(), Some("Europe/Berlin".to_owned()), None);
            Schedule(ScheduleSubcommand::Add { expression, zone, max_executions, goal, title })
        }),
        text().prop_map(|query| Memory(MemorySubcommand::Search { query })),
        text().prop_map(|content| Memory(MemorySubcommand::Save { content })),
        "[a-z0-9-]{6,36}".prop_map(|memory| Memory(MemorySubcommand::Forget { memory })),
        "[a-z0-9-]{6,36}".prop_map(|memory| Memory(MemorySubcommand::Promote { memory })),
        "[a-z0-9-]{6,36}".prop_map(|offer| Memory(MemorySubcommand::Accept { offer })),
        "[a-z0-9-]{6,36}".prop_map(|offer| Memory(MemorySubcommand::Decline { offer })),
        select(vec![Memory(MemorySubcommand::List), Memory(MemorySubcommand::Undo), Memory(MemorySubcommand::Offers),]),
    ]
}
