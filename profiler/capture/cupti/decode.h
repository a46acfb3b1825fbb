#pragma once

#include "profiler/capture/cupti/api.h"
#include "profiler/formats/container/frame.h"
#include "profiler/model/ids.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/// Reads the records in CUPTI's buffers, of all versions of the library from 12.0 on.
namespace profiler::capture {

/// The contents of one CUPTI buffer, in the recorder's types.
struct CuptiRecords {
    /// A kernel, copy or memset.
    struct DeviceWork {
        DeviceId device;
        StreamId stream;
        container::EventRecord event;
        container::ExtraRecord extra;
        std::optional<container::LaunchRecord> launch; ///< kernels: takes the place of `extra`
    };
    /// A runtime or driver call, an overhead, or a compilation.
    struct HostSlice {
        std::int64_t tid = 0; ///< system thread id; 0 for the process as a whole
        container::EventRecord event;
        bool isDriverWork = false; ///< one of workingDriverCalls()
    };
    /// A synchronization wait of a host thread; the call with the same correlation id identifies the thread.
    struct HostWait {
        std::uint32_t correlation = 0;
        container::EventRecord event;
    };
    /// A stream that waits for an event: a dependency between streams.
    struct StreamWait {
        StreamId stream;
        std::uint32_t correlation = 0, event = 0;
        std::uint64_t sync = 0; ///< CudaEvent::sync of the event that it waits for
    };
    struct CudaEvent {
        DeviceId device;
        StreamId stream;
        std::uint32_t correlation = 0, event = 0;
        std::uint64_t sync = 0;
    };
    struct Device {
        DeviceId id;
        std::string name, uuid; ///< uuid: "GPU-00112233-4455-…", as printed by nvidia-smi
        int computeMajor = 0, computeMinor = 0;
        std::int64_t memoryBytes = 0;
        int multiprocessors = 0;
        MultiprocessorLimits limits;
        bool mig = false; ///< a MIG instance
    };
    /// Device memory allocated (positive) or freed (negative), by cudaMalloc and similar calls.
    struct Allocation {
        DeviceId device;
        std::int64_t time = 0, bytes = 0;
        bool managed = false;
    };
    /// Size of a stream-ordered memory pool at some time.
    struct Pool {
        DeviceId device;
        std::int64_t time = 0;
        std::uint64_t address = 0, bytes = 0, used = 0;
    };

    std::vector<DeviceWork> work;
    std::vector<HostSlice> host;
    std::vector<HostWait> waits;
    std::vector<StreamWait> streamWaits;
    std::vector<CudaEvent> events;
    std::vector<Device> devices;
    std::vector<Allocation> allocations;
    std::vector<Pool> pools;
    std::vector<void*> toFree; ///< memory that the records point to and that CUPTI's client must free()
                               ///< (cupti_activity.h)
    std::uint64_t count = 0;   ///< all records in the buffer, readable or not
    std::uint64_t probes = 0;  ///< records of kProbeCall, which are not delivered
    std::uint64_t unknown = 0; ///< records of kinds that are not decoded
    std::uint64_t damaged = 0; ///< records without times, and unreadable ends of buffers
};

/// Size of the largest record. A shorter record of an older CUPTI, extended to our layout, fits too.
inline constexpr std::size_t kLargestCuptiRecord = 256;
using CuptiRecordSpace = std::array<std::byte, kLargestCuptiRecord>;

/// Up to 12.9, versions were consecutive numbers; from 13.0 on, they are 130000 and above.
inline constexpr std::uint32_t kCuptiVersion13 = 130'000;

/// Size of a record of this kind in the headers we were built with; 0 for kinds that are not decoded.
std::size_t cuptiRecordSize(CUpti_ActivityKind kind);

/// The record with all the fields of our headers. A library of version 12 writes shorter records, whose fields are a
/// prefix of ours; the missing fields are zero.
/// @param bytes    from the record to the next one, or to the end of the buffer
/// @param version  of the library, as returned by cuptiGetVersion
/// @param space    holds the record if it must be extended
/// @return null if there are too few bytes for any version of the record
const CUpti_Activity* wholeCuptiRecord(const CUpti_Activity& record, std::size_t bytes, std::uint32_t version,
                                       CuptiRecordSpace& space);

/// Decodes buffers into records. It caches names; apart from that, the result depends only on the buffer. For use by
/// one thread.
class CuptiDecoder {
public:
    using Intern = std::function<std::uint32_t(std::string_view)>;

    /// @param api  must outlive the decoder, which calls getNextRecord and getCallbackName
    CuptiDecoder(const CuptiApi& api, Intern intern);

    /// @param buffer  `valid` bytes of records, 8-aligned, as passed by CUPTI
    CuptiRecords decode(std::uint8_t* buffer, std::size_t valid);

private:
    void addRecord(const CUpti_Activity& record, std::size_t bytes, CuptiRecords& to);
    void add(const CUpti_Activity& record, CuptiRecords& to);
    /// Handles kinds that are rare in training.
    void addRare(const CUpti_Activity& record, CuptiRecords& to);
    void addMemory(const CUpti_ActivityMemory4& memory, CuptiRecords& to);
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
    std::uint32_t m_version = 0;                       ///< version of the library that fills the buffers
    std::unordered_set<CUpti_CallbackId> m_driverWork; ///< ids of workingDriverCalls()
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> m_kernels; ///< by mangled name
    std::map<std::pair<CUpti_CallbackDomain, std::uint32_t>, std::uint32_t> m_calls;
    std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, std::uint32_t> m_copies;
    std::map<MemoryKind, std::uint32_t> m_memsets;
};

} // namespace profiler::capture
