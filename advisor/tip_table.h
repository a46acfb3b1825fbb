#pragma once

#include <string>

namespace advisor {

/// The tips as a Markdown document: a table of those with a knob in the form's order (tip, key, what the key may be,
/// where it applies, when not), and one of the findings that are no knob. From the table of knobs and resources/tips;
/// resources/tips/README.md is what it gives.
std::string tipTable();

} // namespace advisor
