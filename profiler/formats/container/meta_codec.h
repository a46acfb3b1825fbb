#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/formats/container/packed_samples.h"
#include "profiler/model/result.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace profiler::packed {

/// The numbers of tracks, strings and arguments in the Meta section, which holds everything except slices.
struct MetaLimits {
    std::uint32_t tracks = 0, strings = 0, args = 0;
};

/// The raw bytes of the Meta section.
/// @param flows     the explicit flows of the trace
/// @param pieces    pieces of counters whose samples are stored outside Meta, by track
/// @param metadata  additional metadata, see PackOptions
Bytes encodeMeta(const Trace& trace, std::span<const Flow> flows, std::span<const SamplePiece> pieces,
                 const std::map<std::string, std::string>& metadata);
/// What a Meta section contains, apart from what decodeMeta() gives the builder.
struct DecodedMeta {
    MetaLimits limits;
    std::vector<Flow> flows;
    std::vector<SamplePiece> pieces; ///< pieces of counters whose samples are not in the builder, by track
    bool good = false;               ///< false: the bytes are invalid
};
/// Fills an empty builder; the ids of the file become the ids of the builder.
/// @param version  of the format
DecodedMeta decodeMeta(std::span<const std::byte> raw, std::uint32_t version, TraceBuilder& builder);

} // namespace profiler::packed
