#pragma once

#include "app/tables/table_rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stop_token>
#include <utility>
#include <vector>

namespace app {

/// Sorts row numbers by 64-bit keys, one key per row; equal rows keep their order. A radix sort, because tables have
/// millions of rows: O(n) for each 11 bits in which the keys differ.
/// @param rows  the current order
/// @param keys  by row number
inline void sortByKey(std::vector<std::uint32_t>& rows, const std::vector<std::int64_t>& keys, bool descending)
{
    constexpr int kBits = 11;
    constexpr std::size_t kDigits = std::size_t{1} << kBits;
    constexpr int kPasses = 6; // 66 bits
    struct Item {
        std::uint64_t key;
        std::uint32_t row;
    };
    std::vector<Item> items(rows.size()), moved(rows.size());
    std::vector<std::array<std::size_t, kDigits>> counts(kPasses);
    const std::uint64_t flip = (std::uint64_t{1} << 63) ^ (descending ? ~std::uint64_t{0} : 0); // negative keys first
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t key = static_cast<std::uint64_t>(keys[rows[i]]) ^ flip;
        items[i] = {key, rows[i]};
        for (int pass = 0; pass < kPasses; ++pass)
            ++counts[static_cast<std::size_t>(pass)][key >> (pass * kBits) & (kDigits - 1)];
    }
    for (int pass = 0; pass < kPasses && !items.empty(); ++pass) {
        auto& count = counts[static_cast<std::size_t>(pass)];
        const auto digit = [&](const Item& item) { return item.key >> (pass * kBits) & (kDigits - 1); };
        if (count[digit(items.front())] == items.size())
            continue; // equal in all rows
        std::exclusive_scan(count.begin(), count.end(), count.begin(), std::size_t{0});
        for (const Item& item : items)
            moved[count[digit(item)]++] = item;
        items.swap(moved);
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = items[i].row;
}

/// Sorts row numbers by several keys, of which the first decides.
/// @param keysOf  the keys of a column, by row number; empty if stopped
/// @return false if stopped
inline bool sortRows(std::vector<std::uint32_t>& rows, const TableOrder& order,
                     const std::function<std::vector<std::int64_t>(int column)>& keysOf, const std::stop_token& stop)
{
    for (auto key = order.rbegin(); key != order.rend(); ++key) {
        const std::vector<std::int64_t> keys = keysOf(key->column);
        if (stop.stop_requested())
            return false;
        sortByKey(rows, keys, key->descending);
    }
    return !stop.stop_requested();
}

} // namespace app
