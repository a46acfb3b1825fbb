#include "profiler/io/formats/format.h"
#include "profiler/io/wire/records.h"
#include "profiler/io/wire/tailing_reader.h"

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
