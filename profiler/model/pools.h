#pragma once

#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Texts, arguments and launch configurations of a trace, each stored once, in lists that snapshots share.
namespace profiler {

/// The contents of a SharedLog at the time the view was taken. Immutable; may be read on any thread while the log
/// grows.
template <class T, std::size_t ChunkSize>
class SharedLogView {
public:
    using Chunk = std::array<T, ChunkSize>;
    SharedLogView() = default;
    SharedLogView(std::vector<std::shared_ptr<const Chunk>> chunks, std::size_t size)
        : m_chunks(std::move(chunks)), m_size(size)
    {
    }

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] const T& operator[](std::size_t index) const
    {
        return (*m_chunks[index / ChunkSize])[index % ChunkSize];
    }
    [[nodiscard]] std::size_t bytes() const { return m_chunks.size() * (sizeof(Chunk) + sizeof(m_chunks[0])); }

private:
    std::vector<std::shared_ptr<const Chunk>> m_chunks;
    std::size_t m_size = 0;
};

/// An append-only list whose entries never move, so snapshots can share them with the writer: a view reads only entries
/// that were written before it was taken. Supports one writer.
template <class T, std::size_t ChunkSize>
class SharedLog {
public:
    using View = SharedLogView<T, ChunkSize>;

    void push_back(T value)
    {
        if (m_size % ChunkSize == 0)
            m_chunks.push_back(std::make_shared<typename View::Chunk>());
        (*m_chunks.back())[m_size % ChunkSize] = std::move(value);
        ++m_size;
    }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] const T& operator[](std::size_t index) const
    {
        return (*m_chunks[index / ChunkSize])[index % ChunkSize];
    }
    [[nodiscard]] View view() const { return {{m_chunks.begin(), m_chunks.end()}, m_size}; }

private:
    std::vector<std::shared_ptr<typename View::Chunk>> m_chunks;
    std::size_t m_size = 0;
};

/// A string in the pool, with the memory block that contains its characters.
struct PooledString {
    std::string_view text;
    std::shared_ptr<const char[]> storage; ///< shared by many strings
};
using StringLog = SharedLog<PooledString, 512>;
using ArgsLog = SharedLog<SliceArgs, 256>;
using LaunchLog = SharedLog<LaunchConfig, 64>;
using CounterLog = SharedLog<CounterSample, 256>;

/// Interns strings. Ids are dense; 0 is "".
class StringPool {
public:
    StringPool();
    StringId intern(std::string_view text);
    [[nodiscard]] std::size_t size() const { return m_strings.size(); }
    [[nodiscard]] std::string_view text(StringId id) const { return m_strings[id.value].text; }
    [[nodiscard]] StringLog::View view() const { return m_strings.view(); }
    /// Number of bytes in all strings.
    [[nodiscard]] std::size_t textBytes() const { return m_textBytes; }

private:
    StringLog m_strings;
    std::unordered_map<std::string_view, StringId> m_ids; ///< views into the storage of m_strings
    std::shared_ptr<char[]> m_arena;
    std::size_t m_arenaSize = 0, m_arenaUsed = 0, m_textBytes = 0;
};

/// Interns arguments. An id is an index into the log; with kInline set, it is itself a small `value`, and all other
/// arguments are empty.
class ArgsPool {
public:
    ArgsPool();
    std::uint32_t intern(const SliceArgs& args);
    [[nodiscard]] ArgsLog::View view() const { return m_args.view(); }
    [[nodiscard]] std::size_t size() const { return m_args.size(); }
    [[nodiscard]] const SliceArgs& operator[](std::size_t index) const { return m_args[index]; }
    /// True for an id that contains its own value and means the same in every pool.
    static constexpr bool isInline(std::uint32_t id) { return (id & kInline) != 0; }
    /// The arguments for an id.
    static SliceArgs resolve(const ArgsLog::View& view, std::uint32_t id);

private:
    static constexpr std::uint32_t kInline = 1U << 31;
    struct Hash {
        std::size_t operator()(const SliceArgs& args) const noexcept;
    };
    std::uint32_t added(const SliceArgs& args);

    ArgsLog m_args;                             ///< entry 0: no arguments
    std::vector<std::uint32_t> m_firstOfLaunch; ///< by launch, the first arguments that have it; 0: none has it
    std::unordered_map<SliceArgs, std::uint32_t, Hash> m_ids; ///< of all others
};

/// Interns launch configurations. Ids are dense and start at 1; 0 is the empty configuration, so a trace without
/// kernels stores none.
class LaunchPool {
public:
    LaunchId intern(const LaunchConfig& launch);
    static std::uint32_t hashOf(const LaunchConfig& launch);
    [[nodiscard]] LaunchLog::View view() const { return m_launches.view(); }
    [[nodiscard]] std::size_t size() const { return m_launches.size(); }
    [[nodiscard]] const LaunchConfig& operator[](std::size_t index) const { return m_launches[index]; }
    /// The configuration for an id; an empty one if there is none.
    static LaunchConfig resolve(const LaunchLog::View& view, LaunchId id);

private:
    struct Slot {
        std::uint32_t hash = 0, id = 0; ///< id 0: free
    };
    [[nodiscard]] std::size_t place(std::uint32_t hash, const LaunchConfig& launch) const;
    void grow();

    LaunchLog m_launches;      ///< that of id 1 comes first
    std::vector<Slot> m_slots; ///< open addressing; a power of two, at most half of them in use
};

/// Names and arguments that one importer thread interns without a lock, until TraceBuilder::merge.
struct LocalPools {
    StringPool strings;
    LaunchPool launches;
    ArgsPool args; ///< `shapes` and `types` are ids of `strings`, `launch` is one of `launches`
};

/// Maps ids of a LocalPools to ids of a builder.
struct PoolRemap {
    std::vector<std::uint32_t> names, args;

    /// An id that the pools never returned becomes "no name" or "no arguments".
    void apply(RawSlice& slice) const
    {
        slice.name = slice.name < names.size() ? names[slice.name] : 0;
        if (!ArgsPool::isInline(slice.args))
            slice.args = slice.args < args.size() ? args[slice.args] : 0;
    }
};
PoolRemap mergePools(const LocalPools& pools, StringPool& strings, LaunchPool& launches, ArgsPool& args);

} // namespace profiler
