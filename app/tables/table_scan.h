#pragma once

#include "app/tables/table_query.h"
#include "app/tables/table_rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stop_token>
#include <utility>
#include <vector>

// The parts of a query that all kinds of tables of slices share: its pass over the trace, and the sort.
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

/// Sorts row numbers by several keys; the first has priority.
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

/// Tests whether slices match the conditions of a filter that are about slices, not about groups. Looks at each
/// distinct text once.
class SliceMatcher {
public:
    SliceMatcher(const FieldContext& context, const Filter& filter);
    bool operator()(const profiler::Slice& slice);

private:
    enum class Known : std::uint8_t { Unknown, Yes, No };
    struct Test {
        FilterCondition condition;
        Field field;
        SliceKey key;
        std::vector<Known> known; ///< texts: by key + 1
    };
    bool matches(Test& test, const profiler::Slice& slice);

    FieldContext m_context;
    std::vector<Test> m_tests;
};

/// @param extra  fields that are hidden unless the user chooses them
std::vector<TableColumn> columnsOf(const std::vector<Field>& fields, const std::vector<Field>& extra);

/// Share of slices scanned so far; calls back about a hundred times.
class ScanProgress {
public:
    ScanProgress(std::size_t total, double from, double to, const std::function<void(double)>& tell)
        : m_total(total), m_every(std::max<std::size_t>(total / 50, 10'000)), m_from(from), m_to(to), m_tell(&tell)
    {
    }
    void step()
    {
        if (++m_done % m_every == 0 && *m_tell)
            (*m_tell)(m_from + (m_to - m_from) * static_cast<double>(m_done) / static_cast<double>(m_total));
    }

private:
    std::size_t m_total, m_every, m_done = 0;
    double m_from, m_to;
    const std::function<void(double)>* m_tell;
};

/// Slices of the subject that match the filter, track by track. False when stopped.
bool scan(const FieldContext& context, const TableSubject& subject, const TableFilter& filter, ScanProgress progress,
          const std::stop_token& stop, const std::function<void(const profiler::Slice&)>& visit);

/// Tables with one row per group of slices, such as one per name.
/// @param deviceTimes  null if no column needs them
std::shared_ptr<const TableRows>
makeGroupRows(const std::shared_ptr<const profiler::Trace>& trace, const TableSubject& subject, const TableQuery& query,
              const std::shared_ptr<const profiler::analysis::OpDeviceTimes>& deviceTimes,
              const std::function<void(double)>& progress, const std::stop_token& stop);

} // namespace app
