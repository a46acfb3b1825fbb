#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/model/raw_slice.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace profiler::packed {

/// Details sections of a block's slices, ready to be written.
struct PackedDetailsOfBlock {
    struct Section {
        std::uint64_t first = 0; ///< number of its first slice
        Bytes bytes;
    };
    std::vector<Section> sections;
    std::uint64_t unread = 0;   ///< slices whose details their file no longer gives
    std::string whyUnread = {}; ///< the first error
};

/// Reads the details of a block's slices from where the trace came from, and numbers the slices: RawSlice::source() is
/// what their section knows them by then, 0 for one that has none.
/// @param first  the number of the block's first slice
/// @return Cancelled where it was stopped, NoSpace for want of memory
Result<PackedDetailsOfBlock> packDetails(const ArgSource* source, std::span<RawSlice> slices, std::uint64_t first,
                                         const std::stop_token& stop);

} // namespace profiler::packed
