#include "app/look/appearance.h"

#include "app/look/style.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QSettings>
#include <QToolTip>

namespace app {

namespace {

constexpr auto kThemeKey = "theme";
constexpr auto kDesktopKey = "desktopIsDark";
constexpr auto kGroup = "org.freedesktop.appearance";
constexpr auto kScheme = "color-scheme"; // 0 no preference, 1 dark, 2 light
constexpr auto kService = "org.freedesktop.portal.Desktop";
constexpr auto kPath = "/org/freedesktop/portal/desktop";
constexpr auto kInterface = "org.freedesktop.portal.Settings";

} // namespace

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
