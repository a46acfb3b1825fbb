#pragma once

#include <cstdint>
#include <string>

namespace trainer::data {

/// English-like sentences by a small grammar, with agreement in number and quotes that close: a text whose next letter
/// can be learned. The same on every machine.
/// @param bytes  at least so many
std::string writeSentences(std::int64_t bytes);

} // namespace trainer::data
