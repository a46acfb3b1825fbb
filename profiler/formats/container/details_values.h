#pragma once

#include "profiler/formats/container/bytes.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::packed {

/// Writes texts with the same name. If all of them are integers or decimal numbers that convert back exactly, they are
/// stored as numbers; otherwise each distinct text is stored once.
void putValues(ByteWriter& writer, std::span<const std::string_view> values);

/// Reads the texts that putValues wrote. Empty if the bytes are invalid.
/// @param room  the remaining bytes for texts; reduced by the size of these texts
std::optional<std::vector<std::string>> takeValues(ByteReader& reader, std::size_t count, std::size_t& room);

} // namespace profiler::packed
