#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/formats/container/section.h"
#include "profiler/model/block_ref.h"
#include "profiler/model/ids.h"
#include "profiler/model/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// Counters with more samples store them in separate sections of this many samples, which are read on demand.
inline constexpr std::uint32_t kSamplesTogether = 1U << 16;

/// Some samples of a counter, stored in a separate section.
struct SamplePiece {
    TrackId track;
    std::uint64_t offset = 0; ///< of the section, relative to the end of Meta
    std::uint32_t count = 0;
};

/// The raw bytes of a Samples section.
Bytes encodeSamples(std::span<const CounterSample> samples);
/// Empty if the bytes are not `count` valid samples.
std::optional<std::vector<CounterSample>> decodeSamples(std::span<const std::byte> raw, std::uint32_t count);

/// Samples of a file that are read on demand; the block number is the piece number. Thread-safe.
class PackedSamples : public BlockSource {
public:
    /// @param begin  the file position that offsets of pieces are relative to
    PackedSamples(std::shared_ptr<const SectionFile> file, std::uint64_t begin, std::vector<SamplePiece> pieces);

    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;
    [[nodiscard]] std::optional<std::vector<CounterSample>> samples(std::uint32_t number) const override;

private:
    std::shared_ptr<const SectionFile> m_file;
    std::uint64_t m_begin;
    std::vector<SamplePiece> m_pieces;
};

/// Gives a builder the samples that stay in the file.
/// @param begin   the file position that offsets of pieces are relative to
/// @param budget  bytes that all samples may take once they are read, because the counts in the file are not trusted
/// @return the number of samples beyond the budget, which are left out
std::uint64_t leaveSamples(TraceBuilder& builder, const std::shared_ptr<const SectionFile>& file, std::uint64_t begin,
                           const std::vector<SamplePiece>& pieces, std::uint64_t budget);

} // namespace profiler::packed
