#pragma once

#include <cstdint>
#include <string>

namespace trainer::data {

/// Generates English-like sentences with a small grammar, with agreement in number and closed quotes: a text whose next
/// letter can be learned. The same on every machine.
/// @param bytes  minimum length
std::string writeSentences(std::int64_t bytes);

} // namespace trainer::data
