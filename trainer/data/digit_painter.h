#pragma once

#include <cstdint>
#include <span>

namespace trainer::data {

/// Edge of painted digits, px: MNIST's.
inline constexpr int kDigitEdge = 28;

/// Paints a digit of seven segments, grey on black: place, size, slant, thickness, brightness and noise are random.
/// @param digit  0 … 9
/// @param out  kDigitEdge × kDigitEdge
void paintDigit(int digit, std::uint64_t seed, std::span<std::uint8_t> out);

} // namespace trainer::data
