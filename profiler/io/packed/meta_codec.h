#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/io/packed/packed_samples.h"
#include "profiler/model/result.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace profiler::packed {

/// Everything of a trace but its slices.
struct MetaLimits {
    std::uint32_t tracks = 0, strings = 0, args = 0;
};

/// The raw bytes of the Meta section.
/// @param flows  the arrows that the trace was given
/// @param pieces  of counters whose samples lie elsewhere, by track
/// @param metadata  besides the trace's, as PackOptions has it
Bytes encodeMeta(const Trace& trace, std::span<const Flow> flows, std::span<const SamplePiece> pieces,
                 const std::map<std::string, std::string>& metadata);
/// Feeds a builder that has nothing yet; ids of the file are ids of the builder then.
/// @param version  of the format
/// @return how much there is; empty (failed) where the bytes are none of ours
struct DecodedMeta {
    MetaLimits limits;
    std::vector<Flow> flows;
    std::vector<SamplePiece> pieces; ///< of counters whose samples are not in the builder, by track
    bool good = false;
};
DecodedMeta decodeMeta(std::span<const std::byte> raw, std::uint32_t version, TraceBuilder& builder);

} // namespace profiler::packed
