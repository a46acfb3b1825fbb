#pragma once

#include <QColor>
#include <QPalette>

namespace app {

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

/// Interpolates between two colours by `share`.
QColor mixed(const QColor& from, const QColor& to, double share);

} // namespace app
