//! One declaration per setting. From it come the key in `planwright.toml`, the variable, the words of an error, the default,
//! and the line in `--help` and in `docs/configuration.md`.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::time::Duration;

use planwright_core::visible::quoted;
use serde::de::{DeserializeOwned, Deserializer, Visitor};

/// A setting, for the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// `turn.model_calls`
    pub(crate) key: String,
    /// `PLANWRIGHT_TURN_MODEL_CALLS`
    pub(crate) variable: String,
    /// What values it takes.
    pub(crate) kind: String,
    pub(crate) default: String,
    pub(crate) about: &'static str,
}

impl Setting {
    pub(super) fn new(section: &str, name: &str, kind: String, default: String, about: &'static str) -> Self {
        let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        Self { variable: variable_of(&key), key, kind, default, about }
    }
}

/// `limits.steps` is set by `PLANWRIGHT_LIMITS_STEPS`.
pub(super) fn variable_of(key: &str) -> String {
    format!("PLANWRIGHT_{}", key.to_ascii_uppercase().replace('.', "_"))
}

/// A type of values in the file and in a variable.
pub(super) trait SettingValue: DeserializeOwned {
    type Value;

    /// From a variable.
    fn parse(text: &str) -> Result<Self, String>;
    /// What values it takes, for the reference.
    fn kind() -> String;
    fn get(self) -> Self::Value;
    /// A default, for the reference.
    fn show(value: &Self::Value) -> String;
}

/// A section of `planwright.toml`. Each field has a sentence for the reference, a type and a default. A field without a
/// default says after `=>` what happens if it is not set.
macro_rules! section {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident, $section:literal {
            $( $about:literal $field:ident: $kind:ty $(= $default:expr)? $(=> $unset:literal)?, )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $visibility struct $name {
            $( $field: Option<$kind>, )*
        }

        impl $name {
            /// Replaces what the file says by what the variables say.
            $visibility fn read_variables(&mut self) -> Result<(), $crate::failure::Failure> {
                $(
                    let name = $crate::config::setting::variable_of(concat!($section, ".", stringify!($field)));
                    let parse = <$kind as $crate::config::setting::SettingValue>::parse;
                    if let Some(value) = $crate::config::variables::variable(&name, parse)? {
                        self.$field = Some(value);
                    }
                )*
                Ok(())
            }

            /// Replaces what the file and the variables say about guarded settings by what the store says.
            $visibility fn keep_guarded(
                &mut self,
                stored: &$crate::config::guarded::GuardedSettings,
                own: &$crate::config::guarded::GuardedSettings,
            ) -> Result<(), $crate::failure::Failure> {
                $(
                    let key = concat!($section, ".", stringify!($field));
                    if $crate::config::guarded::is_guarded(key) {
                        let (stored, own) = (stored.get(key).map(String::as_str), own.get(key).map(String::as_str));
                        let text = $crate::config::guarded::in_force(key, stored, own);
                        let parse = <$kind as $crate::config::setting::SettingValue>::parse;
                        self.$field = text.map(parse).transpose().map_err(|message| {
                            $crate::failure::Failure::usage(format!("the setting {key} of the store: {message}"))
                        })?;
                    }
                )*
                Ok(())
            }

            /// Every setting of the section, for the reference.
            $visibility fn settings() -> Vec<$crate::config::setting::Setting> {
                use $crate::config::setting::{Setting, SettingValue};
                vec![$({
                    let default = section!(@shown $kind, $(= $default)? $(=> $unset)?);
                    Setting::new($section, stringify!($field), <$kind as SettingValue>::kind(), default, $about)
                }),*]
            }

            $( section!(@getter $visibility $field, $kind, $(= $default)? $(=> $unset)?); )*
        }
    };

    (@shown $kind:ty, => $unset:literal) => { $unset.to_owned() };
    (@shown $kind:ty, = $default:expr) => { <$kind as SettingValue>::show(&$default) };

    (@getter $visibility:vis $field:ident, $kind:ty, => $unset:literal) => {
        $visibility fn $field(&mut self) -> Option<<$kind as $crate::config::setting::SettingValue>::Value> {
            self.$field.take().map($crate::config::setting::SettingValue::get)
        }
    };
    (@getter $visibility:vis $field:ident, $kind:ty, = $default:expr) => {
        $visibility fn $field(&mut self) -> <$kind as $crate::config::setting::SettingValue>::Value {
            self.$field.take().map_or_else(|| $default, $crate::config::setting::SettingValue::get)
        }
    };
}
pub(super) use section;

/// A whole number from 1 up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Positive<N>(N);

/// A whole number from 0 up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WholeNumber<N>(N);

/// A number of seconds from 1 up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seconds(Duration);

/// `true` or `false`; in a variable also yes, no, on, off, 1 and 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(super) struct Switch(bool);

const FROM_ONE: &str = "a whole number from 1 up";
const FROM_ZERO: &str = "a whole number from 0 up";
const SECONDS: &str = "a whole number of seconds from 1 up";

fn number<N: TryFrom<u64>>(number: u64, least: u64, expected: &str) -> Result<N, String> {
    let fits = N::try_from(number).ok().filter(|_| number >= least);
    fits.ok_or_else(|| format!("`{number}` is not {expected}, or is too large"))
}

fn parse_number<N: TryFrom<u64>>(text: &str, least: u64, expected: &str) -> Result<N, String> {
    let parsed = text.parse().map_err(|_| format!("{} is not {expected}", quoted(text)))?;
    number(parsed, least, expected)
}

