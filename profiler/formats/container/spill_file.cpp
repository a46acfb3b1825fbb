#include "profiler/formats/container/spill_file.h"

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/slice_blocks.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_meta.h"
#include "profiler/os/files.h"
#include "profiler/os/memory.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace profiler::container {
namespace {

/// Data that a builder wrote is not checked against its pools.
constexpr BlockLimits kAnyIds{std::numeric_limits<std::uint32_t>::max(), std::numeric_limits<std::uint32_t>::max()};

std::filesystem::path spillFolder()
{
    const char* chosen = std::getenv("TMPDIR");
    return chosen && *chosen != 0 ? chosen : "/var/tmp"; // /tmp is often in memory
}

} // namespace

std::uint64_t shareOfMemory()
{
    const std::uint64_t bytes = os::physicalMemory();
    return bytes > 0 ? bytes / 2 : std::uint64_t{1} << 31;
}

Result<std::shared_ptr<SpillFile>> SpillFile::make(const std::filesystem::path& folder, std::size_t cacheBudget)
{
    os::Descriptor file = os::openUnnamed(folder);
    if (!file)
        return tl::unexpected(
            fileError<"spill.make", "cannot create a temporary file for trace data that does not fit in memory: {why}">(
                errno, folder));
    return std::shared_ptr<SpillFile>{new SpillFile(std::move(file), folder, cacheBudget)};
}

SpillFile::SpillFile(os::Descriptor file, std::filesystem::path folder, std::size_t cacheBudget)
    : m_file(std::move(file)), m_folder(std::move(folder)), m_cache(cacheBudget)
{
}

void SpillFile::remember(std::string problem) const
{
    const std::lock_guard lock{m_mutex};
    if (m_problem.empty())
        m_problem = std::move(problem);
}

std::string SpillFile::problem() const
{
    const std::lock_guard lock{m_mutex};
    return m_problem;
}

BlockEntry SpillFile::entry(std::uint32_t number) const
{
    const std::lock_guard lock{m_mutex};
    return m_entries.at(number);
}

std::optional<std::uint32_t> SpillFile::put(FrameType type, std::span<const std::byte> raw, BlockEntry entry)
{
    const auto packed = packBlock(type, raw);
    if (!packed) {
        remember(packed.error().what.text);
        return std::nullopt;
    }
    const std::lock_guard lock{m_mutex};
    if (const int error = os::writeAllAt(m_file.get(), m_size, *packed).error) {
        if (m_problem.empty())
            m_problem = std::string("cannot write to ") + m_folder.string() + ": " + std::strerror(error);
        return std::nullopt;
    }
    entry.offset = std::exchange(m_size, m_size + packed->size());
    m_entries.push_back(std::move(entry));
    return static_cast<std::uint32_t>(m_entries.size() - 1);
}

std::optional<std::uint32_t> SpillFile::write(std::span<const RawSlice> slices)
{
    return put(FrameType::Slices, encodeBlock(0, 0, slices),
               {0, 0, static_cast<std::uint32_t>(slices.size()), 0, nullptr});
}

std::optional<std::vector<RawSlice>> SpillFile::read(std::uint32_t number) const
{
    const BlockFile file = blocks(); // as large as it is now
    const auto raw = file.read(entry(number).offset, FrameType::Slices);
    auto block = raw ? decodeBlock(*raw, kAnyIds) : std::nullopt;
    if (!block) {
        remember(raw ? "the temporary file in " + m_folder.string() + " is damaged" : raw.error().what.text);
        return std::nullopt;
    }
    return std::move(block->slices);
}

BlockRef SpillFile::keep(TrackId track, std::span<const RawSlice> slices)
{
    TrackBlock block{slices};
    auto summary = std::make_shared<const BlockSummary>(std::move(block.summary));
    const std::uint32_t first = slices.front().ordinal;
    const auto number =
        put(FrameType::Slices, encodeBlock(track.value, first, slices), {track.value, 0, block.size(), first, summary});
    return number ? BlockRef{std::move(summary), shared_from_this(), *number} : BlockRef{TrackBlock::make(slices)};
}

std::shared_ptr<const TrackBlock> SpillFile::load(std::uint32_t block) const
{
    return m_cache.get(block, [this](std::uint32_t number) {
        auto made = readBlock(blocks(), entry(number), kAnyIds);
        if (!made)
            remember(made.error().what.text);
        note(number, made ? std::nullopt : std::optional(Unread{entry(number).count, 0, made.error().message()}));
        return made.value_or(nullptr);
    });
}

std::optional<SampleRef> SpillFile::keepSamples(std::span<const CounterSample> samples)
{
    const auto count = static_cast<std::uint32_t>(samples.size());
    const auto number = put(FrameType::Samples, encodeSamples(samples), {0, 0, count, 0, nullptr});
    return number ? std::optional(SampleRef{shared_from_this(), *number, count}) : std::nullopt;
}

Result<std::vector<CounterSample>> SpillFile::takeSamples(std::uint32_t number) const
{
    const BlockEntry place = entry(number);
    const auto raw = blocks().read(place.offset, FrameType::Samples);
    if (!raw)
        return tl::unexpected(raw.error());
    auto samples = decodeSamples(*raw, place.count);
    if (!samples)
        return fail<"spill.samples", "counter values in a temporary file are damaged">(Error::Code::Malformed,
                                                                                       m_folder.string());
    return std::move(*samples);
}

std::optional<std::vector<CounterSample>> SpillFile::readSamples(std::uint32_t number) const
{
    auto samples = takeSamples(number);
    if (!samples)
        remember(samples.error().what.text);
    return samples ? std::optional(std::move(*samples)) : std::nullopt;
}

std::optional<std::vector<CounterSample>> SpillFile::samples(std::uint32_t number) const
{
    auto samples = takeSamples(number);
    note(number, samples ? std::nullopt : std::optional(Unread{0, entry(number).count, samples.error().message()}));
    return samples ? std::optional(std::move(*samples)) : std::nullopt;
}

void spillBeyond(TraceBuilder& builder, std::uint64_t budget)
{
    if (budget == 0)
        budget = shareOfMemory();
    if (auto spill = SpillFile::make(spillFolder(), budget / 2))
        builder.setSpill(std::move(*spill), budget);
}

} // namespace profiler::container
