//! Faults that are put in on purpose, to see that the simulation finds them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// The store takes what comes from a process that lost the session.
    FencesAreForgotten,
    /// The store carries a request out as often as it is sent.
    RequestsAreForgotten,
    /// The store says that something is written and does not keep it.
    WritesAreLost,
    /// The store reads the words of one session to another.
    SessionsAreMixed,
    /// The store finds what one session remembers for another.
    MemoriesAreMixed,
    /// A tool that changes things says that it may be repeated.
    ChangesAreRepeated,
    /// A tool that changes things says that it only reads.
    ChangesPassForReading,
}

impl Sabotage {
    pub(crate) const ALL: [Self; 7] = [
        Self::FencesAreForgotten,
        Self::RequestsAreForgotten,
        Self::WritesAreLost,
        Self::SessionsAreMixed,
        Self::MemoriesAreMixed,
        Self::ChangesAreRepeated,
        Self::ChangesPassForReading,
    ];

    /// One that finds it, as far as is known, so that not all of them have to be tried.
    pub(crate) const fn seed(self) -> u64 {
        match self {
            Self::WritesAreLost | Self::SessionsAreMixed => 1,
            Self::MemoriesAreMixed => 4,
            Self::ChangesPassForReading => 3,
            Self::ChangesAreRepeated => 46,
            Self::FencesAreForgotten => 62,
            Self::RequestsAreForgotten => 79,
        }
    }
}
