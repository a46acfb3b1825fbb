#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/pytorch_json_writer.h"
#include "profiler/formats/pytorch/read_json.h"

#include <string_view>

namespace profiler::formats {

namespace {

/// True for an object, or for an array whose first element looks like an event. Other text files are not traces.
bool recognises(std::span<const std::byte> head, const std::filesystem::path&)
{
    std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); };
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    skip();
    if (text.empty() || (text.front() != '{' && text.front() != '['))
        return false;
    const bool object = text.front() == '{';
    text.remove_prefix(1);
    skip();
    return text.empty() || text.front() == (object ? '"' : '{') || text.front() == (object ? '}' : ']');
}

Result<void> write(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    if (path.extension() == ".zst")
        return fail<"json.no_zstd", "PyTorch JSON cannot be written with zstd compression">(
            Error::Code::Unsupported, path.string(), "end the name with .json.gz, which PyTorch's tools can read");
    return writers::writePytorchJson(trace, path, options);
}

} // namespace

Format pytorch_json()
{
    return {.title = "PyTorch profiler JSON",
            .doc =
                "Exports of all versions of torch.profiler, and Chrome's trace format; may be compressed or truncated",
            .extensions = {".json.gz", ".json.zst", ".json"},
            .recognises = recognises,
            .read = json::readJson,
            .write = write,
            .readsCompressed = true};
}

} // namespace profiler::formats
