#include "profiler/formats/container/sealed_writer.h"

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/slice_blocks.h"
#include "profiler/formats/container/slice_details.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_meta.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/parallel.h"
#include "profiler/model/track_slices.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace profiler::container {

namespace {

Error unreadable()
{
    return makeError<"save.unread_part", "a part of the trace can no longer be read, so the trace cannot be copied">(
        Error::Code::Io, {}, "open the trace again");
}

/// The file being written. It is deleted unless finish() gives it its final name.
class PartialFile {
public:
    explicit PartialFile(std::filesystem::path path) : m_path(std::move(path)) {}
    Result<void> open()
    {
        m_file = os::ReplacementFile::create(m_path);
        return resultOf(m_file ? 0 : errno);
    }
    Result<void> append(std::span<const std::byte> bytes)
    {
        return resultOf(m_file->writeAt(std::exchange(m_size, m_size + bytes.size()), bytes));
    }
    Result<void> finish(const FileHeader& header)
    {
        if (auto written = resultOf(m_file->writeAt(0, std::as_bytes(std::span{&header, 1}))); !written)
            return written;
        return resultOf(m_file->commit());
    }
    [[nodiscard]] std::uint64_t size() const { return m_size; }

private:
    /// @param number  errno; 0: success
    Result<void> resultOf(int number) const
    {
        if (number == 0)
            return {};
        return tl::unexpected(fileError<"trace.write", "cannot write the trace: {why}">(number, m_path));
    }

    std::filesystem::path m_path;
    std::optional<os::ReplacementFile> m_file;
    std::uint64_t m_size = 0;
};

/// A block to write: a block of the trace, or a rebuilt block of a live track whose blocks overlap.
struct Source {
    TrackId track;
    const BlockRef* block = nullptr;
    std::vector<RawSlice> slices; ///< used if `block` is empty
    std::uint64_t first = 0;      ///< number of its first slice in the file, starting at 1
};

class SealedWriter {
public:
    SealedWriter(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
        : m_trace(trace), m_options(options), m_file(path),
          m_threads(options.threads > 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1U))
    {
    }
    Result<void> write();

private:
    void addSource(Source source, std::uint64_t slices);
    void collect(TrackId track);
    Result<void> writeBlock(FrameType type, std::span<const std::byte> raw);
    Result<void> packSamples();
    Result<void> writeMeta();
    Result<void> writeBlocks();
    Result<void> writeDetails(const DetailsOfBlock& details);
    [[nodiscard]] std::vector<Flow> flows() const;

    const Trace& m_trace;
    const WriteOptions& m_options;
    PartialFile m_file;
    unsigned m_threads;
    std::vector<Source> m_sources;
    std::vector<std::vector<std::uint32_t>> m_newOrdinals; ///< by track; empty: unchanged
    std::vector<BlockEntry> m_entries;
    std::vector<SamplePiece> m_pieces; ///< of counters with many samples
    Bytes m_samples;                   ///< blocks of these samples
    DetailsIndex m_details;
    std::uint64_t m_nextNumber = 1;
    Bytes m_meta; ///< the Meta block
};

void SealedWriter::addSource(Source source, std::uint64_t slices)
{
    source.first = std::exchange(m_nextNumber, m_nextNumber + slices);
    m_sources.push_back(std::move(source));
}

/// The slices of a live track are in overlapping blocks, so they are sorted again.
void SealedWriter::collect(TrackId track)
{
    const TrackSlices& slices = m_trace.slicesOf(track);
    m_newOrdinals.emplace_back();
    if (slices.ordered) {
        for (const BlockRef& block : slices.blocks)
            addSource({track, &block, {}}, block.summary().count);
        return;
    }
    std::vector<RawSlice> all;
    all.reserve(slices.count);
    for (const BlockRef& ref : slices.blocks) {
        const BlockPin block = ref.pin();
        for (std::uint32_t i = 0; block && i < block->size(); ++i)
            all.push_back(block->at(i));
    }
    std::sort(all.begin(), all.end(), beginsBefore);
    m_newOrdinals.back().resize(all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i)
        m_newOrdinals.back()[std::exchange(all[i].ordinal, i)] = i;
    constexpr std::size_t kSize = SliceColumns::kMaxSlices;
    for (std::size_t first = 0; first < all.size(); first += kSize) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = static_cast<std::ptrdiff_t>(std::min(kSize, all.size() - first));
        addSource({track, nullptr, {from, from + count}}, static_cast<std::uint64_t>(count));
    }
}

std::vector<Flow> SealedWriter::flows() const
{
    std::vector<Flow> flows{m_trace.explicitFlows().begin(), m_trace.explicitFlows().end()};
    for (Flow& flow : flows) {
        for (SliceId* end : {&flow.from, &flow.to}) {
            const auto& ordinals = m_newOrdinals[end->track.value];
            if (end->ordinal < ordinals.size())
                end->ordinal = ordinals[end->ordinal];
        }
    }
    return flows;
}

Result<void> SealedWriter::writeBlock(FrameType type, std::span<const std::byte> raw)
{
    return packBlock(type, raw).and_then([this](const Bytes& block) { return m_file.append(block); });
}

struct Packed {
    Result<Bytes> bytes;
    BlockEntry entry;
    DetailsOfBlock details;
};

