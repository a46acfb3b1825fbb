#include "profiler/formats/container/packed_reader.h"
#include "profiler/formats/container/packed_writer.h"
#include "profiler/formats/format.h"

namespace profiler::formats {

namespace {

bool recognises(std::span<const std::byte> head, const std::filesystem::path&)
{
    return packed::isPacked(head);
}

Result<std::shared_ptr<const Trace>> read(const std::filesystem::path& path, const ReadOptions& options)
{
    return packed::readPacked(path, {.progress = options.progress,
                                     .stop = options.stop,
                                     .threads = options.threads,
                                     .memoryBudget = options.memoryBudget,
                                     .preview = options.preview});
}

Result<void> write(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return packed::writePacked(
        trace, path, {.progress = options.progress, .stop = options.stop, .threads = 0, .metadata = options.metadata});
}

} // namespace

Format stepscope_packed()
{
    return {.title = "Stepscope packed trace",
            .doc = "A finished trace from any source in a small file that opens instantly",
            .extensions = {".sspack"},
            .recognises = recognises,
            .read = read,
            .write = write};
}

} // namespace profiler::formats
