#include "profiler/capture/collect_parts.h"

#include "profiler/capture/trace_merger.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <span>

namespace profiler::capture {

namespace {

/// The pid in a file name that consists of the trace's name, a dot, and "123" or "123.2".
std::optional<std::int64_t> pidIn(std::string_view name, std::string_view trace)
{
    if (name.size() <= trace.size() + 1 || !name.starts_with(trace) || name[trace.size()] != '.')
        return std::nullopt;
    const std::string_view rest = name.substr(trace.size() + 1);
    std::int64_t pid = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
    if (failed != std::errc{} || pid <= 0)
        return std::nullopt;
    const std::string_view number(end, rest.data() + rest.size());
    const bool whole = number.empty() || (number.size() > 1 && number[0] == '.' &&
                                          number.find_first_not_of("0123456789", 1) == std::string_view::npos);
    return whole ? std::optional(pid) : std::nullopt;
}

/// Takes a value off the front; false if there are too few bytes.
template <class T>
bool takeValue(std::span<const std::byte>& bytes, T& value)
{
    if (bytes.size() < sizeof value)
        return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
    return true;
}

struct OpenPart {
    container::TraceHeader header;
    container::FrameScanner scanner;
};

Result<OpenPart> openPart(const std::filesystem::path& path)
{
    auto file = container::InputFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    const auto header = container::readHeader(*file);
    if (!header)
        return tl::unexpected(header.error());
    if (header->isSealed)
        return fail<"record.no_part", "the file is not part of a trace">(Error::Code::Malformed, path.string());
    return OpenPart{*header, container::FrameScanner(std::move(*file), header->headerBytes)};
}

/// Adds one process's frames to the trace. Frames that cannot be read become a note; only write errors are returned.
Result<void> takePart(const TracePart& part, TraceMerger& to, Collected& collected)
{
    const MessageParameter process{"process", part.pid};
    const auto noteError = [&](const Error& error) {
        collected.notes.push_back(message<"record.part.unread", "process {process}: {why}">(
            {process, {"why", error.message()}, {"error", error.what.id}}));
    };
    auto open = openPart(part.path);
    if (!open) {
        noteError(open.error());
        return {};
    }
    if (auto sized = open->scanner.refresh(); !sized) {
        noteError(sized.error());
        return {};
    }
    bool ended = false, usesGpu = false;
    for (;;) {
        const auto next = open->scanner.next(true);
        if (!next) {
            noteError(next.error());
            break;
        }
        if (next->what == container::Scanned::What::Nothing)
            break;
        if (next->what == container::Scanned::What::Damage) {
            collected.notes.push_back(
                message<"record.part.damaged", "process {process}: {bytes} bytes are damaged at offset {byte}">(
                    {process, {"bytes", next->bytes}, {"byte", next->offset}}));
            continue;
        }
        ended = ended || next->header.type == container::FrameType::End;
        usesGpu = usesGpu || next->header.type == container::FrameType::Device;
        if (auto taken = to.take(next->header.type, next->payload); !taken)
            return taken;
    }
    if (ended)
        return {};
    const auto leftovers = container::recoverRing(part.path, open->header.runId);
    if (!leftovers) {
        collected.notes.push_back(
            message<"record.part.lost_end",
                    "process {process} did not end its trace, and its last events are lost: {why}">(
                {process, {"why", leftovers.error().message()}, {"error", leftovers.error().what.id}}));
        return {};
    }
    // The ring has the last CPU events, so that a process without a GPU, like a loader worker that is killed at the end
    // of each program, loses nothing.
    if (usesGpu)
        collected.notes.push_back(
            message<"record.part.not_ended", "process {process} did not end its trace; its CPU events are complete, "
                                             "but the GPU events since the last flush may be missing">({process}));
    return to.take(*leftovers);
}

} // namespace

std::vector<TracePart> findParts(const std::filesystem::path& trace)
{
    std::vector<TracePart> parts;
    const auto folder = trace.has_parent_path() ? trace.parent_path() : std::filesystem::path(".");
    std::error_code failed;
    for (auto entry = std::filesystem::directory_iterator(folder, failed);
         !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        const auto pid = pidIn(entry->path().filename().string(), trace.filename().string());
        if (pid && openPart(entry->path()))
            parts.push_back({entry->path(), *pid});
    }
    std::sort(parts.begin(), parts.end(), [](const TracePart& a, const TracePart& b) {
        return std::pair(a.pid, a.path.native().size()) < std::pair(b.pid, b.path.native().size()) ||
               (a.pid == b.pid && a.path.native().size() == b.path.native().size() && a.path < b.path);
    });
    return parts;
}

std::map<std::string, std::string> metadataOf(const TracePart& part)
{
    auto open = openPart(part.path);
    if (!open || !open->scanner.refresh())
        return {};
    std::map<std::uint32_t, std::string> texts;
    std::map<std::string, std::string> metadata;
    for (;;) {
        const auto next = open->scanner.next(true);
        if (!next || next->what == container::Scanned::What::Nothing)
            return metadata;
        if (next->what == container::Scanned::What::Damage)
            continue;
        std::span<const std::byte> payload = next->payload;
        if (next->header.type == container::FrameType::Strings) {
            container::StringEntry entry{};
            while (takeValue(payload, entry) && entry.bytes <= payload.size()) {
                texts[entry.id] = {reinterpret_cast<const char*>(payload.data()), entry.bytes};
                payload = payload.subspan(std::min<std::size_t>((entry.bytes + 3) / 4 * 4, payload.size()));
            }
        } else if (next->header.type == container::FrameType::Metadata) {
            for (std::uint32_t pair[2]; takeValue(payload, pair);)
                metadata.insert_or_assign(texts[pair[0]], texts[pair[1]]);
        }
    }
}

Result<Collected> collectParts(const std::vector<TracePart>& parts, const CollectOptions& options)
{
    std::random_device random;
    auto writer = container::FrameWriter::create(options.trace, std::uint64_t{random()} << 32 | random());
    if (!writer)
        return tl::unexpected(writer.error());
    Collected collected;
    collected.notes = options.notes;
    IdRemapping numbers(**writer);
    // Main process first: if two processes set the same key, the first value counts.
    std::vector<TracePart> ordered = parts;
    std::stable_partition(ordered.begin(), ordered.end(),
                          [&](const TracePart& part) { return part.pid == options.mainProcess; });
    std::int64_t before = 0;
    for (const TracePart& part : ordered) {
        TraceMerger renumbering(numbers);
        if (auto taken = takePart(part, renumbering, collected); !taken)
            return tl::unexpected(taken.error());
        renumbering.end();
        collected.processes += part.pid != before ? 1 : 0;
        before = part.pid;
    }
    for (const auto& [key, value] : options.metadata)
        numbers.setMetadata(key, value);
    // Helpers of uv and pip are started with -I; what matters is whether the process that trains has the hooks.
    if (numbers.hasMetadata("program"))
        std::erase_if(collected.notes, [](const Message& note) { return note.id == "record.hooks_kept_out"; });
    if (!collected.notes.empty()) // what is missing in the recording, as every reader shows it
        numbers.setMetadata("record.note", messageLines(collected.notes));
    if (auto ended = numbers.finish(); !ended)
        return tl::unexpected(ended.error());
    collected.events = numbers.events();
    collected.dropped = numbers.loss().dropped;
    (*writer)->close();
    // The trace is complete without this. If it fails, for example on a full disk, the live file stays.
    static_cast<void>(container::sealTrace(options.trace));
    return collected;
}

void removeParts(const std::vector<TracePart>& parts)
{
    std::error_code ignored; // files that cannot be deleted stay; the trace itself is complete
    for (const TracePart& part : parts) {
        std::filesystem::remove(part.path, ignored);
        std::filesystem::remove(container::ringPath(part.path), ignored);
    }
}

} // namespace profiler::capture
