#pragma once

#include "profiler/io/formats/json/range_ends.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace profiler::formats::json {

struct Harvest;

/// Joins the begins and ends that a part of the file holds, as far as no other part can change what they join to. One a
/// scanning thread.
class PartRanges {
public:
    /// @param gathered  keys of which nothing is joined; may be null
    explicit PartRanges(std::shared_ptr<const RangeKeys> gathered) : m_gathered(std::move(gathered)) {}

    void add(const RangeEnd& end) { m_ends.push_back(end); }
    /// The part ends: what it could join goes to `take`, the rest into `harvest`.
    void end(Harvest& harvest, const TakeRange& take);

private:
    struct Group {
        RangeGroup range;
        std::uint32_t count = 0;
        bool inOrder = true; ///< as the file has them
    };

    void makeGroups();
    std::uint32_t groupOf(const RangeEnd& end);
    void join(const Group& group, std::uint32_t* order, Harvest& harvest, const TakeRange& take);

    std::shared_ptr<const RangeKeys> m_gathered;
    std::vector<RangeEnd> m_ends;
    std::vector<Group> m_groups;
    std::vector<std::uint32_t> m_slots;          ///< by hash of the key: index into m_groups + 1; 0: free
    std::vector<std::uint32_t> m_groupOf;        ///< by end
    std::vector<std::uint32_t> m_order, m_place; ///< ends, group after group; by group, where the next one goes
};

} // namespace profiler::formats::json
