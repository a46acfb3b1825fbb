#pragma once

#include "advisor/advice.h"
#include "advisor/evidence/program_values.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <string_view>

namespace advisor {

/// Headings of a tip's text, each of which every tip has.
namespace tip_section {
inline constexpr std::string_view kWhat = "What it is";
inline constexpr std::string_view kWhy = "Why it helps";
inline constexpr std::string_view kWhenNot = "When not";
inline constexpr std::string_view kPyTorch = "PyTorch";   ///< code to paste, Python
inline constexpr std::string_view kLibTorch = "LibTorch"; ///< code to paste, C++
} // namespace tip_section

/// The documentation of a tip as Markdown, built in from resources/tips/<key>.md; empty for an unknown key.
std::string_view tipText(std::string_view key);
/// What stands under one "## heading" of it, without the heading and blank lines around; empty where there is none.
std::string_view tipSection(std::string_view key, std::string_view heading);
/// The code of a section, without its fence; empty where there is none.
std::string_view tipCode(std::string_view key, std::string_view heading);
/// The same with the value that `change` sets and the program's own values in place of the variables that stand for
/// them ("batch_size=batch_size", "Optimizer(…, **settings)"). A variable whose value is not known stays.
std::string tipCodeOfRun(std::string_view key, std::string_view heading, const std::optional<Toggle>& change,
                         const ProgramValues& values);

} // namespace advisor
