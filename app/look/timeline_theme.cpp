#include "app/look/timeline_theme.h"

#include "app/look/kind_palette.h"

namespace app {

QColor mixed(const QColor& from, const QColor& to, double share)
{
    const auto mix = [share](int a, int b) { return static_cast<int>(a + (b - a) * share + 0.5); };
    return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

TimelineTheme TimelineTheme::from(const QPalette& palette)
{
    TimelineTheme theme;
    theme.background = palette.color(QPalette::Base);
    theme.text = palette.color(QPalette::Text);
    theme.dark = theme.background.lightnessF() < 0.5;
    theme.band = mixed(theme.background, theme.text, 0.025);
    theme.header = mixed(theme.background, theme.text, theme.dark ? 0.05 : 0.04);
    theme.grid = mixed(theme.background, theme.text, theme.dark ? 0.11 : 0.09);
    theme.border = mixed(theme.background, theme.text, 0.20);
    for (double share = 0.55; share <= 1; share += 0.05) {
        theme.dimText = mixed(theme.background, theme.text, share);
        if (contrastRatio(theme.dimText, theme.header) >= 4.6)
            break;
    }
    theme.accent = palette.color(QPalette::Highlight);
    theme.found = theme.dark ? QColor(0xff, 0x6e, 0xd6) : QColor(0xb8, 0x00, 0x8f);
    return theme;
}

} // namespace app
