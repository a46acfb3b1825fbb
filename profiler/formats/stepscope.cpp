#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/formats/format.h"

namespace profiler::formats {

namespace {

bool recognises(std::span<const std::byte> head, const std::filesystem::path&)
{
    return container::isTrace(head);
}

Result<std::shared_ptr<const Trace>> read(const std::filesystem::path& path, const ReadOptions& options)
{
    return container::readTrace(path, {.progress = options.progress,
                                       .stop = options.stop,
                                       .threads = options.threads,
                                       .memoryBudget = options.memoryBudget,
                                       .preview = options.preview,
                                       .previewAfter = options.previewAfter});
}

Result<void> write(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return container::writeTrace(
        trace, path, {.progress = options.progress, .stop = options.stop, .threads = 0, .metadata = options.metadata});
}

} // namespace

Format stepscope()
{
    return {.title = "Stepscope trace",
            .doc = "A recording, which stays readable if its program is killed, or a finished trace from any source in "
                   "a small file that opens instantly",
            .extensions = {".sspack", ".sstrace"}, // .sspack: the name of finished traces up to version 6
            .recognises = recognises,
            .read = read,
            .write = write};
}

} // namespace profiler::formats
