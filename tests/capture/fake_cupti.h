#pragma once

#include "profiler/capture/cupti/api.h"
#include "profiler/capture/cupti/source.h"
#include "tests/capture/cupti_buffer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace capture_test {

/// A CUPTI without a GPU: it records each call, fails where a test tells it to, and returns buffers that the test
/// fills. The real library iterates over the records.
class FakeCupti {
public:
    FakeCupti();
    FakeCupti(const FakeCupti&) = delete;
    FakeCupti& operator=(const FakeCupti&) = delete;

    /// Adds records as if the device had produced them; they stay in a buffer of the source until the next flush.
    void put(CuptiBuffer& records);
    /// CUPTI's own thread returns the filled buffers, which may happen at any time.
    void handOver();
    /// Requests a buffer as CUPTI does; complete() returns it with `valid` bytes of records.
    /// @param most  receives the maximum number of records, 0 for no limit
    std::uint8_t* request(std::size_t* size, std::size_t* most = nullptr);
    void complete(std::uint8_t* buffer, std::size_t size, std::size_t valid);

    profiler::capture::CuptiApi api;
    std::vector<std::string> calls;              ///< read it only while no thread of the source is running
    std::map<std::string, CUptiResult> failures; ///< by call, as in `calls`
    std::set<CUpti_ActivityKind> enabled;
    std::string otherTool;
    /// Another tool has registered buffer callbacks and receives the records.
    std::atomic<bool> takenOver = false;
    /// CUPTI reports a state.
    void reportState(CUpti_CallbackIdState id, CUptiResult status, const char* message);
    std::atomic<int> flushes = 0;
    std::atomic<std::size_t> dropped = 0; ///< reported once, then 0, as in CUPTI
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
    std::mutex m_mutex; ///< guards calls and m_filled
    std::vector<Filled> m_filled;
};

} // namespace capture_test
