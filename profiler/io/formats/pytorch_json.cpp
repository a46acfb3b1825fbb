#include "profiler/io/formats/format.h"
#include "profiler/io/formats/json/read_json.h"
#include "profiler/io/formats/writers/pytorch_json_writer.h"

#include <string_view>

namespace profiler::formats {

namespace {

/// An object or an array whose first element fits: what else a text file holds is no trace.
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
            Error::Code::Unsupported, path.string(), "end the name with .json.gz, which PyTorch's tools read too");
    return writers::writePytorchJson(trace, path, options);
}

} // namespace

Format pytorch_json()
{
    return {
        .title = "PyTorch profiler JSON",
        .doc = "What torch.profiler exports, of every version, and Chrome's trace format; also compressed or cut short",
        .extensions = {".json.gz", ".json.zst", ".json"},
        .recognises = recognises,
        .read = json::readJson,
        .write = write,
        .readsCompressed = true};
}

} // namespace profiler::formats
