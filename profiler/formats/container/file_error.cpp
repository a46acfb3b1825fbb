#include "profiler/formats/container/file_error.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace profiler::wire {

std::string reasonOf(int number)
{
    return std::generic_category().message(number);
}

Error fileError(int number, Message what, const std::filesystem::path& path)
{
    Error error{Error::Code::Io, std::move(what), path.string(), {}};
    switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        error.code = Error::Code::NoSpace;
        error.hint = "free some space, or record into a folder on another disk";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        error.code = Error::Code::Permission;
        error.hint = "record into a folder that you may write to";
        break;
    case ENOENT:
    case ENOTDIR:
        error.code = Error::Code::NotFound;
        error.hint = "create the folder, or choose an existing one";
        break;
    case EISDIR:
        error.code = Error::Code::Invalid;
        error.hint = "choose a file name instead of a folder";
        break;
    default:
        break;
    }
    return error;
}

} // namespace profiler::wire
