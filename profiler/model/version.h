#pragma once

#include <string_view>

namespace profiler {

/// The version of this build: "0.2.0" if the commit has the tag v0.2.0, and "0.2.0+dev" for later commits. --version
/// prints it, and each recording contains it as metadata "stepscope.version".
std::string_view version();

} // namespace profiler
