#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace trainer::data {

/// Random numbers that are equal on every machine and with every standard library. SplitMix64 (Steele, Lea, Flood
/// 2014): all seeds are equally good, and construction is free.
class Random {
public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}

    std::uint64_t bits()
    {
        std::uint64_t z = m_state += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// In [0, 1).
    double real() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double real(double low, double high) { return low + (high - low) * real(); }
    /// In [0, bound); bound must be at least 1 and below 2³². Multiply and shift (Lemire 2016) without the rejection
    /// step: the bias is below bound / 2³².
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((bits() >> 32) * bound) >> 32); }
    bool coin() { return (bits() >> 63) != 0; }

private:
    std::uint64_t m_state;
};

/// Shuffles `items` (Fisher–Yates).
template <class T>
void shuffle(std::span<T> items, Random& random)
{
    for (std::size_t left = items.size(); left > 1; --left)
        std::swap(items[left - 1], items[random.below(static_cast<std::uint32_t>(left))]);
}

/// Seed of an epoch's order.
std::uint64_t orderSeed(std::uint64_t runSeed, std::int64_t epoch);
/// Seed of one sample's augmentation in one epoch; never 0.
std::uint64_t sampleSeed(std::uint64_t runSeed, std::int64_t epoch, std::int64_t index);

} // namespace trainer::data
