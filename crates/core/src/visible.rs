//! Text as a person may trust it: characters that hide, reorder, move or strike text are written out, and so are marks of which so
//! many stand on one letter that they cover other text.
//!
//! The rendering is one-to-one apart from Windows line ends, which look like line ends, the selector between text
//! and emoji after a symbol, and the joiner between two emoji that are drawn as one.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// How many marks may stand on one letter. Living languages need no more.
const MAX_MARKS: usize = 4;

/// Writes `⟦U+202E⟧` for every character that cannot be seen or that changes how others are seen. Line ends and
/// tabs stay, and the bracket itself is written out so that the notation cannot be faked.
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut marks = MarkCount::default();
    if text.chars().all(|c| is_plain(c) && marks.fits(c)) {
        return Cow::Borrowed(text);
    }
    let mut marks = MarkCount::default();
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    // Whether the text so far ends in an emoji, with or without its selector.
    let mut after_emoji = false;
    while let Some(c) = chars.next() {
        let line_end = c == '\r' && chars.peek() == Some(&'\n');
        if line_end {
            continue;
        }
        let selects = chooses_emoji(c, before);
        let joins = c == '\u{200d}' && after_emoji && chars.peek().copied().is_some_and(is_emoji);
        if !(is_plain(c) || selects || joins) {
            write_out(&mut shown, c);
            // What follows stands on the bracket.
            marks = MarkCount::default();
        } else if marks.fits(c) {
            shown.push(c);
        } else {
            write_out(&mut shown, c);
        }
        after_emoji = is_emoji(c) || (selects && after_emoji);
        before = c;
    }
    Cow::Owned(shown)
}

fn write_out(shown: &mut String, c: char) {
    shown.push_str(&format!("⟦U+{:04X}⟧", u32::from(c)));
}

/// The marks that stand on the last letter.
#[derive(Debug, Default)]
struct MarkCount(usize);

impl MarkCount {
    /// Whether one more character may be shown.
    fn fits(&mut self, c: char) -> bool {
        self.0 = if is_mark(c) { self.0 + 1 } else { 0 };
        self.0 <= MAX_MARKS
    }
}

/// Whether the character is drawn on the one before it and takes no room of its own.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && matches!(c.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Foreign text inside a message of ours: visible, short and in quotation marks.
pub fn quoted(text: &str) -> String {
    const MAX_CHARACTERS: usize = 80;
    let shown = visible(text).replace(['\n', '\t'], " ");
    if shown.chars().count() > MAX_CHARACTERS {
        format!("`{}…`", shown.chars().take(MAX_CHARACTERS).collect::<String>())
    } else {
        format!("`{shown}`")
    }
}

/// After a symbol, and once, two selectors only choose between text and emoji; anywhere else they hide something.
fn chooses_emoji(c: char, before: char) -> bool {
    let symbol = matches!(before, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}');
    matches!(c, '\u{fe0e}' | '\u{fe0f}') && symbol && is_plain(before)
}

/// What a joiner can put together: pictures, their skin tones, and the symbols that stand in joined emoji.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2194}' | '\u{2195}' | '\u{2b1b}')
}

fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => true,
        _ if c.is_control() => false,
        '\u{27e6}' => false,
        // Joiners, soft hyphen and fillers that take no room. These and the next are what Unicode calls default ignorable.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}' => false,
        // Mongolian separators and variation selectors.
        '\u{180b}'..='\u{180f}' => false,
        // Bidirectional marks and zero-width characters.
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        // Line and paragraph separators.
        '\u{2028}' | '\u{2029}' => false,
        // Variation selectors, and a blank that looks like a space.
        '\u{fe00}'..='\u{fe0f}' | '\u{2800}' => false,
        // Byte order mark, annotations, shorthand and musical format controls, tags.
        '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => false,
        '\u{e0000}'..='\u{e0fff}' => false,
        // Strokes and shapes over a letter: text in which each letter has one looks struck out.
        '\u{334}'..='\u{338}' | '\u{488}' | '\u{489}' | '\u{20d2}' | '\u{20d3}' | '\u{20d8}'..='\u{20da}' => false,
        '\u{20dd}'..='\u{20e0}' | '\u{20e2}' | '\u{20e4}'..='\u{20e6}' | '\u{20ea}' | '\u{20eb}' => false,
        '\u{a670}'..='\u{a672}' => false,
        // Hieroglyphs that arrange others, and blanks among them.
        '\u{13430}'..='\u{1345f}' => false,
        _ => c.general_category() != GeneralCategory::Format,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown() {
        for (text, expected) in [
            ("plain\n\ttext ✓ ⚠\u{fe0f} żółć 漢字", "plain\n\ttext ✓ ⚠\u{fe0f} żółć 漢字"),
            ("rm\u{fe0f} ⚠\u{fe0f}\u{fe0f}", "rm⟦U+FE0F⟧ ⚠\u{fe0f}⟦U+FE0F⟧"),
            ("👩\u{200d}💻 👩🏽\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈", "👩\u{200d}💻 👩🏽\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈"),
            ("👩\u{200d}a a\u{200d}👩 👩\u{200d}\u{200d}💻", "👩⟦U+200D⟧a a⟦U+200D⟧👩 👩⟦U+200D⟧⟦U+200D⟧💻"),
            ("a\u{202e}b", "a⟦U+202E⟧b"),
            ("a\u{200b}b\u{feff}", "a⟦U+200B⟧b⟦U+FEFF⟧"),
            ("\u{1b}[2Jgone", "⟦U+001B⟧[2Jgone"),
            ("one\r\ntwo\rthree", "one\ntwo⟦U+000D⟧three"),
            ("⟦U+202E⟧", "⟦U+27E6⟧U+202E⟧"),
            ("\u{e0041}", "⟦U+E0041⟧"),
            ("\0", "⟦U+0000⟧"),
            ("a\u{70f}b\u{600}", "a⟦U+070F⟧b⟦U+0600⟧"),
            ("\u{13430}\u{13441}\u{1345f}", "⟦U+13430⟧⟦U+13441⟧⟦U+1345F⟧"),
            ("\u{110bd}", "⟦U+110BD⟧"),
            ("d\u{336}e\u{338}l\u{20dd}", "d⟦U+0336⟧e⟦U+0338⟧l⟦U+20DD⟧"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn few_marks_stand_on_a_letter() {
        for (text, expected) in [
            ("e\u{301}\u{323} ที่ हिन्दी שָׁ\u{591}ל", "e\u{301}\u{323} ที่ हिन्दी שָׁ\u{591}ל"),
            ("a\u{300}\u{301}\u{302}\u{303}b", "a\u{300}\u{301}\u{302}\u{303}b"),
            (
                "a\u{300}\u{301}\u{302}\u{303}\u{304}\u{20dd}b\u{305}",
                "a\u{300}\u{301}\u{302}\u{303}⟦U+0304⟧⟦U+20DD⟧b\u{305}",
            ),
            // A hidden character is no letter to put more marks on.
            ("a\u{300}\u{300}\u{300}\u{34f}\u{300}\u{300}", "a\u{300}\u{300}\u{300}⟦U+034F⟧\u{300}\u{300}"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        let zalgo = format!("a{}", "\u{301}".repeat(1_000));
        assert_eq!(visible(&zalgo).matches('\u{301}').count(), MAX_MARKS);
    }

    #[test]
    fn foreign_text_in_messages_is_short() {
        assert_eq!(quoted("a\nb"), "`a b`");
        assert!(quoted(&"x".repeat(1000)).chars().count() < 100);
    }
}
