#pragma once

#include "profiler/capture/cupti/decode.h"
#include "profiler/capture/recorder.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// Adds decoded records to their tracks. For use by one thread at a time.
class CuptiDelivery {
public:
    /// @param recorder  must outlive this object
    explicit CuptiDelivery(Recorder& recorder) : m_recorder(recorder) {}

    void deliver(const CuptiRecords& records);
    /// Call after the last buffer.
    void end();

private:
    /// A runtime or driver call that other records refer to.
    struct Call {
        std::int64_t tid = 0; ///< system thread id
        std::int64_t begin = 0;
        std::uint32_t track = 0;
    };
    using Calls = std::unordered_map<std::uint32_t, Call>; ///< by correlation id
    using Threads = std::map<std::int64_t, std::vector<container::EventRecord>>;

    void deliverDevices(const CuptiRecords& records);
    void deliverWork(const CuptiRecords& records);
    /// @param calls    calls and overheads
    /// @param records  the source of waits
    void deliverHost(const std::vector<CuptiRecords::HostSlice>& calls, const CuptiRecords& records);
    std::vector<CuptiRecords::HostSlice> withoutRepeats(const std::vector<CuptiRecords::HostSlice>& host);
    void deliverWaits(const CuptiRecords& records, Threads& threads);
    void deliverEdges(const CuptiRecords& records);
    void deliverMemory(const CuptiRecords& records);
    void sample(std::string_view counter, std::int64_t time, double value);
    [[nodiscard]] std::uint32_t trackOf(std::int64_t tid);
    void remember(const std::vector<CuptiRecords::HostSlice>& calls);
    [[nodiscard]] const Call* callOf(std::uint32_t correlation) const;

    Recorder& m_recorder;
    // A wait and its call may arrive in different buffers and in any order, so recent calls are kept. When the newer
    // half is full, the older half is dropped.
    Calls m_calls, m_olderCalls;
    // The driver call at the end of a thread's part of a buffer: the runtime call around it may come next.
    std::vector<CuptiRecords::HostSlice> m_lastCalls;
    std::vector<CuptiRecords::HostWait> m_waits;       ///< waits whose call has not arrived yet, newest last
    std::map<DeviceId, std::string> m_devices;         ///< devices already reported; each context of a device reports
                                                       ///< it again
    std::map<std::uint64_t, std::uint32_t> m_recorded; ///< CUDA events: sync id of their last recording → correlation
                                                       ///< id
    std::vector<CuptiRecords::StreamWait> m_streamWaits; ///< waits whose event or call has not arrived yet
    struct Held {
        std::int64_t device = 0, managed = 0;
    };
    std::map<DeviceId, Held> m_held; ///< bytes
};

} // namespace profiler::capture
