//! Files in the session's own folder.
