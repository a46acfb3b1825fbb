#include "trainer/data/file_bytes.h"

#include "profiler/os/files.h"

#include <cerrno>
#include <optional>
#include <system_error>

namespace trainer::data {

namespace {

using profiler::Error;
namespace os = profiler::os;

constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;

} // namespace

Error fileError(int errorNumber, const std::string& doing, const std::filesystem::path& path)
{
    Error::Code code = Error::Code::Io;
    if (errorNumber == ENOENT)
        code = Error::Code::NotFound;
    else if (errorNumber == EACCES || errorNumber == EPERM || errorNumber == EROFS)
        code = Error::Code::Permission;
    else if (errorNumber == ENOSPC || errorNumber == EDQUOT)
        code = Error::Code::NoSpace;
    return profiler::makeError<"data.file.failed", "{doing}: {why}">(
        code, path.string(), {}, {{"doing", doing}, {"why", std::generic_category().message(errorNumber)}});
}

profiler::Result<void> readFile(const std::filesystem::path& path, std::vector<std::uint8_t>& out)
{
    const os::Descriptor file = os::openToRead(path);
    const auto state = file ? os::stateOf(file.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(fileError(errno, "the file cannot be read", path));
    if (state->kind != os::FileState::Kind::Regular)
        return profiler::fail<"data.file.not_regular", "this is not a regular "
                                                       "file">(Error::Code::Invalid, path.string());
    if (state->bytes > kMostBytes)
        return profiler::fail<"data.file.too_large", "the file is too large: {size} MB; at most {most} MB are allowed">(
            Error::Code::Unsupported, path.string(), {}, {{"size", state->bytes >> 20}, {"most", kMostBytes >> 20}});
    out.resize(state->bytes);
    const os::Transfer read = os::readAt(file.get(), 0, std::as_writable_bytes(std::span(out)));
    if (read.error != 0)
        return tl::unexpected(fileError(read.error, "the file cannot be read", path));
    out.resize(read.bytes); // if the file was truncated in between, its decoder reports the error
    return {};
}

profiler::Result<void> writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes)
{
    const std::filesystem::path temporary = path.string() + ".tmp";
    os::Descriptor file = os::openToReplace(temporary);
    if (!file)
        return tl::unexpected(fileError(errno, "the file cannot be written", path));
    int failed = os::writeAll(file.get(), std::as_bytes(bytes)).error;
    if (const int closed = file.close(); failed == 0)
        failed = closed;
    std::error_code error(failed, std::generic_category());
    if (!error)
        std::filesystem::rename(temporary, path, error);
    if (!error)
        return {};
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return tl::unexpected(fileError(error.value(), "the file cannot be written", path));
}

} // namespace trainer::data
