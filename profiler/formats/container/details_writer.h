#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/model/raw_slice.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace profiler::packed {

/// The Details sections of a block's slices, ready to be written.
struct PackedDetailsOfBlock {
    struct Section {
        std::uint64_t first = 0; ///< number of the first slice
        Bytes bytes;
    };
    std::vector<Section> sections;
    std::uint64_t unread = 0;   ///< slices whose details can no longer be read from their file
    std::string whyUnread = {}; ///< the first error
};

/// Reads the details of a block's slices from the original file and numbers the slices. RawSlice::source() becomes the
/// number in the Details section, or 0 for slices without details.
/// @param first  the number of the block's first slice
/// @return Cancelled, or NoSpace if there is not enough memory
Result<PackedDetailsOfBlock> packDetails(const ArgSource* source, std::span<RawSlice> slices, std::uint64_t first,
                                         const std::stop_token& stop);

} // namespace profiler::packed
