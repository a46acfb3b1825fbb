#pragma once

#include <cstddef>
#include <cstdint>

/// Reads `data` as a trace file, completely and in growing parts, and runs all queries on the trace. Must return for
/// any bytes.
void readAnything(const std::uint8_t* data, std::size_t size);
