#pragma once

#include "app/look/theme.h"

#include <QObject>
#include <QVariant>

class QDBusVariant;

namespace app {

/// The theme of the application. Theme::System follows the desktop while the app runs.
class Appearance : public QObject {
    Q_OBJECT
public:
    /// Sets the application's style and palette. Until followDesktop() is called, the remembered theme of the desktop
    /// is used.
    explicit Appearance(QObject* parent = nullptr);

    [[nodiscard]] Theme theme() const { return m_theme; }
    void setTheme(Theme theme); ///< is remembered
    /// Queries the desktop's theme and follows its changes from now on. The constructor does not do this, so that the
    /// window paints first.
    void followDesktop();

signals:
    void changed();

private slots:
    void desktopChanged(const QString& group, const QString& key, const QDBusVariant& value);

private:
    void take(const QVariant& colorScheme);
    void apply();

    Theme m_theme = Theme::System;
    bool m_desktopIsDark = false;
};

} // namespace app
