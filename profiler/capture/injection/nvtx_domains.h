#pragma once

#include "profiler/capture/injection/process_recording.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <nvtx3/nvToolsExt.h>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::capture::injection {

/// A string that a program registered; our nvtxStringHandle_t points to it. Never destroyed.
struct RegisteredString {
    explicit RegisteredString(std::string from) : text(std::move(from)) {}
    /// Its id in the recording of this generation; interned again after a fork.
    std::uint32_t id(ThreadBuffer& buffer, std::uint64_t generation)
    {
        const std::uint64_t known = m_idOfGeneration.load(std::memory_order_relaxed);
        return known >> 32 == (generation & 0xFFFFFFFF) ? static_cast<std::uint32_t>(known) : newId(buffer, generation);
    }

    const std::string text;

private:
    std::uint32_t newId(ThreadBuffer& buffer, std::uint64_t generation);

    std::atomic<std::uint64_t> m_idOfGeneration{0}; ///< generation and id, 32 bits each
};

/// A domain; our nvtxDomainHandle_t points to it. Never destroyed.
struct NvtxDomain {
    std::string name;        ///< empty for NVTX's default domain
    std::uint32_t index = 0; ///< 0 for the default domain
};

/// A range that has started but not ended; another thread may end it.
struct StartedRange {
    std::string track;
    std::uint32_t name = 0, detail = 0;
    std::int64_t value = 0, begin = 0;
    std::uint64_t generation = 0;
};

/// Domains, registered strings, category names and started ranges of the process. Thread-safe. The lock is held only
/// for look-ups and insertions, and during a fork.
class NvtxRegistry {
public:
    /// Returns the same domain for the same name.
    NvtxDomain& domain(std::string_view name);
    RegisteredString& string(std::string_view text);
    void nameCategory(const NvtxDomain& domain, std::uint32_t category, std::string_view name);
    [[nodiscard]] std::string category(const NvtxDomain& domain, std::uint32_t category);
    nvtxRangeId_t start(StartedRange range);
    std::optional<StartedRange> end(nvtxRangeId_t id);

    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    std::mutex m_mutex;
    std::deque<NvtxDomain> m_domains;
    std::deque<RegisteredString> m_strings;
    std::map<std::string, RegisteredString*, std::less<>> m_byText;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> m_categories; ///< by domain and number
    std::map<nvtxRangeId_t, StartedRange> m_started;
    nvtxRangeId_t m_lastId = 0;
};

/// The instance of this process; NVTX's handlers have only handles to pass.
NvtxRegistry& nvtxRegistry();

} // namespace profiler::capture::injection
