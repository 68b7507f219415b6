//! Why a connection ended, as far as this side knows. The first reason stays.

use std::sync::{Arc, OnceLock};

#[derive(Debug, Clone, Default)]
pub(crate) struct DisconnectReason(Arc<OnceLock<String>>);

impl DisconnectReason {
    pub(crate) fn set(&self, reason: impl Into<String>) {
        let _ = self.0.set(reason.into());
    }

    pub(crate) fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}
