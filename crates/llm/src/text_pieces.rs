//! Text in small pieces, for models that have all of it at once.

use planwright_engine::model::Listener;

/// Passes the text on word by word, each with the space after it, so that the pieces joined are the text.
pub(crate) fn stream_words(text: &str, listener: &dyn Listener) {
    for piece in text.split_inclusive(char::is_whitespace) {
        listener.text(piece);
    }
}
