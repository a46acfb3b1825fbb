#pragma once

#include <cstddef>
#include <cstdint>

/// Reads any bytes as a packed trace, whole and on demand, and asks all that can be asked of what comes out. Aborts
/// when an answer cannot be.
void readAnyPacked(const std::uint8_t* data, std::size_t size);
