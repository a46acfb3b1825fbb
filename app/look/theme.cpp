#include "app/look/theme.h"

#include "app/look/kind_palette.h"
#include "app/look/style.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QSettings>
#include <QToolTip>
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

constexpr auto kThemeKey = "theme";
constexpr auto kDesktopKey = "desktopIsDark";
constexpr auto kGroup = "org.freedesktop.appearance";
constexpr auto kScheme = "color-scheme"; // 0 no preference, 1 dark, 2 light
constexpr auto kService = "org.freedesktop.portal.Desktop";
constexpr auto kPath = "/org/freedesktop/portal/desktop";
constexpr auto kInterface = "org.freedesktop.portal.Settings";

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
    const auto mix = [share](int a, int b) { return static_cast<int>(a + (b - a) * share + 0.5); };
    return {mix(under.red(), over.red()), mix(under.green(), over.green()), mix(under.blue(), over.blue())};
}

TimelineTheme TimelineTheme::from(const QPalette& palette)
{
    TimelineTheme theme;
    theme.background = palette.color(QPalette::Base);
    theme.text = palette.color(QPalette::Text);
    theme.dark = theme.background.lightnessF() < 0.5;
    theme.band = blend(theme.background, theme.text, 0.025);
    theme.header = blend(theme.background, theme.text, theme.dark ? 0.05 : 0.04);
    theme.grid = blend(theme.background, theme.text, theme.dark ? 0.11 : 0.09);
    theme.border = blend(theme.background, theme.text, 0.20);
    for (double share = 0.55; share <= 1; share += 0.05) {
        theme.dimText = blend(theme.background, theme.text, share);
        if (contrastRatio(theme.dimText, theme.header) >= 4.6)
            break;
    }
    theme.accent = palette.color(QPalette::Highlight);
    theme.found = theme.dark ? QColor(0xff, 0x6e, 0xd6) : QColor(0xb8, 0x00, 0x8f);
    return theme;
}

Appearance::Appearance(QObject* parent) : QObject(parent)
{
    const QSettings settings;
    m_theme = static_cast<Theme>(qBound(0, settings.value(kThemeKey, 0).toInt(), 2));
    // On a desktop without the portal, the initial palette of Qt's platform plug-in shows the theme.
    m_desktopIsDark = settings.value(kDesktopKey, isDark(QApplication::palette())).toBool();
    QApplication::setStyle(new Style);
    apply();
}

void Appearance::setTheme(Theme theme)
{
    QSettings().setValue(kThemeKey, static_cast<int>(theme));
    m_theme = theme;
    apply();
}

void Appearance::followDesktop()
{
    auto bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(kService, kPath, kInterface, "SettingChanged", this,
                SLOT(desktopChanged(QString, QString, QDBusVariant)));
    auto question = QDBusMessage::createMethodCall(kService, kPath, kInterface, "Read");
    question << kGroup << kScheme;
    auto* answer = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        const QDBusPendingReply<QDBusVariant> reply = *answer;
        if (!reply.isError())
            take(reply.value().variant());
        answer->deleteLater();
    });
}

void Appearance::desktopChanged(const QString& group, const QString& key, const QDBusVariant& value)
{
    if (group == kGroup && key == kScheme)
        take(value.variant());
}

void Appearance::take(const QVariant& colorScheme)
{
    // Read() wraps the value in one more variant than SettingChanged does.
    const QVariant inner =
        colorScheme.canConvert<QDBusVariant>() ? colorScheme.value<QDBusVariant>().variant() : colorScheme;
    const bool dark = inner.toUInt() == 1;
    QSettings().setValue(kDesktopKey, dark);
    if (dark == m_desktopIsDark)
        return;
    m_desktopIsDark = dark;
    apply();
}

void Appearance::apply()
{
    const bool dark = m_theme == Theme::Dark || (m_theme == Theme::System && m_desktopIsDark);
    const QPalette palette = themePalette(dark);
    QApplication::setPalette(palette);
    QToolTip::setPalette(palette);
    emit changed();
}

} // namespace app
