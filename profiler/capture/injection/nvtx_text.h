#pragma once

#include "profiler/capture/injection/nvtx_domains.h"

#include <cstdint>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <string_view>

namespace profiler::capture::injection {

/// What a record stores of the attributes of a range or mark.
struct NvtxText {
    std::uint32_t name = 0, detail = 0;
    std::int64_t value = 0; ///< payload, if it is an integer
};

/// @param attributes  as passed by a program: null, or shorter (from an older version)
NvtxText readAttributes(ThreadState& thread, const NvtxDomain& domain, const nvtxEventAttributes_t* attributes);
/// Converts a wide string to UTF-8; null becomes "".
std::string utf8(const wchar_t* text);

/// An operator, parsed from the name of a LibTorch NVTX range: "aten::mm, seq = 5, op_id = 7, sizes = [[2, 3]]".
struct NvtxOperator {
    std::string_view name; ///< "aten::mm"
    std::int64_t sequence = -1;
    std::string_view shapes; ///< "[[2, 3]]", empty if not recorded
    bool backward = false;   ///< a node of the backward pass
    bool isOperator = false; ///< false for a range named by the program, or a name that is not LibTorch's
};
NvtxOperator parseOperator(std::string_view text);

} // namespace profiler::capture::injection
