#include "profiler/formats/container/records.h"
#include "profiler/formats/container/tailing_reader.h"
#include "profiler/formats/format.h"

#include <cstring>

namespace profiler::formats {

namespace {

bool recognises(std::span<const std::byte> head, const std::filesystem::path&)
{
    return head.size() >= sizeof wire::kFileMagic &&
           std::memcmp(head.data(), &wire::kFileMagic, sizeof wire::kFileMagic) == 0;
}

Result<std::shared_ptr<const Trace>> read(const std::filesystem::path& path, const ReadOptions& options)
{
    return wire::readTrace(path, options.progress, options.stop, {options.preview, options.previewAfter});
}

} // namespace

Format stepscope()
{
    return {.title = "Stepscope trace",
            .doc = "A Stepscope recording: a log that grows during a run and stays readable if the run is killed",
            .extensions = {".sstrace"},
            .recognises = recognises,
            .read = read};
}

} // namespace profiler::formats
