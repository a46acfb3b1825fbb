#include "profiler/os/memory.h"

#include <fstream>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace profiler::os {

namespace {

std::uint64_t pageBytes()
{
    const long bytes = ::sysconf(_SC_PAGESIZE);
    return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

} // namespace

std::optional<SharedMapping> SharedMapping::map(int file, std::size_t bytes)
{
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return std::nullopt;
    return SharedMapping(static_cast<std::byte*>(memory), bytes);
}

std::optional<SharedMapping> SharedMapping::anonymous(std::size_t bytes)
{
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return std::nullopt;
    return SharedMapping(static_cast<std::byte*>(memory), bytes);
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)), m_bytes(other.m_bytes)
{
}

SharedMapping::~SharedMapping()
{
    if (m_data)
        ::munmap(m_data, m_bytes);
}

void keepFreedMemory()
{
#ifdef M_MMAP_THRESHOLD
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
    ::mallopt(M_TOP_PAD, 16 << 20);
#endif
}

std::uint64_t physicalMemory()
{
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<std::uint64_t>(pages) * pageBytes() : 0;
}

std::uint64_t residentMemory()
{
    std::uint64_t total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * pageBytes();
}

std::uint64_t peakResidentMemory()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

} // namespace profiler::os
