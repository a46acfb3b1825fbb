#pragma once

namespace app {

/// Property of a widget: the page of the help about it, with an anchor ("docs/timeline.md#gaps").
inline constexpr const char* kHelpPlace = "helpPlace";

} // namespace app
