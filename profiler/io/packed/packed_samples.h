#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/io/packed/section.h"
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

/// A counter with more samples has them in sections of their own, so many in each, which are read when somebody asks.
inline constexpr std::uint32_t kSamplesTogether = 1U << 16;

/// Some samples of a counter in a section of their own.
struct SamplePiece {
    TrackId track;
    std::uint64_t offset = 0; ///< of the section, from the end of Meta
    std::uint32_t count = 0;
};

/// The raw bytes of a Samples section.
Bytes encodeSamples(std::span<const CounterSample> samples);
/// Empty where the bytes are not those of `count` samples.
std::optional<std::vector<CounterSample>> decodeSamples(std::span<const std::byte> raw, std::uint32_t count);

/// Samples of a file that are read when they are asked for: number i is piece i. Any thread.
class PackedSamples : public BlockSource {
public:
    /// @param begin  of the file, from where the pieces' offsets count
    PackedSamples(std::shared_ptr<const SectionFile> file, std::uint64_t begin, std::vector<SamplePiece> pieces);

    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;
    [[nodiscard]] std::optional<std::vector<CounterSample>> samples(std::uint32_t number) const override;

private:
    std::shared_ptr<const SectionFile> m_file;
    std::uint64_t m_begin;
    std::vector<SamplePiece> m_pieces;
};

/// Gives a builder the samples that stay in the file.
/// @param begin   of the file, from where the pieces' offsets count
/// @param budget  bytes that all of them may take once they are read: of what they say of themselves nothing is known
/// @return samples beyond it, which are left out
std::uint64_t leaveSamples(TraceBuilder& builder, const std::shared_ptr<const SectionFile>& file, std::uint64_t begin,
                           const std::vector<SamplePiece>& pieces, std::uint64_t budget);

} // namespace profiler::packed
