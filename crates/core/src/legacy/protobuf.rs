//! The wire format of Protocol Buffers, read without a schema.

use super::fields::Reason;

/// The value of a field as it is written. What it means is up to who reads the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'a> {
    Number(u64),
    /// Eight bytes, such as of a `double`.
    Fixed(u64),
    /// Text, bytes, or a message.
    Bytes(&'a [u8]),
}

impl<'a> WireValue<'a> {
    pub(super) fn text(self) -> Result<&'a str, Reason> {
        std::str::from_utf8(self.bytes()?).map_err(|error| format!("a text in it is not UTF-8: {error}"))
    }

    pub(super) fn bytes(self) -> Result<&'a [u8], Reason> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) | Self::Fixed(_) => Err("a field in it has another type".to_owned()),
        }
    }

    pub(super) fn number(self) -> Result<u64, Reason> {
        match self {
            Self::Number(number) | Self::Fixed(number) => Ok(number),
            Self::Bytes(_) => Err("a field in it has another type".to_owned()),
        }
    }
}

/// The fields of a message in their order, each with its number.
pub(super) fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, WireValue<'_>)>, Reason> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => WireValue::Number(varint(&mut bytes)?),
            1 => WireValue::Fixed(u64::from_le_bytes(fixed(&mut bytes)?)),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).map_err(|_| cut_off())?;
                WireValue::Bytes(take(&mut bytes, length)?)
            }
            5 => WireValue::Number(u64::from(u32::from_le_bytes(fixed(&mut bytes)?))),
            other => return Err(format!("it is no Protocol Buffers message (a field of type {other})")),
        };
        found.push((key >> 3, value));
    }
    Ok(found)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Reason> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let [byte] = fixed::<1>(bytes)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number in it is too long".to_owned())
}

fn fixed<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Reason> {
    take(bytes, N)?.try_into().map_err(|_| cut_off())
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], Reason> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or_else(cut_off)?;
    *bytes = rest;
    Ok(taken)
}

fn cut_off() -> Reason {
    "it ends in the middle".to_owned()
}
