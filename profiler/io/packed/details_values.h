#pragma once

#include "profiler/io/packed/bytes.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::packed {

/// Writes texts of one meaning: as whole or decimal numbers where all are such and come back letter for letter, else
/// each different text once.
void putValues(ByteWriter& writer, std::span<const std::string_view> values);

/// The texts that putValues wrote. Empty where the bytes are none of ours.
/// @param room  bytes that texts may take; what these take is subtracted
std::optional<std::vector<std::string>> takeValues(ByteReader& reader, std::size_t count, std::size_t& room);

} // namespace profiler::packed
