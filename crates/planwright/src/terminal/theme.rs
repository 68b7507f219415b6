//! The colours as a person wants them. The palette says what each style means; a theme says how it is drawn.

use std::sync::atomic::{AtomicU8, Ordering};

use anstyle::{AnsiColor, Color, Style};

/// How styles are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// The sixteen colours of the terminal, as the palette names them.
    #[default]
    Standard,
    /// For a light background: nothing yellow or light blue.
    Light,
    /// For people who cannot read dim text.
    Contrast,
    /// No colours; bold, dim and underlined text stays.
    Mono,
}

static CHOSEN: AtomicU8 = AtomicU8::new(0);

impl Theme {
    pub(crate) const ALL: [(&'static str, Self, &'static str); 4] = [
        ("standard", Self::Standard, "the colours of the terminal"),
        ("light", Self::Light, "for a light background"),
        ("contrast", Self::Contrast, "nothing is dim"),
        ("mono", Self::Mono, "no colours"),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name)).map(|(_, theme, _)| theme)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, theme, _)| *theme == self).map_or("standard", |(name, _, _)| name)
    }

    /// Everything is drawn with it from now on.
    pub(crate) fn choose(self) {
        CHOSEN.store(self as u8, Ordering::Relaxed);
    }

    pub(crate) fn chosen() -> Self {
        let number = CHOSEN.load(Ordering::Relaxed);
        Self::ALL.into_iter().map(|(_, theme, _)| theme).find(|theme| *theme as u8 == number).unwrap_or_default()
    }

    /// A style of the palette as it is drawn.
    pub(crate) fn drawn(self, style: Style) -> Style {
        match self {
            Self::Standard => style,
            Self::Light => style.fg_color(style.get_fg_color().map(on_light)),
            Self::Contrast => style.effects(style.get_effects().remove(anstyle::Effects::DIMMED)),
            Self::Mono => style.fg_color(None),
        }
    }
}

const fn on_light(color: Color) -> Color {
    match color {
        Color::Ansi(AnsiColor::Yellow) => Color::Ansi(AnsiColor::Magenta),
        Color::Ansi(AnsiColor::Cyan) => Color::Ansi(AnsiColor::Blue),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::palette::{COMMAND, DIM, WARNING};

    #[test]
    fn a_theme_has_a_name_and_changes_how_styles_are_drawn() {
        for (name, theme, _) in Theme::ALL {
            assert_eq!((Theme::named(name), theme.name()), (Some(theme), name));
        }
        assert_eq!(Theme::named("pink"), None);
        assert_eq!(Theme::Standard.drawn(WARNING), WARNING);
        assert_eq!(Theme::Mono.drawn(WARNING).get_fg_color(), None);
        assert!(Theme::Contrast.drawn(DIM).is_plain());
        assert_eq!(Theme::Light.drawn(COMMAND).get_fg_color(), Some(Color::Ansi(AnsiColor::Blue)));
    }
}
