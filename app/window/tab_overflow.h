#pragma once

class QTabBar;

namespace app {

/// Adds a button to the end of a tab bar that lists all of its tabs in a menu. It is visible while the tabs do not fit
/// and scroll. Its place is reserved by Style, see kTabMenuWidth.
void addTabOverflow(QTabBar* tabs);

} // namespace app
