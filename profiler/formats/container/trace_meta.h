#pragma once

#include "profiler/formats/container/block_file.h"
#include "profiler/model/ids.h"
#include "profiler/model/result.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_slices.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace profiler::container {

/// Counters with more samples store them in separate blocks of this many samples, which are read on demand.
inline constexpr std::uint32_t kSamplesTogether = 1U << 16;

/// Some samples of a counter, stored in a separate block.
struct SamplePiece {
    TrackId track;
    std::uint64_t offset = 0; ///< of the block, relative to the end of Meta
    std::uint32_t count = 0;
};

/// The raw bytes of a Samples block.
Bytes encodeSamples(std::span<const CounterSample> samples);
/// Empty if the bytes are not `count` valid samples.
std::optional<std::vector<CounterSample>> decodeSamples(std::span<const std::byte> raw, std::uint32_t count);

/// Samples of a file that are read on demand; the block number is the piece number. Thread-safe.
class SealedSamples : public BlockSource {
public:
    /// @param begin  the file position that offsets of pieces are relative to
    SealedSamples(std::shared_ptr<const BlockFile> file, std::uint64_t begin, std::vector<SamplePiece> pieces);

    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;
    [[nodiscard]] std::optional<std::vector<CounterSample>> samples(std::uint32_t number) const override;

private:
    std::shared_ptr<const BlockFile> m_file;
    std::uint64_t m_begin;
    std::vector<SamplePiece> m_pieces;
};

/// Gives a builder the samples that stay in the file.
/// @param begin   the file position that offsets of pieces are relative to
/// @param budget  bytes that all samples may take once they are read, because the counts in the file are not trusted
/// @return the number of samples beyond the budget, which are left out
std::uint64_t leaveSamples(TraceBuilder& builder, const std::shared_ptr<const BlockFile>& file, std::uint64_t begin,
                           const std::vector<SamplePiece>& pieces, std::uint64_t budget);

/// The numbers of tracks, strings and arguments in the Meta block, which holds everything except slices.
struct MetaLimits {
    std::uint32_t tracks = 0, strings = 0, args = 0;
};

/// The raw bytes of the Meta block.
/// @param flows     the explicit flows of the trace
/// @param pieces    pieces of counters whose samples are stored outside Meta, by track
/// @param metadata  additional metadata, see WriteOptions
Bytes encodeMeta(const Trace& trace, std::span<const Flow> flows, std::span<const SamplePiece> pieces,
                 const std::map<std::string, std::string>& metadata);
/// What a Meta block contains, apart from what decodeMeta() gives the builder.
struct DecodedMeta {
    MetaLimits limits;
    std::vector<Flow> flows;
    std::vector<SamplePiece> pieces; ///< pieces of counters whose samples are not in the builder, by track
    bool good = false;               ///< false: the bytes are invalid
};
/// Fills an empty builder; the ids of the file become the ids of the builder.
/// @param version  of the format
DecodedMeta decodeMeta(std::span<const std::byte> raw, std::uint32_t version, TraceBuilder& builder);

} // namespace profiler::container
