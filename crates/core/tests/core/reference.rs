//! How people name sessions, plans and digests.

use planwright_core::ids::PlanId;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::plan::{Digest, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{ConversationKey, SessionIdentity};

fn candidates() -> Vec<PlanCandidate> {
    [("0190-aaaa-111111", 1), ("0190-aaaa-222222", 2), ("0190-bbbb-123456", 3), ("444444", 4), ("2024001", 2_024_001)]
        .into_iter()
        .map(|(id, number)| PlanCandidate { id: PlanId::new(id).unwrap(), number })
        .collect()
}

#[test]
fn a_plan_is_named_by_number_id_or_a_piece_of_its_id() {
    for (text, expected) in [
        ("1", "0190-aaaa-111111"),
        ("3", "0190-bbbb-123456"),
        ("#3", "0190-bbbb-123456"),
        ("#2024001", "2024001"),
        ("0190-aaaa-222222", "0190-aaaa-222222"),
        ("111111", "0190-aaaa-111111"),
        ("bbbb-1", "0190-bbbb-123456"),
        ("123456", "0190-bbbb-123456"),
        ("444444", "444444"),
        ("2024001", "2024001"),
    ] {
        let found = text.parse::<PlanReference>().unwrap().choose(&candidates()).unwrap();
        assert_eq!(found.as_str(), expected, "{text}");
    }
}

#[test]
fn what_is_not_there_or_not_unique_is_refused() {
    for (text, code, phrase) in [
        ("9", RefusalCode::NotFound, "There is no plan `9` in this session."),
        ("cccccc", RefusalCode::NotFound, "There is no plan `cccccc`"),
        ("0190-aaaa", RefusalCode::Conflict, "could be plan 1 or 2; say which."),
        ("999999", RefusalCode::NotFound, "There is no plan `999999`"),
    ] {
        let refusal = text.parse::<PlanReference>().unwrap().choose(&candidates()).unwrap_err();
        assert_eq!(refusal.code, code);
        assert!(refusal.message.contains(phrase), "{refusal}");
    }
}

#[test]
fn a_number_comes_before_a_piece() {
    let plans = [("111222333", 1), ("x-111222333-x", 111_222_333)]
        .map(|(id, number)| PlanCandidate { id: PlanId::new(id).unwrap(), number });
    let chosen = |text: &str| text.parse::<PlanReference>().unwrap().choose(&plans).unwrap().to_string();
    assert_eq!(chosen("111222333"), "x-111222333-x");
    assert_eq!(chosen("1"), "111222333");
}

#[test]
fn some_texts_name_no_plan() {
    for text in [
        "",
        "0",
        "01",
        "-1",
        "+1",
        "1.5",
        "abcde",
        "a b c d e",
        "../../etc",
        "ab\u{202e}cdef",
        "12345x6789 ",
        "#",
        "#0",
        "#01",
        "##1",
        "#-1",
        "#0190-aaaa",
    ] {
        assert_eq!(text.parse::<PlanReference>().unwrap_err().code, RefusalCode::InvalidArgument, "{text:?}");
    }
    assert_eq!("4294967296".parse::<PlanReference>().unwrap(), PlanReference::Piece("4294967296".to_owned()));
    assert_eq!("012345".parse::<PlanReference>().unwrap(), PlanReference::Piece("012345".to_owned()));
}

#[test]
fn sessions_are_written_channel_and_key() {
    for text in ["web:k3yk3y8x", "telegram:1", "cli:-_-", "legacy:default", "mcp:abcdefgh", "acp:abcdefgh"] {
        assert_eq!(text.parse::<SessionIdentity>().unwrap().to_string(), text);
        assert_eq!(serde_json::from_value::<SessionIdentity>(text.into()).unwrap().to_string(), text);
    }
    let long = format!("web:{}", "x".repeat(65));
    for text in [
        "",
        "web",
        ":",
        "web:",
        ":key",
        "Web:k3yk3y8x",
        "pigeon:k3yk3y8x",
        "web:a b",
        "web:a:b",
        "web:ä",
        "web:../x",
        &long,
    ] {
        assert_eq!(text.parse::<SessionIdentity>().unwrap_err().code, RefusalCode::InvalidArgument, "{text:?}");
        assert!(serde_json::from_value::<SessionIdentity>(text.into()).is_err());
    }
}

#[test]
fn new_keys_are_longer_than_old_ones_may_be() {
    for (key, existing, new) in
        [("1", true, false), ("1234567", true, false), ("12345678", true, true), ("", false, false)]
    {
        assert_eq!(ConversationKey::existing(key).is_ok(), existing, "{key}");
        assert_eq!(ConversationKey::new(key).is_ok(), new, "{key}");
    }
    assert!(ConversationKey::new("x".repeat(64)).is_ok());
    assert!(ConversationKey::new("x".repeat(65)).is_err());
}

#[test]
fn a_digest_is_given_whole() {
    let hex = "0123456789abcdef".repeat(4);
    let digest: Digest = hex.parse().unwrap();
    assert_eq!(digest.to_string(), hex);
    assert_eq!(format!("sha256:{hex}").parse::<Digest>().unwrap(), digest);
    assert_eq!(hex.to_uppercase().parse::<Digest>().unwrap(), digest);
    assert_eq!(digest.short(), "0123456789ab");
    for text in [
        "",
        "sha256:",
        &hex[..63],
        &format!("{hex}0"),
        &format!("sha256:sha256:{hex}"),
        &hex.replace('0', "g"),
        &format!("{} ", &hex[..63]),
    ] {
        let refusal = text.parse::<Digest>().unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{text:?}");
    }
}

#[test]
fn styles_have_names() {
    for style in PlanStyle::ALL {
        assert_eq!(style.as_str().parse::<PlanStyle>().unwrap(), style);
    }
    assert_eq!("Document".parse::<PlanStyle>().unwrap_err().code, RefusalCode::InvalidArgument);
}
