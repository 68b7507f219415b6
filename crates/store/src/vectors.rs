//! Vectors as they are stored: 32-bit numbers, the low byte first.

pub(crate) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// `None` for bytes that are no vector; it is made anew then.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Vec<f32>> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(4) {
        return None;
    }
    let number = |bytes: &[u8]| bytes.try_into().ok().map(f32::from_le_bytes);
    bytes.chunks_exact(4).map(number).collect()
}