Packed pack(Source& source, const ArgSource* details, const std::stop_token& stop)
{
    Packed packed{Bytes{}, {}, {}};
    auto& slices = source.slices;
    if (source.block) {
        const BlockPin block = source.block->pin();
        if (!block) {
            packed.bytes = tl::unexpected(unreadable());
            return packed;
        }
        for (std::uint32_t i = 0; i < block->size(); ++i)
            slices.push_back(block->at(i));
    }
    // The copy includes the details, because the original file may not be available where the copy is used.
    auto packedDetails = packDetails(details, slices, source.first, stop);
    if (!packedDetails) {
        packed.bytes = tl::unexpected(packedDetails.error());
        return packed;
    }
    packed.details = std::move(*packedDetails);
    const std::uint32_t first = slices.front().ordinal;
    packed.bytes = packBlock(FrameType::Slices, encodeBlock(source.track.value, first, slices));
    TrackBlock block{slices}; // of the slices as a reader will see them
    packed.entry = {source.track.value, 0, block.size(), first,
                    std::make_shared<const BlockSummary>(std::move(block.summary))};
    slices = {};
    return packed;
}

/// Meta contains the distances to the sample blocks after it, so these are packed first.
Result<void> SealedWriter::packSamples()
{
    for (const Track& track : m_trace.tracks()) {
        const auto samples = m_trace.counter(track.id);
        if (samples.size() <= kSamplesTogether)
            continue;
        for (std::span<const CounterSample> left = samples; !left.empty();) {
            const auto some = left.first(std::min<std::size_t>(left.size(), kSamplesTogether));
            const auto block = packBlock(FrameType::Samples, encodeSamples(some));
            if (!block)
                return tl::unexpected(block.error());
            m_pieces.push_back({track.id, m_samples.size(), static_cast<std::uint32_t>(some.size())});
            m_samples.insert(m_samples.end(), block->begin(), block->end());
            left = left.subspan(some.size());
        }
    }
    return {};
}

Result<void> SealedWriter::writeMeta()
{
    if (auto packed = packSamples(); !packed)
        return packed;
    const Bytes meta = encodeMeta(m_trace, flows(), m_pieces, m_options.metadata);
    if (m_trace.unread().samples > 0)
        return tl::unexpected(unreadable());
    auto block = packBlock(FrameType::Meta, meta);
    if (!block)
        return tl::unexpected(block.error());
    m_meta = std::move(*block);
    return m_file.append(m_meta).and_then([this] { return m_file.append(std::exchange(m_samples, {})); });
}

Result<void> SealedWriter::writeBlocks()
{
    const std::size_t together = std::size_t{m_threads} * 4;
    for (std::size_t first = 0; first < m_sources.size(); first += together) {
        if (m_options.stop.stop_requested())
            return fail<"save.trace_cancelled", "saving the trace was cancelled">(Error::Code::Cancelled);
        std::vector<std::optional<Packed>> packed(std::min(together, m_sources.size() - first));
        parallelFor(packed.size(), m_threads, [&](std::size_t i) {
            packed[i] = pack(m_sources[first + i], m_trace.argSource(), m_options.stop);
        });
        for (auto& block : packed) {
            if (!block->bytes)
                return tl::unexpected(block->bytes.error());
            block->entry.offset = m_file.size();
            if (auto written = m_file.append(*block->bytes); !written)
                return written;
            m_entries.push_back(std::move(block->entry));
            if (auto written = writeDetails(block->details); !written)
                return written;
        }
        if (m_options.progress)
            m_options.progress(static_cast<double>(first) / static_cast<double>(m_sources.size()));
    }
    return {};
}

Result<void> SealedWriter::writeDetails(const DetailsOfBlock& details)
{
    for (const auto& part : details.blocks) {
        m_details.entries.push_back({part.first, m_file.size()});
        if (auto written = m_file.append(part.bytes); !written)
            return written;
    }
    if (m_details.unread == 0)
        m_details.whyUnread = details.whyUnread;
    m_details.unread += details.unread;
    return {};
}

Result<void> SealedWriter::write()
{
    for (const Track& track : m_trace.tracks())
        collect(track.id);
    FileHeader header = makeFileHeader(0, 0);
    auto done = m_file.open()
                    .and_then([&] {
                        return m_file.append(std::as_bytes(std::span{&header, 1}));
                    })
                    .and_then([&] { return writeMeta(); })
                    .and_then([&] { return writeBlocks(); })
                    .and_then([&] { return m_file.append(m_meta); }); // without these, the file would be unreadable
    if (!done)
        return done;
    header.overviewOffset = m_file.size();
    if (auto written = writeBlock(FrameType::Overview, encodeOverview(m_entries)); !written)
        return written;
    if (!m_details.entries.empty() || m_details.unread > 0) {
        if (auto written = writeBlock(FrameType::DetailsIndex, encodeDetailsIndex(m_details)); !written)
            return written;
    }
    header.fileBytes = m_file.size();
    header.checksum = headerChecksum(header);
    done = m_file.finish(header);
    if (done && m_options.progress)
        m_options.progress(1);
    return done;
}

} // namespace

Result<void> writeTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return SealedWriter{trace, path, options}.write();
}

Result<void> sealTrace(const std::filesystem::path& path, const WriteOptions& options)
{
    const auto trace =
        readTrace(path, {.progress = {}, .stop = options.stop, .threads = options.threads, .preview = {}});
    if (!trace)
        return tl::unexpected(trace.error());
    return sealTrace(**trace, path, options);
}

Result<void> sealTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    if (trace.captureStats().live)
        return fail<"seal.live", "the recording has not ended">(Error::Code::Unavailable, path.string(),
                                                                "seal it when its program has ended");
    if (auto written = writeTrace(trace, path, options); !written)
        return written;
    std::error_code ignored; // its events are in the sealed file
    std::filesystem::remove(ringPath(path), ignored);
    return {};
}

} // namespace profiler::container
