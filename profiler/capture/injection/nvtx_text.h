#pragma once

#include "profiler/capture/injection/nvtx_domains.h"

#include <cstdint>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <string_view>

namespace profiler::capture::injection {

/// What a record keeps of the attributes of a range or mark.
struct NvtxText {
    std::uint32_t name = 0, detail = 0;
    std::int64_t value = 0; ///< payload, where it is a whole number
};

/// @param attributes  as a program gave them: null, or of an older version and shorter
NvtxText readAttributes(ThreadState& thread, const NvtxDomain& domain, const nvtxEventAttributes_t* attributes);
/// UTF-8 of a wide string; null gives "".
std::string utf8(const wchar_t* text);

/// An operator in the name that LibTorch's NVTX ranges have: "aten::mm, seq = 5, op_id = 7, sizes = [[2, 3]]".
struct NvtxOperator {
    std::string_view name; ///< "aten::mm"
    std::int64_t sequence = -1;
    std::string_view shapes; ///< "[[2, 3]]", empty where not recorded
    bool backward = false;   ///< a node of the backward pass
    bool isOperator = false; ///< false: a range that the program itself has named, or no name of LibTorch's
};
NvtxOperator parseOperator(std::string_view text);

} // namespace profiler::capture::injection
