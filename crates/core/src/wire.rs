//! How events are written in the journal: `{"type":"step_begun","plan":"…","execution":"…","step":"s1"}`.

use serde::de::{self, Deserialize, MapAccess};

/// Defines the events of one subject. The text before each variant is its name in the journal; attributes of fields are
/// serde's.
///
/// Serde's own tagged enums would repeat the subject's id in every variant, because stored entries have it between the
/// name and the other fields.
macro_rules! events {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $(
                $(#[$variant_meta:meta])*
                $name:literal $Variant:ident $({ $( $(#[$field_meta:meta])* $field:ident: $type:ty ),* $(,)? })?,
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
