//! Attempts to leave the sandbox. Each is made without a sandbox, where it must work, and at each restricted level, where
//! the kernel must refuse it. An attempt that does not work without a sandbox would prove nothing.
//!
//! This program is also what runs inside: `escapes attempt NAME` makes one attempt and prints its result.

#![cfg_attr(not(target_os = "linux"), allow(unused))]
#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

#[cfg(target_os = "linux")]
mod attempts;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod layers;
#[cfg(target_os = "linux")]
mod stage;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, name] = arguments.as_slice()
        && word == "attempt"
    {
        return attempts::make(name);
    }
    if arguments.get(1).is_some_and(|word| word == "user") {
        println!("{}", calls::effective_user());
        return std::process::ExitCode::SUCCESS;
    }
    let mut trials: Vec<_> = attempts::ALL.iter().map(stage::trial).collect();
    trials.push(libtest_mimic::Trial::test("there_are_enough_attempts", || {
        let count = attempts::ALL.len();
        if count >= 40 { Ok(()) } else { Err(format!("{count} attempts").into()) }
    }));
    trials.push(libtest_mimic::Trial::test("what_this_system_permits_is_used", stage::check_support));
    trials.push(libtest_mimic::Trial::test("the_page_says_which_layer_refuses_what", layers::check_page));
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: the attempts are written for Linux");
}
