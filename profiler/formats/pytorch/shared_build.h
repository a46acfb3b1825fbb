#pragma once

#include "profiler/formats/pytorch/category.h"
#include "profiler/formats/pytorch/event.h"
#include "profiler/model/pools.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// The identity of a row. A text is represented by its hash.
struct RowKey {
    std::int64_t process = 0, thread = 0;  ///< thread of a device row: only ids made up by our writer
    std::int64_t device = -1, stream = -1; ///< device rows only
    RowKind kind = RowKind::Host;
    bool processIsText = false, threadIsText = false;
    std::uint8_t category = 0; ///< rows of asynchronous events: index of their category + 1
    friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

/// What is known about a row before the metadata events are evaluated.
struct RowInfo {
    RowKey key;
    std::string processText, threadText;  ///< if they are not numbers
    std::optional<TrackId> track;         ///< set once the row has a slice
    std::optional<std::int64_t> device{}; ///< overrides the key's device if processes share device numbers
};

/// A process as the rows show it, keyed by its number in the file or by the hash of its text (the bool tells which).
struct Process {
    std::int64_t pid = 0;
    std::string name;
    std::int32_t sortIndex = 0;
};
using Processes = std::map<std::pair<std::int64_t, bool>, Process>;

/// The arguments of a kernel, before its launch configuration has an id.
struct LaunchedArgs {
    LaunchConfig launch;
    SliceArgs others; ///< without the launch
};

/// The trace builder, shared by several scanning threads. Each thread caches the results, so the lock is rarely taken.
class SharedBuild {
public:
    TraceBuilder builder; ///< used by the committing thread; scanning threads use the functions below

    std::uint32_t internName(std::string_view text);
    std::uint32_t internArgs(const SliceArgs& args);
    /// The ids of the arguments of the kernels of a part of the file. Kernels may all differ in their launch
    /// configuration; looking them up one by one would make the threads wait for each other.
    std::vector<std::uint32_t> internLaunched(std::span<const LaunchedArgs> launched);
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
    std::mutex m_mutex; ///< held for at most one look-up, or for the launches of a part
    std::map<RowKey, std::uint32_t> m_ids;
};

/// The row that an event belongs to.
RowKey rowKey(const Event& event, RowKind rowKind);

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

} // namespace profiler::formats::json
