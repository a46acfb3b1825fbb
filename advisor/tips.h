#pragma once

#include "advisor/advice.h"
#include "advisor/evidence/program_values.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <string_view>

/// The texts of the tips, which are built in from resources/tips, and the table of them.
namespace advisor {

/// Headings of a tip's text; every tip has them.
namespace tip_section {
inline constexpr std::string_view kWhat = "What it is";
inline constexpr std::string_view kWhy = "Why it helps";
inline constexpr std::string_view kWhenNot = "When not";
inline constexpr std::string_view kPyTorch = "PyTorch";   ///< code to copy, Python
inline constexpr std::string_view kLibTorch = "LibTorch"; ///< code to copy, C++
} // namespace tip_section

/// The documentation of a tip as Markdown, embedded from resources/tips/<key>.md; empty for an unknown key.
std::string_view tipText(std::string_view key);
/// The text under a "## heading", without the heading and surrounding blank lines; empty if there is none.
std::string_view tipSection(std::string_view key, std::string_view heading);
/// The code of a section, without its fence; empty if there is none.
std::string_view tipCode(std::string_view key, std::string_view heading);
/// The same with the value that `change` sets and with the program's own values instead of the variables that stand for
/// them ("batch_size=batch_size", "Optimizer(…, **settings)"). A variable whose value is unknown stays.
std::string tipCodeOfRun(std::string_view key, std::string_view heading, const std::optional<Toggle>& change,
                         const ProgramValues& values);

/// The tips as a Markdown document: one table of the tips with a knob, in the order of the form (tip, key, values,
/// where it applies, when not), and one of the findings without a knob. Generated from the table of knobs and
/// resources/tips; the result is resources/tips/README.md.
std::string tipTable();

} // namespace advisor
