#pragma once

#include <cstdint>
#include <span>

namespace trainer::data {

/// Edge length of painted digits, px: the same as in MNIST.
inline constexpr int kDigitEdge = 28;

/// Paints a seven-segment digit, grey on black, with random place, size, slant, thickness, brightness and noise.
/// @param digit  0 … 9
/// @param out  kDigitEdge × kDigitEdge
void paintDigit(int digit, std::uint64_t seed, std::span<std::uint8_t> out);

} // namespace trainer::data
