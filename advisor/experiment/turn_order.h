#pragma once

#include <array>
#include <cstddef>

/// The order of an experiment: arm 0 is the baseline (A), arm 1 the change (B).
namespace advisor {

/// Pairs per start of both trainers, A B B A: steady drift affects both arms equally.
inline constexpr std::size_t kPairsPerStart = 2;

/// A B B A A B B A …
constexpr std::array<std::size_t, 2> turnOrder(std::size_t pair)
{
    return pair % 2 == 0 ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{1, 0};
}

/// Both trainers are restarted before this pair.
constexpr bool startsFresh(std::size_t pair)
{
    return pair % kPairsPerStart == 0;
}

} // namespace advisor
