#include "profiler/os/replacement_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

namespace profiler::os {

namespace {

/// A name that processes of other machines and containers, which share the folder but not the process ids, do not use.
std::filesystem::path temporaryName(const std::filesystem::path& path)
{
    unsigned random = 0;
    static_cast<void>(::getrandom(&random, sizeof random, 0)); // create() tries again if the name exists
    std::array<char, 24> suffix{};
    std::snprintf(suffix.data(), suffix.size(), ".part-%08x", random);
    return path.string() + suffix.data();
}

} // namespace

std::optional<ReplacementFile> ReplacementFile::create(std::filesystem::path path)
{
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        auto temporary = temporaryName(path);
        Descriptor file(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (file)
            return ReplacementFile(std::move(file), std::move(temporary), std::move(path));
        if (errno != EEXIST)
            break;
    }
    return std::nullopt;
}

ReplacementFile::ReplacementFile(Descriptor file, std::filesystem::path temporary, std::filesystem::path path)
    : m_file(std::move(file)), m_temporary(std::move(temporary)), m_path(std::move(path))
{
}

ReplacementFile::ReplacementFile(ReplacementFile&& other) noexcept
    : m_file(std::move(other.m_file)), m_temporary(std::exchange(other.m_temporary, {})),
      m_path(std::move(other.m_path))
{
}

ReplacementFile& ReplacementFile::operator=(ReplacementFile&& other) noexcept
{
    std::swap(m_file, other.m_file);
    std::swap(m_temporary, other.m_temporary);
    std::swap(m_path, other.m_path);
    return *this;
}

ReplacementFile::~ReplacementFile()
{
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

int ReplacementFile::commit()
{
    // Some file systems of other machines cannot sync (EINVAL).
    if (::fsync(m_file.get()) != 0 && errno != EINVAL)
        return errno;
    if (const int error = m_file.close())
        return error;
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        return errno;
    m_temporary.clear();
    return 0;
}

} // namespace profiler::os
