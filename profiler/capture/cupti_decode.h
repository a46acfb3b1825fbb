#pragma once

#include "profiler/capture/cupti_api.h"
#include "profiler/io/wire/records.h"
#include "profiler/model/ids.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace profiler::capture {

/// What one buffer of CUPTI's holds, in our terms.
struct CuptiRecords {
    /// A kernel, copy or memset.
    struct DeviceWork {
        DeviceId device;
        StreamId stream;
        wire::EventRecord event;
        wire::ExtraRecord extra;
    };
    /// A runtime or driver call, an overhead, or a compilation.
    struct HostSlice {
        std::int64_t tid = 0; ///< system thread id; 0: of the process as a whole
        wire::EventRecord event;
        bool isDriverWork = false; ///< one of workingDriverCalls()
    };
    /// A wait of a host thread, which the call of the same correlation id names.
    struct HostWait {
        std::uint32_t correlation = 0;
        wire::EventRecord event;
    };
    /// A stream that waits for an event: an edge between streams.
    struct StreamWait {
        StreamId stream;
        std::uint32_t correlation = 0, event = 0;
        std::uint64_t sync = 0; ///< CudaEvent::sync of the event that ends it
    };
    struct CudaEvent {
        DeviceId device;
        StreamId stream;
        std::uint32_t correlation = 0, event = 0;
        std::uint64_t sync = 0;
    };
    /// Joins a call with what the program was doing (its own number).
    struct ExternalId {
        std::uint32_t correlation = 0;
        std::uint64_t external = 0;
    };
    struct Device {
        DeviceId id;
        std::string name, uuid; ///< "GPU-00112233-4455-…", as nvidia-smi prints it
        int computeMajor = 0, computeMinor = 0;
        std::int64_t memoryBytes = 0;
        bool mig = false; ///< a slice of a GPU
    };
    struct Context {
        DeviceId device;
        StreamId defaultStream;
    };
    /// Device memory that was taken (positive) or given back, by cudaMalloc and its like.
    struct Allocation {
        DeviceId device;
        std::int64_t time = 0, bytes = 0;
        bool managed = false;
    };
    /// What a stream-ordered memory pool holds at a time.
    struct Pool {
        DeviceId device;
        std::int64_t time = 0;
        std::uint64_t address = 0, bytes = 0, used = 0;
    };
    /// An NVTX range's start or end, or a mark, as CUPTI tells it; joined by `id`.
    struct Marker {
        enum class What { Start, End, Mark } what = What::Mark;
        std::uint32_t id = 0, name = 0; ///< the end has no name
        std::int64_t tid = 0, time = 0; ///< tid 0: of no thread
    };

    std::vector<DeviceWork> work;
    std::vector<HostSlice> host;
    std::vector<HostWait> waits;
    std::vector<StreamWait> streamWaits;
    std::vector<CudaEvent> events;
    std::vector<ExternalId> externals;
    std::vector<Device> devices;
    std::vector<Context> contexts;
    std::vector<Allocation> allocations;
    std::vector<Pool> pools;
    std::vector<Marker> markers;
    std::vector<void*>
        toFree;               ///< what the records point to and CUPTI leaves to its client to free() (cupti_activity.h)
    std::uint64_t count = 0;  ///< all records of the buffer, readable or not
    std::uint64_t probes = 0; ///< of kProbeCall, which are not delivered
    std::uint64_t unknown = 0; ///< records of kinds that are not decoded
    std::uint64_t damaged = 0; ///< records without times, and ends of buffers that cannot be read
};

/// Turns buffers into records. Keeps the names it has seen; else the result depends on the buffer alone. One thread.
class CuptiDecoder {
public:
    using Intern = std::function<std::uint32_t(std::string_view)>;

    /// @param api  outlives the decoder; getNextRecord and getCallbackName are called
    CuptiDecoder(const CuptiApi& api, Intern intern);

    /// @param buffer  `valid` bytes of records, 8-aligned, as CUPTI handed it over
    CuptiRecords decode(std::uint8_t* buffer, std::size_t valid);

private:
    void addRecord(const CUpti_Activity& record, std::size_t bytes, CuptiRecords& to);
    void add(const CUpti_Activity& record, CuptiRecords& to);
    /// Kinds of which a training has few.
    void addRare(const CUpti_Activity& record, CuptiRecords& to);
    void addMemory(const CUpti_ActivityMemory4& memory, CuptiRecords& to);
    void addMarker(const CUpti_ActivityMarker2& marker, CuptiRecords& to);
    void addGraph(const CUpti_ActivityGraphTrace2& graph, CuptiRecords& to);
    void addJit(const CUpti_ActivityJit2& jit, CuptiRecords& to);
    void addKernel(const CUpti_ActivityKernel10& kernel, CuptiRecords& to);
    void addCopy(const CUpti_ActivityMemcpy6& copy, CuptiRecords& to);
    void addPeerCopy(const CUpti_ActivityMemcpyPtoP4& copy, CuptiRecords& to);
    void addMemset(const CUpti_ActivityMemset4& memset, CuptiRecords& to);
    void addCall(const CUpti_ActivityAPI& call, CuptiRecords& to);
    void addSync(const CUpti_ActivitySynchronization2& sync, CuptiRecords& to);
    void addOwned(const CUpti_Activity& record, CuptiRecords& to) const;
    void addOverhead(const CUpti_ActivityOverhead3& overhead, CuptiRecords& to);

    std::uint32_t kernelName(const char* mangled);
    std::uint32_t callName(CUpti_CallbackDomain domain, std::uint32_t call);
    std::uint32_t copyName(CopyKind copy, MemoryKind from, MemoryKind to);
    std::uint32_t memsetName(MemoryKind memory);

    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };

    const CuptiApi& m_api;
    Intern m_intern;
    std::uint32_t m_version = 0;                       ///< of the library that fills the buffers
    std::unordered_set<CUpti_CallbackId> m_driverWork; ///< ids of workingDriverCalls()
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> m_kernels; ///< by mangled name
    std::map<std::pair<CUpti_CallbackDomain, std::uint32_t>, std::uint32_t> m_calls;
    std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, std::uint32_t> m_copies;
    std::map<MemoryKind, std::uint32_t> m_memsets;
};

} // namespace profiler::capture
