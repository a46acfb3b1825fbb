#pragma once

#include <cstddef>
#include <cstdint>

/// Opens `data` as a trace file in whatever format it looks like, and as a JSON trace, and runs all queries on the
/// traces. Must return for any bytes.
void openAnything(const std::uint8_t* data, std::size_t size);
