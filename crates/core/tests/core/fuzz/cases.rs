//! The cases of a fuzz target. An ordinary test run has the same ones every time, so that what fails for one fails for
//! all; `make fuzz` sets `PLANWRIGHT_FUZZ_SECONDS` and looks for new ones.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use bolero::TypeGenerator;
use bolero::generator::bolero_generator::driver::{ByteSliceDriver, Options};

const SEED: u64 = 20_261_115;
const CASES: usize = 4_000;
const MAX_LENGTH: u64 = 600;

/// Calls the target with every case.
#[allow(clippy::disallowed_methods, reason = "the time to run comes from the environment")]
pub(crate) fn for_each<T>(target: impl Fn(&T) + UnwindSafe + RefUnwindSafe)
where
    T: TypeGenerator + Debug + Clone + UnwindSafe + RefUnwindSafe + 'static,
{
    let seconds = std::env::var("PLANWRIGHT_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    match seconds.map(Duration::from_secs) {
        Some(time) => bolero::check!().with_test_time(time).with_type::<T>().cloned().for_each(|case| target(&case)),
        None => fixed::<T>(SEED).take(CASES).for_each(|case| target(&case)),
    }
}

fn fixed<T: TypeGenerator>(seed: u64) -> impl Iterator<Item = T> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        let length = usize::try_from(next(&mut state) % MAX_LENGTH).unwrap_or_default();
        let bytes: Vec<u8> = (0..length).map(|_| next(&mut state).to_le_bytes()[0]).collect();
        T::generate(&mut ByteSliceDriver::new(&bytes, &Options::default()))
    })
    .flatten()
}

/// `SplitMix64`: small, and the same on every machine.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[test]
fn an_ordinary_run_has_the_same_cases_every_time() {
    let some = || fixed::<(u8, Vec<u8>, String)>(SEED).take(100).collect::<Vec<_>>();
    assert_eq!(some(), some());
    assert!(some().windows(2).any(|pair| pair[0] != pair[1]));
}
