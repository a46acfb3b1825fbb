#include "app/look/theme.h"

#include <QWidget>

namespace app {

namespace {

struct Tones {
    QRgb window, base, alternate, button, text, muted, line, accent, accentText, tip, tipText;
};

constexpr Tones kLight = {0xfff3f4f7, 0xffffffff, 0xfff7f8fa, 0xffffffff, 0xff1d2229, 0xff5c6672,
                          0xffd3d8df, 0xff3657c8, 0xffffffff, 0xff262b33, 0xfff3f4f7};
constexpr Tones kDark = {0xff1d2026, 0xff16181d, 0xff1b1e24, 0xff2b3038, 0xffe4e7eb, 0xff98a2ae,
                         0xff363c46, 0xff7592f5, 0xff0f1218, 0xffe4e7eb, 0xff1d2026};

} // namespace

QPalette themePalette(bool dark)
{
    const Tones& t = dark ? kDark : kLight;
    QPalette palette;
    const auto set = [&](QPalette::ColorRole role, QRgb color) { palette.setColor(role, QColor::fromRgb(color)); };
    set(QPalette::Window, t.window);
    set(QPalette::WindowText, t.text);
    set(QPalette::Base, t.base);
    set(QPalette::AlternateBase, t.alternate);
    set(QPalette::Button, t.button);
    set(QPalette::ButtonText, t.text);
    set(QPalette::Text, t.text);
    set(QPalette::BrightText, t.accentText);
    set(QPalette::PlaceholderText, t.muted);
    set(QPalette::Highlight, t.accent);
    set(QPalette::HighlightedText, t.accentText);
    set(QPalette::Link, t.accent);
    set(QPalette::LinkVisited, t.accent);
    set(QPalette::ToolTipBase, t.tip);
    set(QPalette::ToolTipText, t.tipText);
    set(QPalette::Light, dark ? 0xff3a414c : 0xffffffff);
    set(QPalette::Midlight, dark ? 0xff323842 : 0xffe9ecf0);
    set(QPalette::Mid, t.line);
    set(QPalette::Dark, dark ? 0xff0e1013 : 0xffb4bcc7);
    set(QPalette::Shadow, dark ? 0xff000000 : 0xff8a94a1);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, blend(QColor(t.window), QColor(t.text), 0.42));
    palette.setColor(QPalette::Disabled, QPalette::Base, QColor(t.window));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, QColor(t.line));
    return palette;
}

bool isDark(const QPalette& palette)
{
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

Shades shades(const QPalette& palette)
{
    const bool dark = isDark(palette);
    return {
        .line = palette.color(QPalette::Mid),
        .muted = palette.color(QPalette::PlaceholderText),
        .panel = dark ? QColor(0x23, 0x27, 0x2e) : QColor(0xff, 0xff, 0xff),
        .good = dark ? QColor(0x4c, 0xc3, 0x8a) : QColor(0x12, 0x7a, 0x4b),
        .bad = dark ? QColor(0xff, 0x7b, 0x72) : QColor(0xb4, 0x23, 0x18),
        .warning = dark ? QColor(0xe3, 0xb3, 0x41) : QColor(0x8a, 0x5a, 0x00),
    };
}

void setTextColor(QWidget* widget, const QColor& color)
{
    QPalette palette; // no other role is set, so only this one is fixed
    palette.setColor(QPalette::WindowText, color);
    widget->setPalette(palette);
}

QColor blend(const QColor& under, const QColor& over, double share)
{
    const auto mix = [&](int a, int b) { return static_cast<int>(a + (b - a) * share); };
    return {mix(under.red(), over.red()), mix(under.green(), over.green()), mix(under.blue(), over.blue())};
}

} // namespace app
