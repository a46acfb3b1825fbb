#pragma once

#include <cstddef>
#include <cstdint>

/// Reads any bytes as a packed trace, completely and on demand, and runs all queries on the result. Aborts if an answer
/// is impossible.
void readAnyPacked(const std::uint8_t* data, std::size_t size);
