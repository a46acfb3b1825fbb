// Turns events into slices, flows, samples and metadata. Each scanning thread has its own sink; names, arguments and
// rows get their numbers from the trace builder, which the threads share.
#pragma once

#include "profiler/formats/pytorch/ranges.h"
#include "profiler/formats/pytorch/scan_result.h"
#include "profiler/model/trace_builder.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// The arguments of slices, before their launch configuration has an id.
struct ArgsOfPart {
    LaunchConfig launch;
    SliceArgs others; ///< without the launch
};

/// The trace builder, shared by several scanning threads. Each thread caches the results, so the lock is rarely taken.
class SharedBuild {
public:
    TraceBuilder builder; ///< used by the committing thread; scanning threads use the functions below

    std::uint32_t internName(std::string_view text);
    /// The ids of the arguments in a part of the file. Kernels may all differ in their launch configuration; looking
    /// them up one by one would make the threads wait for each other.
    std::vector<std::uint32_t> internArgs(std::span<const ArgsOfPart> args);
    /// The number of the row for a key.
    std::uint32_t rowId(const RowKey& key, const Event& event);
    /// Adds slices to a row. The row becomes a track here rather than earlier, so a discarded part leaves no empty
    /// tracks.
    void addMany(std::uint32_t rowId, std::vector<RawSlice>&& slices);

    /// Runs `work` while no scanning thread can add a name, arguments or a row. `work` must be short.
    template <class Work>
    void undisturbed(Work&& work)
    {
        const std::scoped_lock lock(m_mutex);
        work();
    }

    /// Rows by number. Accessed by the committing thread, either after the scanning threads have ended or in
    /// undisturbed().
    std::vector<RowInfo> rowInfos;

private:
    std::mutex m_mutex; ///< held for at most one look-up, or for the arguments of a part
    std::map<RowKey, std::uint32_t> m_ids;
};

/// What the name of an event says about the event.
enum class NameUse : std::uint8_t {
    Plain,
    Step,       ///< "ProfilerStep#5"
    Memory,     ///< "[memory]": an allocation or a deallocation
    StreamWait, ///< "Stream Wait Event": a stream waits for another one; the host does not wait
    WindowMark, ///< the profiler's own marks of its start and end
};

struct Name {
    std::uint32_t id = 0;    ///< StringId of the displayed name
    std::int64_t number = 0; ///< Step: its index
    NameUse use = NameUse::Plain;
    CopyName copy;
};

/// The names that one scanning thread has seen, by raw JSON text.
class Names {
public:
    explicit Names(SharedBuild& shared) : m_shared(shared) {}
    const Name& find(std::string_view raw, bool odd);

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const;
    };

    SharedBuild& m_shared;
    std::unordered_map<std::string, Name, Hash, std::equal_to<>> m_names;
};

/// Turns events into slices. Each scanning thread has its own instance.
class EventSink {
public:
    EventSink(SharedBuild& shared, const PassOptions& passOptions);

    /// Directs all following events into `result`, until end().
    void begin(ScanResult& result);
    void end();
    /// Declares that the byte at `window` is byte `offset` of the file.
    void setWindow(const char* window, std::uint64_t offset);

    /// Receives the events in file order.
    void take(const Event& event);
    /// The StringId of an array of sizes or types.
    /// @param json  valid JSON
    std::uint32_t intern(std::string_view json);

private:
    struct CachedRow {
        RowKey key;
        std::uint32_t rowId = 0;
        bool known = false;
    };

    [[nodiscard]] std::uint64_t offsetOf(const Event& event) const;
    void countOddities(const Event& event);
    bool hasTime(const Event& event);
    void takeWhole(const Event& event);
    void takeInstant(const Event& event);
    void takeRangeEnd(const Event& event);
    void takeFlow(const Event& event);
    void takeCounter(const Event& event);
    void takeMemory(const Event& event);
    void takeMetadata(const Event& event);
    RawSlice makeSlice(const Event& event, const Name& name, RowKind& rowKind);
    std::uint32_t argsOf(const Event& event, const Name& name, ActivityKind kind, RowKind rowKind);
    void replaceArgs();
    std::uint32_t rowIdOf(const RowKey& key, const Event& event);
    std::uint32_t processRow(const Event& event);
    std::vector<RawSlice>& slicesOf(std::uint32_t rowId);
    void markRow(const RawSlice& slice, std::uint32_t rowId);
    const Name& nameOf(const Event& event);
    void takeBinding(const Event& event, std::uint32_t rowId);

    SharedBuild& m_shared;
    Names m_names;
    bool m_keepLaunchFlows;
    PartRanges m_ranges;
    ScanResult* m_result = nullptr;
    const char* m_window = nullptr;
    std::uint64_t m_windowOffset = 0;
    std::array<CachedRow, 64> m_cachedRows{};
    std::vector<ArgsOfPart> m_args;
    std::vector<std::uint32_t> m_argsPlaces; ///< by hash: index into m_args + 1 of arguments that may be equal
    std::vector<std::uint32_t> m_rowOf;      ///< by row id: index into the result's rows + 1
    std::vector<std::size_t> m_expected;     ///< by row id: number of slices in the last result
};

} // namespace profiler::formats::json
