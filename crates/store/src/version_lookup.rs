//! Which versions of a plan the stores have in an index. An index of all versions would slow down every commit.

/// The first versions of a plan are all in the index. Most plans have no more.
const DENSE: u32 = 32;
/// After them, every version that is a multiple of this is in the index. Both numbers are also in the migrations and in
/// the queries.
const STEP: u32 = 32;

/// The last version up to this one that is in the index. The entry that made `version` is searched from there on.
pub(crate) const fn indexed(version: u32) -> u32 {
    if version <= DENSE { version } else { version - version % STEP }
}
