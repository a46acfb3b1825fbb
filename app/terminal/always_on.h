#pragma once

#include "app/terminal/commands.h"

/// `record --level always-on`: the steps of each rank in a file of bounded size, which can stay on for weeks.
namespace app::terminal {

inline constexpr const char* kAlwaysOn = "always-on";

/// @param options  its `trace` names the folder, which is created; `level` is kAlwaysOn
/// @return as record()
int recordAlwaysOn(const RecordOptions& options, const Streams& streams);

} // namespace app::terminal
