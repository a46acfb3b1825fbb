#pragma once

#include <cstddef>
#include <cstdint>

/// Reads `data` as a trace file, whole and in growing parts, and asks the trace everything. Whatever the bytes are, it
/// must return.
void readAnything(const std::uint8_t* data, std::size_t size);
