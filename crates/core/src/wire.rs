//! How events are written in the journal: `{"type":"step_begun","plan":"…","execution":"…","step":"s1"}`.

use serde::de::{self, Deserialize, MapAccess};

/// Defines the events of one subject. The text before each variant is its name in the journal; attributes of fields are
/// serde's. What stands behind `=>` is what the event touches besides, as fields of `Touches`.
///
/// Serde's own tagged enums would repeat the subject's id in every variant, because stored entries have it between the
/// name and the other fields.
macro_rules! events {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $(
                $(#[$variant_meta:meta])*
                $name:literal $Variant:ident $({ $( $(#[$field_meta:meta])* $field:ident: $type:ty ),* $(,)? })?
                $(=> { $($touched:ident: $value:expr),* $(,)? })?,
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $Enum {
            $( $(#[$variant_meta])* $Variant $({ $($field: $type),* })?, )*
        }

        impl $Enum {
            /// The names of all its variants in the journal.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The name it has in the journal.
            pub const fn name(&self) -> &'static str {
                match self { $( Self::$Variant { .. } => $name, )* }
            }

            /// What the event touches besides the state of its subject.
            #[allow(unused_variables, reason = "most values need no field of the event")]
            pub fn touches(&self) -> Touches<'_> {
                match self {
                    $(
                        Self::$Variant $({ $($field),* })? => {
                            Touches { $($($touched: $value.into(),)*)? ..Default::default() }
                        }
                    )*
                }
            }

            /// Writes the name, the id of the subject and the fields as one object.
            pub(crate) fn write<I: serde::Serialize, S: serde::Serializer>(
                &self,
                subject_id: I,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match self {
                    $(
                        Self::$Variant $({ $($field),* })? => {
                            #[derive(serde::Serialize)]
                            struct Written<'a, I> {
                                r#type: &'a str,
                                #[serde(flatten)]
                                subject_id: I,
                                $($( $(#[$field_meta])* $field: &'a $type, )*)?
                            }
                            let written = Written { r#type: $name, subject_id, $($($field),*)? };
                            serde::Serialize::serialize(&written, serializer)
                        }
                    )*
                }
            }

            /// Reads the event with this name from the fields after its name and the id of its subject.
            pub(crate) fn read<'de, M: serde::de::MapAccess<'de>>(name: &str, fields: M) -> Result<Self, M::Error> {
                let fields = serde::de::value::MapAccessDeserializer::new(fields);
                match name {
                    $(
                        $name => {
                            #[derive(serde::Deserialize)]
                            struct Read { $($( $(#[$field_meta])* $field: $type, )*)? }
                            let Read { $($($field),*)? } = serde::Deserialize::deserialize(fields)?;
                            Ok(Self::$Variant $({ $($field),* })?)
                        }
                    )*
                    unknown => Err(serde::de::Error::unknown_variant(unknown, Self::NAMES)),
                }
            }
        }
    };
}

pub(crate) use events;

/// Defines an enum whose values are texts. The text of each variant is what it is called in the journal, in the store and
/// in every interface. An enum that is also read from what people write says after `or` what another text is not.
macro_rules! text_enum {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident $(or $refusal:literal)? {
            $( $(#[$variant_meta:meta])* $Variant:ident = $text:tt, )+
        }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$meta])*
        pub enum $Enum {
            $( $(#[$variant_meta])* #[serde(rename = $text)] $Variant, )+
        }

        impl $Enum {
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$Variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$Variant => $text, )+ }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        $(
            impl std::str::FromStr for $Enum {
                type Err = Refusal;

                fn from_str(text: &str) -> Result<Self, Self::Err> {
                    let known = Self::ALL.into_iter().find(|value| value.as_str() == text);
                    known.ok_or_else(|| Refusal::not_among(text, $refusal, &Self::ALL.map(Self::as_str)))
                }
            }
        )?
    };
}

pub(crate) use text_enum;

/// 32 bytes that are written as hexadecimal digits, in messages and in stored entries. What is behind the comma refuses
/// another text.
macro_rules! hex_text {
    ($Type:ident $(with or without $prefix:literal)?, |$text:ident| $refusal:expr) => {
        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($Type))
            }
        }

        impl std::str::FromStr for $Type {
            type Err = Refusal;

            fn from_str($text: &str) -> Result<Self, Refusal> {
                let digits = $text;
                $( let digits = digits.strip_prefix($prefix).unwrap_or(digits); )?
                <[u8; 32] as hex::FromHex>::from_hex(digits).map(Self).map_err(|_| Refusal::invalid($refusal))
            }
        }

        impl TryFrom<String> for $Type {
            type Error = Refusal;

            fn try_from(text: String) -> Result<Self, Refusal> {
                text.parse()
            }
        }

        impl From<$Type> for String {
            fn from(bytes: $Type) -> Self {
                bytes.to_string()
            }
        }
    };
}

pub(crate) use hex_text;

/// Reads the next field of an object, which must have this name.
pub(crate) fn next_field<'de, M: MapAccess<'de>, T: Deserialize<'de>>(
    fields: &mut M,
    name: &'static str,
) -> Result<T, M::Error> {
    match fields.next_key::<String>()? {
        Some(key) if key == name => fields.next_value(),
        Some(_) | None => Err(de::Error::missing_field(name)),
    }
}
