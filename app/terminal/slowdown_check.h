#pragma once

#include "advisor/experiment/difference.h"
#include "app/terminal/commands.h"
#include "profiler/model/message.h"

#include <nlohmann/json.hpp>

#include <string>

namespace app::terminal {

/// Whether the second trace is slower by more than a limit, for continuous integration.
struct SlowdownCheck {
    bool passed = true;
    profiler::Message why;
};

/// Fails if the whole interval of the statistic of `difference` is beyond the limit, and if the traces cannot be
/// compared. Passes if no slowdown by more than the limit is shown.
/// @param percent  the limit: how much longer a step may take
SlowdownCheck checkSlowdown(const advisor::Difference& difference, double percent);

/// The check as a JUnit file with one test case.
std::string junitText(const SlowdownCheck& check, double percent);

/// Carries out --fail-if-slower and --junit, if they are given.
/// @param json  gets the field `check`; null: the result is printed
/// @return the exit status of `diff`
int reportSlowdown(const DiffOptions& options, const advisor::Difference& difference, nlohmann::ordered_json* json,
                   const Streams& streams);

} // namespace app::terminal
