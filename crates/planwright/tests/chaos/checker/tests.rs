//! Each rule finds the history that breaks it.
