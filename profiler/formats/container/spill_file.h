#pragma once

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/slice_blocks.h"
#include "profiler/model/result.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_slices.h"
#include "profiler/os/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace profiler::container {

/// Half of the machine's memory, in bytes: the default limit for a trace.
std::uint64_t shareOfMemory();

/// An unnamed file of Slices blocks (see block_file.h) and Samples blocks. It disappears with its last user.
class SpillFile : public SliceSpill, public BlockSource, public std::enable_shared_from_this<SpillFile> {
public:
    /// @param folder       a folder on a disk with enough free space
    /// @param cacheBudget  bytes of blocks that stay in memory after they were read
    static Result<std::shared_ptr<SpillFile>> make(const std::filesystem::path& folder, std::size_t cacheBudget);
    SpillFile(const SpillFile&) = delete;
    SpillFile& operator=(const SpillFile&) = delete;

    [[nodiscard]] std::optional<std::uint32_t> write(std::span<const RawSlice> slices) override;
    [[nodiscard]] std::optional<std::vector<RawSlice>> read(std::uint32_t number) const override;
    [[nodiscard]] BlockRef keep(TrackId track, std::span<const RawSlice> slices) override;
    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;
    [[nodiscard]] std::optional<SampleRef> keepSamples(std::span<const CounterSample> samples) override;
    [[nodiscard]] std::optional<std::vector<CounterSample>> readSamples(std::uint32_t number) const override;
    [[nodiscard]] std::optional<std::vector<CounterSample>> samples(std::uint32_t number) const override;
    [[nodiscard]] std::string problem() const override;

private:
    SpillFile(os::Descriptor file, std::filesystem::path folder, std::size_t cacheBudget);
    /// Writes a block and returns its number.
    std::optional<std::uint32_t> put(FrameType type, std::span<const std::byte> raw, BlockEntry entry);
    [[nodiscard]] Result<std::vector<CounterSample>> takeSamples(std::uint32_t number) const;
    [[nodiscard]] BlockEntry entry(std::uint32_t number) const;
    [[nodiscard]] BlockFile blocks() const { return BlockFile{{m_file.get(), m_folder}}; }
    void remember(std::string problem) const;

    os::Descriptor m_file;
    std::filesystem::path m_folder;
    BlockCache m_cache;
    mutable std::mutex m_mutex; ///< guards the members below; held during writes, which must be contiguous
    std::vector<BlockEntry> m_entries;
    std::uint64_t m_size = 0;
    mutable std::string m_problem;
};

/// Makes an importer's builder write what exceeds `budget` bytes (0: shareOfMemory()) to a file in TMPDIR or else in
/// /var/tmp. If no file can be created there, all data stays in memory.
void spillBeyond(TraceBuilder& builder, std::uint64_t budget);

} // namespace profiler::container
