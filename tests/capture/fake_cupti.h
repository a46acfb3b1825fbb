#pragma once

#include "profiler/capture/cupti_api.h"
#include "profiler/capture/cupti_source.h"
#include "tests/capture/cupti_buffer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace capture_test {

/// A CUPTI without a GPU: notes each call, fails where it is told to, and hands over what a test puts into buffers.
/// Records are walked by the real library.
class FakeCupti {
public:
    FakeCupti();
    FakeCupti(const FakeCupti&) = delete;
    FakeCupti& operator=(const FakeCupti&) = delete;

    /// The device has done this: it lies in a buffer of the source until the next flush.
    void put(CuptiBuffer& records);
    /// CUPTI's own thread hands over what is there, as it may at any time.
    void handOver();
    /// A buffer as CUPTI asks for it, and back without records.
    /// @param most  set to how many records it may hold, 0: as many as fit
    std::uint8_t* request(std::size_t* size, std::size_t* most = nullptr);
    void complete(std::uint8_t* buffer, std::size_t size, std::size_t valid);

    profiler::capture::CuptiApi api;
    std::vector<std::string> calls;              ///< to be read while no thread of the source runs
    std::map<std::string, CUptiResult> failures; ///< by call as noted
    std::set<CUpti_ActivityKind> enabled;
    std::string otherTool;
    /// Another tool has registered callbacks for buffers: what the device does goes to that.
    std::atomic<bool> takenOver = false;
    /// CUPTI reports a state of its own.
    void reportState(CUpti_CallbackIdState id, CUptiResult status, const char* message);
    std::atomic<int> flushes = 0;
    std::atomic<std::size_t> dropped = 0; ///< reported once, then 0, as CUPTI does
    CUpti_TimestampCallbackFunc clock = nullptr;
    std::atomic<bool> buffersWereZero = true;

private:
    CUptiResult call(const std::string& name);
    struct Filled {
        std::uint8_t* buffer;
        std::size_t size, valid;
    };
    CUpti_CallbackFunc m_callback = nullptr;
    void* m_user = nullptr;
    CUpti_BuffersCallbackRequestFunc m_request = nullptr;
    CUpti_BuffersCallbackCompleteFunc m_complete = nullptr;
    std::mutex m_mutex; ///< of calls and m_filled
    std::vector<Filled> m_filled;
};

} // namespace capture_test
