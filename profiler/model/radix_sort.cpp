#include "profiler/model/radix_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace profiler {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

bool comesFirst(const SortKey& a, const SortKey& b)
{
    return a.key < b.key;
}

void sortByDigit(const std::vector<SortKey>& from, std::vector<SortKey>& to, std::int64_t least, int shift)
{
    const auto digit = [=](const SortKey& key) {
        return (static_cast<std::uint64_t>(key.key) - static_cast<std::uint64_t>(least)) >> shift & (kDigits - 1);
    };
    std::array<std::size_t, kDigits> next{};
    for (const SortKey& key : from)
        ++next[digit(key)];
    std::size_t before = 0;
    for (std::size_t& place : next)
        before += std::exchange(place, before);
    for (const SortKey& key : from)
        to[next[digit(key)]++] = key;
}

} // namespace

void radixSort(std::vector<SortKey>& keys)
{
    constexpr std::size_t kFew = 512; // for fewer keys, the digit tables cost more than they save
    if (std::is_sorted(keys.begin(), keys.end(), comesFirst))
        return;
    if (keys.size() < kFew) {
        std::stable_sort(keys.begin(), keys.end(), comesFirst);
        return;
    }
    const auto [least, largest] = std::minmax_element(keys.begin(), keys.end(), comesFirst);
    const std::int64_t base = least->key;
    const int bits = std::bit_width(static_cast<std::uint64_t>(largest->key) - static_cast<std::uint64_t>(base));
    std::vector<SortKey> other(keys.size());
    for (int shift = 0; shift < bits; shift += kDigitBits) {
        sortByDigit(keys, other, base, shift);
        keys.swap(other);
    }
}

} // namespace profiler