macro_rules! number_value {
    ($name:ident, $least:literal, $expected:ident) => {
        impl<N: TryFrom<u64> + Copy + Display> SettingValue for $name<N> {
            type Value = N;

            fn parse(text: &str) -> Result<Self, String> {
                parse_number(text, $least, $expected).map(Self)
            }

            fn kind() -> String {
                $expected.to_owned()
            }

            fn get(self) -> N {
                self.0
            }

            fn show(value: &N) -> String {
                value.to_string()
            }
        }

        impl<'de, N: TryFrom<u64>> serde::Deserialize<'de> for $name<N> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let visitor = NumberVisitor { least: $least, expected: $expected, kind: PhantomData };
                deserializer.deserialize_i64(visitor).map(Self)
            }
        }
    };
}

number_value!(Positive, 1, FROM_ONE);
number_value!(WholeNumber, 0, FROM_ZERO);

impl SettingValue for Seconds {
    type Value = Duration;

    fn parse(text: &str) -> Result<Self, String> {
        parse_number::<u32>(text, 1, SECONDS).map(Self::of)
    }

    fn kind() -> String {
        SECONDS.to_owned()
    }

    fn get(self) -> Duration {
        self.0
    }

    fn show(value: &Duration) -> String {
        value.as_secs().to_string()
    }
}

impl Seconds {
    fn of(seconds: u32) -> Self {
        Self(Duration::from_secs(seconds.into()))
    }
}

impl<'de> serde::Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = NumberVisitor { least: 1, expected: SECONDS, kind: PhantomData };
        deserializer.deserialize_i64(visitor).map(Self::of)
    }
}

/// Tells what is expected in the words of the reference, not in those of a programming language.
struct NumberVisitor<N> {
    least: u64,
    expected: &'static str,
    kind: PhantomData<N>,
}

impl<N: TryFrom<u64>> Visitor<'_> for NumberVisitor<N> {
    type Value = N;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<N, E> {
        let wrong = || format!("`{value}` is not {}", self.expected);
        let positive = u64::try_from(value).map_err(|_| E::custom(wrong()))?;
        self.visit_u64(positive)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<N, E> {
        number(value, self.least, self.expected).map_err(E::custom)
    }
}

impl SettingValue for Switch {
    type Value = bool;

    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(Self(true)),
            "false" | "no" | "off" | "0" => Ok(Self(false)),
            _ => Err(format!("{} is neither `true` nor `false`", quoted(text))),
        }
    }

    fn kind() -> String {
        "`true` or `false`".to_owned()
    }

    fn get(self) -> bool {
        self.0
    }

    fn show(value: &bool) -> String {
        value.to_string()
    }
}

/// One of a few names. The type itself says in serde how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice<T>(T);

pub(super) trait Choices: DeserializeOwned + Copy + PartialEq + 'static {
    const NAMES: &'static [(&'static str, Self)];
    /// Names of earlier versions, and what they mean now.
    const EARLIER: &'static [(&'static str, Self)] = &[];
}

impl<T: Choices> SettingValue for Choice<T> {
    type Value = T;

    fn parse(text: &str) -> Result<Self, String> {
        let mut known = T::NAMES.iter().chain(T::EARLIER);
        let found = known.find(|(name, _)| *name == text).map(|(_, value)| Self(*value));
        found.ok_or_else(|| format!("{} is none of {}", quoted(text), names::<T>(", ")))
    }

    fn kind() -> String {
        names::<T>(" or ")
    }

    fn get(self) -> T {
        self.0
    }

    fn show(value: &T) -> String {
        let name = T::NAMES.iter().find(|(_, other)| other == value);
        name.map_or_else(String::new, |(name, _)| format!("`{name}`"))
    }
}

fn names<T: Choices>(between: &str) -> String {
    T::NAMES.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

impl<'de, T: Choices> serde::Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Text that is checked when it is read. In the file it is a string.
#[derive(Debug)]
pub(super) struct Checked<C: Check>(C::Value);

pub(super) trait Check {
    type Value: fmt::Debug;
    const KIND: &'static str;
    fn check(text: &str) -> Result<Self::Value, String>;
    fn show(value: &Self::Value) -> String;
}

impl<C: Check> Checked<C> {
    pub(super) fn value(&self) -> &C::Value {
        &self.0
    }
}

impl<C: Check> SettingValue for Checked<C> {
    type Value = C::Value;

    fn parse(text: &str) -> Result<Self, String> {
        C::check(text).map(Self)
    }

    fn kind() -> String {
        C::KIND.to_owned()
    }

    fn get(self) -> C::Value {
        self.0
    }

    fn show(value: &C::Value) -> String {
        C::show(value)
    }
}

impl<'de, C: Check> serde::Deserialize<'de> for Checked<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Several of them: a list in the file, separated by commas in a variable.
#[derive(Debug, serde::Deserialize)]
#[serde(bound = "")]
pub(super) struct List<C: Check>(Vec<Checked<C>>);

impl<C: Check> SettingValue for List<C> {
    type Value = Vec<C::Value>;

    fn parse(text: &str) -> Result<Self, String> {
        let items: Result<_, String> = text.split(',').map(|item| Checked::parse(item.trim())).collect();
        items.map(Self)
    }

    fn kind() -> String {
        format!("a list: {}", C::KIND)
    }

    fn get(self) -> Vec<C::Value> {
        self.0.into_iter().map(Checked::get).collect()
    }

    fn show(value: &Vec<C::Value>) -> String {
        if value.is_empty() {
            return "empty".to_owned();
        }
        value.iter().map(C::show).collect::<Vec<_>>().join(", ")
    }
}
