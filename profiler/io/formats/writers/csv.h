#pragma once

#include "profiler/io/formats/format.h"

#include <span>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Appends a row of comma-separated values, as RFC 4180 has it but ended by a newline. A value that a spreadsheet would
/// take for a formula (it begins with =, +, -, @ and is no number) gets an apostrophe before it, so that a name in a
/// trace from elsewhere computes nothing.
void appendCsvRow(std::string& out, std::span<const std::string_view> values);

/// Writes every slice of a trace as a row: track, process, thread, device, stream, kind, name, begin and duration in
/// µs, depth, correlation, bytes, copy, memory kinds, value, shapes, types. Streams.
Result<void> writeCsv(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options);

} // namespace profiler::formats::writers
