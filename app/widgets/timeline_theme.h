#pragma once

#include <QColor>
#include <QPalette>

namespace app {

/// Colours of what is neither slice nor text: made from the palette, so that light and dark follow the system.
struct TimelineTheme {
    bool dark = false;
    QColor background; ///< of lanes
    QColor band;       ///< of every other track
    QColor header;     ///< of track names, rulers
    QColor grid;
    QColor border;
    QColor text;
    QColor dimText; ///< units, hints; at least 4.5 : 1 on the header
    QColor accent;  ///< selection, focus
    QColor found;   ///< what a search found; at least 3 : 1 on lanes

    static TimelineTheme from(const QPalette& palette);
    friend bool operator==(const TimelineTheme&, const TimelineTheme&) = default;
};

/// `share` of the way from one colour to another.
QColor mixed(const QColor& from, const QColor& to, double share);

} // namespace app
