#pragma once

#include <cstddef>
#include <cstdint>

/// Opens `data` as a trace file of whatever format it looks like, and as a JSON trace, and asks the traces everything.
/// Whatever the bytes are, it must return.
void openAnything(const std::uint8_t* data, std::size_t size);
