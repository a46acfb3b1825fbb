#include "profiler/formats/format.h"
#include "profiler/formats/open/source_file.h"
#include "profiler_formats_formats_registry.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace profiler::formats {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

struct Head {
    std::vector<char> bytes; ///< decompressed
    Compression compression = Compression::None;
};

Result<Head> readHead(const std::filesystem::path& path)
{
    const auto file = SourceFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    Head head;
    head.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kHeadBytes, file->size())));
    int error = 0;
    head.bytes.resize(file->read(0, head.bytes, error));
    if (error != 0)
        return tl::unexpected(readError(error, path));
    head.compression = compressionOf(std::as_bytes(std::span{head.bytes}));
    if (head.compression != Compression::None) {
        InflateStream stream(*file, head.compression);
        head.bytes.resize(kHeadBytes);
        head.bytes.resize(stream.read(head.bytes));
        if (head.bytes.empty() && !stream.damage().empty())
            return fail<"file.compression", "{why}">(Error::Code::Malformed, path.string(),
                                                     "copy or download the file again", {{"why", stream.damage()}});
    }
    return head;
}

/// Formats that can be written, or formats that can be read: "PyTorch profiler JSON (.json, .json.gz), …".
std::string knownFormats(bool writable)
{
    std::string text;
    for (const auto& [stem, format] : all()) {
        if (writable ? !format.write : !format.read)
            continue;
        text += (text.empty() ? "" : ", ") + std::string(format.title) + " (";
        const char* before = "";
        for (const std::string_view extension : format.extensions)
            if (!writable || !extension.ends_with(".zst")) { // .zst can be read but not written
                text += before + std::string(extension);
                before = ", ";
            }
        text += ")";
    }
    return text;
}

/// A sentence about write-only formats: "Perfetto trace files are written, not read."
std::string writtenOnly()
{
    std::string text;
    for (const auto& [stem, format] : all())
        if (!format.read)
            text += (text.empty() ? "" : " and ") + std::string(format.title);
    return text.empty() ? text : "; " + text + " files can be written but not read";
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
    return text;
}

/// Describes an archive or encoding that may contain a trace but is not read, by its first bytes; empty: none of them.
std::string_view unreadContainer(std::string_view bytes)
{
    using namespace std::string_view_literals;
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {{"PK\3\4"sv, "a ZIP archive"},
                                                                        {"\xFD"
                                                                         "7zXZ\0"sv,
                                                                         "compressed with xz"},
                                                                        {"BZh"sv, "compressed with bzip2"},
                                                                        {"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive"},
                                                                        {"\x04\x22\x4D\x18"sv, "compressed with lz4"},
                                                                        {"\xFF\xFE"sv, "text in UTF-16"},
                                                                        {"\xFE\xFF"sv, "text in UTF-16"}};
    for (const auto& [begin, kind] : kKinds)
        if (bytes.starts_with(begin))
            return kind;
    constexpr std::size_t kTarMark = 257;
    return bytes.size() > kTarMark && bytes.substr(kTarMark).starts_with("ustar") ? "a tar archive" : "";
}

Result<std::shared_ptr<const Trace>> openKnown(const std::filesystem::path& path, const ReadOptions& options)
{
    const auto head = readHead(path);
    if (!head)
        return tl::unexpected(head.error());
    if (head->bytes.empty())
        return fail<"file.empty", "the file is empty">(Error::Code::Malformed, path.string(),
                                                       "record or export it again");
    for (const auto& [stem, format] : all()) {
        if (!format.read || !format.recognises(std::as_bytes(std::span{head->bytes}), path))
            continue;
        if (head->compression != Compression::None && !format.readsCompressed)
            return fail<"open.compressed", "this is a compressed file of the format {format}">(
                Error::Code::Unsupported, path.string(), "decompress it first", {{"format", format.title}});
        return format.read(path, options);
    }
    if (const std::string_view kind = unreadContainer({head->bytes.data(), head->bytes.size()}); !kind.empty())
        return fail<"open.container", "the file is {kind}, which is not read">(
            Error::Code::Unsupported, path.string(),
            kind.starts_with("text") ? "save it as UTF-8" : "unpack it, and open the trace that it contains",
            {{"kind", kind}});
    return fail<"open.unknown_format", "the file is not a trace of a supported format">(
        Error::Code::Unsupported, path.string(), "choose one of: " + knownFormats(false) + writtenOnly());
}

} // namespace

Result<FileHead> readFileHead(const std::filesystem::path& path)
{
    const auto head = readHead(path);
    if (!head)
        return tl::unexpected(head.error());
    FileHead found{.format = {}, .text = std::string(head->bytes.begin(), head->bytes.end())};
    for (const auto& [stem, format] : all())
        if (found.format.empty() && !found.text.empty() && format.read &&
            format.recognises(std::as_bytes(std::span{head->bytes}), path))
            found.format = stem;
    return found;
}

Result<std::shared_ptr<const Trace>> openTrace(const std::filesystem::path& path, const ReadOptions& options)
{
    // A file may claim or contain more than fits in memory; the program must survive both. Containers throw
    // std::length_error for impossible sizes.
    const auto outOfMemory = [&] {
        return fail<"open.no_memory", "not enough memory to open the trace">(
            Error::Code::Unavailable, path.string(), "close other programs, or record fewer steps");
    };
    try {
        return openKnown(path, options);
    } catch (const std::bad_alloc&) {
        return outOfMemory();
    } catch (const std::length_error&) {
        return outOfMemory();
    }
}

Result<void> saveTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    const std::string name = lower(path.filename().string());
    const Format* best = nullptr;
    std::size_t longest = 0;
    const auto formats = all();
    for (const auto& [stem, format] : formats)
        for (const std::string_view extension : format.extensions)
            if (format.write && extension.size() > longest && name.ends_with(extension)) {
                best = &format;
                longest = extension.size();
            }
    if (!best)
        return fail<"save.unknown_format", "the file name does not indicate a format">(
            Error::Code::Unsupported, path.string(), "end it with the extension of one of: " + knownFormats(true));
    return best->write(trace, path, options);
}

} // namespace profiler::formats
