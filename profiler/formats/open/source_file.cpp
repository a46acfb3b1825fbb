#include "profiler/formats/open/source_file.h"

#include "profiler/os/files.h"

#include <cerrno>
#include <optional>
#include <system_error>

namespace profiler::formats {

Error readError(int number, const std::filesystem::path& path)
{
    auto error = makeError<"file.unreadable", "cannot read the file: {why}">(
        Error::Code::Io, path.string(), {}, {{"why", std::generic_category().message(number)}});
    if (number == EACCES || number == EPERM) {
        error.code = Error::Code::Permission;
        error.hint = "ask the owner of the file for read permission";
    } else if (number == ENOENT || number == ENOTDIR) {
        error.code = Error::Code::NotFound;
        error.hint = "check the path";
    }
    return error;
}

Result<SourceFile> SourceFile::open(const std::filesystem::path& path)
{
    os::Descriptor descriptor = os::openToRead(path);
    const auto state = descriptor ? os::stateOf(descriptor.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(readError(errno, path));
    if (state->kind == os::FileState::Kind::Folder)
        return fail<"file.folder", "this is a folder, not a file">(Error::Code::Invalid, path.string(),
                                                                   "choose a file in it");
    if (state->kind != os::FileState::Kind::Regular)
        return fail<"file.irregular", "this is not a regular file">(Error::Code::Invalid, path.string(),
                                                                    "copy its content into a file first");
    SourceFile file{descriptor.release()};
    file.m_size = state->bytes;
    return file;
}

std::size_t SourceFile::read(std::uint64_t offset, std::span<char> out, int& error) const
{
    const os::Transfer read = os::readAt(m_descriptor.get(), offset, std::as_writable_bytes(out));
    if (read.error != 0)
        error = read.error;
    return read.bytes;
}

} // namespace profiler::formats
