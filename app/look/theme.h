#pragma once

#include <QColor>
#include <QObject>
#include <QPalette>
#include <QVariant>

class QDBusVariant;
class QWidget;

// The colours of the app, light and dark, and the theme that the user or the desktop has chosen.
namespace app {

enum class Theme { System, Light, Dark };

/// Colours in addition to QPalette. None of them stands for an activity; activities have their own palette.
struct Shades {
    QColor line;  ///< borders and separators
    QColor muted; ///< secondary text
    QColor panel; ///< cards and group headings
    QColor good;  ///< pays, finished
    QColor bad;   ///< costs, failed, refused
    QColor warning;
};

[[nodiscard]] QPalette themePalette(bool dark);
[[nodiscard]] bool isDark(const QPalette& palette);
[[nodiscard]] Shades shades(const QPalette& palette);

/// Sets the text colour of a widget. All other colours follow the theme, also after a theme change.
void setTextColor(QWidget* widget, const QColor& color);

/// `over` blended onto `under`.
/// @param share  opacity of `over`, in [0, 1]
[[nodiscard]] QColor blend(const QColor& under, const QColor& over, double share);

/// Colours of elements other than slices and text, derived from the palette, so that light and dark mode follow the
/// system.
struct TimelineTheme {
    bool dark = false;
    QColor background; ///< background of tracks
    QColor band;       ///< background of every other track
    QColor header;     ///< background of track names and rulers
    QColor grid;
    QColor border;
    QColor text;
    QColor dimText; ///< units, hints; at least 4.5 : 1 on the header
    QColor accent;  ///< selection, focus
    QColor found;   ///< search matches; at least 3 : 1 on tracks

    static TimelineTheme from(const QPalette& palette);
    friend bool operator==(const TimelineTheme&, const TimelineTheme&) = default;
};

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

private:
    Q_SLOT void desktopChanged(const QString& group, const QString& key, const QDBusVariant& value);
    void take(const QVariant& colorScheme);
    void apply();

    Theme m_theme = Theme::System;
    bool m_desktopIsDark = false;
};

} // namespace app
