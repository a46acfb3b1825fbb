#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

/// Memory: files mapped into this process, and how much memory the machine and this process have.
namespace profiler::os {

/// A file mapped for reading and writing; other processes that map it see the changes, and the file keeps them however
/// this process ends. Unmapped by the destructor.
class SharedMapping {
public:
    /// @param file  open for reading and writing, at least `bytes` long; may be closed afterwards
    /// @return nullopt, with errno set
    static std::optional<SharedMapping> map(int file, std::size_t bytes);
    /// Memory without a file, filled with zeros, which the children that this process forks share with it.
    /// @return nullopt, with errno set
    static std::optional<SharedMapping> anonymous(std::size_t bytes);
    SharedMapping(SharedMapping&& other) noexcept;
    SharedMapping& operator=(SharedMapping&& other) = delete;
    ~SharedMapping();
    [[nodiscard]] std::byte* data() const { return m_data; }

private:
    SharedMapping(std::byte* data, std::size_t bytes) : m_data(data), m_bytes(bytes) {}
    std::byte* m_data;
    std::size_t m_bytes;
};

/// Memory of the machine, in bytes; 0 if unknown.
std::uint64_t physicalMemory();
/// Memory that this process occupies now, in bytes; 0 if unknown.
std::uint64_t residentMemory();
/// Keeps freed blocks below 32 MiB for the next allocation instead of returning them to the system, which would have to
/// clear their pages again: 5 % less processor time for reading 1 M events. For programs that end after their work.
/// Call it before other threads exist.
void keepFreedMemory();
/// The most memory that this process has occupied so far, in bytes.
std::uint64_t peakResidentMemory();

} // namespace profiler::os
