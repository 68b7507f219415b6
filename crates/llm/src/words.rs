//! Text in small pieces, for models that have all of it at once.

use planwright_engine::model::Listener;

/// Tells the text word by word, each with the space after it, so that the pieces joined are the text.
pub(crate) fn tell(text: &str, listener: &dyn Listener) {
    for piece in text.split_inclusive(char::is_whitespace) {
        listener.text(piece);
    }
}
