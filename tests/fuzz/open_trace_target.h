#pragma once

#include <cstddef>
#include <cstdint>

/// Opens `data` as a trace file in the format that it looks like, or else as a JSON trace, and runs all queries on the
/// trace. Must return for any bytes.
void openAnything(const std::uint8_t* data, std::size_t size);
