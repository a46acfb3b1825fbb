#pragma once

#include "profiler/capture/cupti_decode.h"
#include "profiler/capture/recorder.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// Puts decoded records on their tracks. One thread at a time.
class CuptiDelivery {
public:
    /// @param recorder  outlives it
    explicit CuptiDelivery(Recorder& recorder) : m_recorder(recorder) {}

    void deliver(const CuptiRecords& records);
    /// No more buffers come: waits whose call was not seen are counted as unmatched.
    void end();

private:
    void remember(const CuptiRecords& records);
    [[nodiscard]] const std::int64_t* threadOf(std::uint32_t correlation) const;

    using Calls = std::unordered_map<std::uint32_t, std::int64_t>; ///< correlation id → system thread id

    Recorder& m_recorder;
    // A wait and the call it belongs to may come in different buffers, in any order: recent calls are kept, the older
    // half is forgotten when the newer one is full.
    Calls m_calls, m_olderCalls;
    std::vector<CuptiRecords::HostWait> m_waits; ///< whose call has not come
    std::map<DeviceId, std::string> m_devices;   ///< told already; each context of a device tells it again
};

} // namespace profiler::capture
