#pragma once

#include "profiler/formats/pytorch/range_ends.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace profiler::formats::json {

struct ScanResult;

/// Joins the starts and ends of ranges in one part of the file, if no other part can change the result. Each scanning
/// thread has its own instance.
class PartRanges {
public:
    /// @param gathered  keys that are not joined here; may be null
    explicit PartRanges(std::shared_ptr<const RangeKeys> gathered) : m_gathered(std::move(gathered)) {}

    void add(const RangeEnd& end) { m_ends.push_back(end); }
    /// Ends the part: joined ranges go to `take`, the rest goes to `result`.
    void end(ScanResult& result, const TakeRange& take);

private:
    struct Group {
        RangeGroup range;
        std::uint32_t count = 0;
        bool inOrder = true; ///< the file has them in time order
    };

    void makeGroups();
    std::uint32_t groupOf(const RangeEnd& end);
    void join(const Group& group, std::uint32_t* order, ScanResult& result, const TakeRange& take);

    std::shared_ptr<const RangeKeys> m_gathered;
    std::vector<RangeEnd> m_ends;
    std::vector<Group> m_groups;
    std::vector<std::uint32_t> m_slots;          ///< by hash of the key: index into m_groups + 1; 0: free
    std::vector<std::uint32_t> m_groupOf;        ///< group index of each end
    std::vector<std::uint32_t> m_order, m_place; ///< ends, sorted by group; per group, the position of the next end
};

} // namespace profiler::formats::json
