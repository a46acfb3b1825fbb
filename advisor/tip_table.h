#pragma once

#include <string>

namespace advisor {

/// The tips as a Markdown document: one table of the tips with a knob, in the order of the form (tip, key, values,
/// where it applies, when not), and one of the findings without a knob. Generated from the table of knobs and
/// resources/tips; the result is resources/tips/README.md.
std::string tipTable();

} // namespace advisor
