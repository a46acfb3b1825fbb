#pragma once

#include "profiler/formats/format.h"

#include <span>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Appends a row of comma-separated values as in RFC 4180, but with a newline at the end. A value that a spreadsheet
/// would treat as a formula (it starts with =, +, - or @ and is not a number) is prefixed with an apostrophe, so that
/// names in a foreign trace cannot execute anything.
void appendCsvRow(std::string& out, std::span<const std::string_view> values);

/// Writes every slice of a trace as a row: track, process, thread, device, stream, kind, name, begin and duration in
/// µs, depth, correlation, bytes, copy, memory kinds, value, shapes, types. The output is streamed.
Result<void> writeCsv(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options);

} // namespace profiler::formats::writers
