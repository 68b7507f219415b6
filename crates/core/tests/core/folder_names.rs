//! Every session has a folder of its own, on every file system.

use planwright_core::session::{Channel, SessionIdentity};
use proptest::prelude::*;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() }
}

/// Few letters, so that keys which differ only in capitals come up often.
fn any_session() -> impl Strategy<Value = SessionIdentity> {
    (prop::sample::select(Channel::ALL.to_vec()), "[aAbB0_-]{1,4}|[a-zA-Z0-9_-]{1,64}")
        .prop_map(|(channel, key)| format!("{channel}:{key}").parse().unwrap())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_folder_leads_back_to_its_session(session in any_session()) {
        prop_assert_eq!(SessionIdentity::from_folder_name(&session.folder_name()), Some(session));
    }

    #[test]
    fn two_sessions_never_share_a_folder(one in any_session(), other in any_session()) {
        let shared = one.folder_name().to_lowercase() == other.folder_name().to_lowercase();
        prop_assert_eq!(shared, one == other);
    }

    #[test]
    fn a_folder_name_is_harmless_everywhere(session in any_session()) {
        let name = session.folder_name();
        prop_assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-+".contains(c)), "{}", name);
        prop_assert!(name.starts_with(|c: char| c.is_ascii_lowercase()));
        // The longest name most file systems take.
        prop_assert!(name.len() <= 255);
    }

    #[test]
    fn a_name_that_is_read_is_the_one_that_is_written(name in "(web|cli|Web)?[-+]?[aAbB0_+.-]{0,6}") {
        if let Some(session) = SessionIdentity::from_folder_name(&name) {
            prop_assert_eq!(session.folder_name(), name);
        }
    }
}

#[test]
fn names_as_people_see_them() {
    for (session, name) in [
        ("web:k3yk3y8x", "web-k3yk3y8x"),
        ("telegram:Ab_9-Z", "telegram-+ab_9-+z"),
        ("legacy:con", "legacy-con"),
        ("cli:-", "cli--"),
    ] {
        assert_eq!(session.parse::<SessionIdentity>().unwrap().folder_name(), name);
    }
    for invalid in
        ["", "web", "web-", "-abc", "nobody-abc", "web-Abc", "web-++a", "web-+", "web-+1", "web-a/b", "WEB-a"]
    {
        assert_eq!(SessionIdentity::from_folder_name(invalid), None, "{invalid}");
    }
}
