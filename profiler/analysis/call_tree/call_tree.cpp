#include "profiler/analysis/call_tree/call_tree.h"

#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

constexpr std::size_t kBlocksPerUnit = 4; ///< a quarter of a million slices: a few milliseconds
// Before and after every time of a trace; the time between them can be represented.
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min() / 2;
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 2;
/// In the table of launches: the call is outside of the scope.
constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();

bool isCudaCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

bool isHostThread(const Track& track)
{
    return track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
}

bool isIn(const CallScope& scope, TrackId track)
{
    return scope.tracks.empty() || std::binary_search(scope.tracks.begin(), scope.tracks.end(), track);
}

/// True for the slice with which PyTorch's profiler marks the time that it recorded: "PyTorch Profiler (0)".
bool isRecordingSpan(std::string_view name)
{
    return name.starts_with("PyTorch Profiler (");
}

/// Decides which slices are calls of the tree, and under which name.
class Names {
public:
    Names(const Trace& trace, const CallTreeOptions& options) : m_trace(trace), m_same(trace.stringCount())
    {
        const bool operators = options.by == CallGrouping::Operator;
        m_other.resize(trace.stringCount());
        for (std::uint32_t id = 0; id < m_same.size(); ++id) {
            const std::string_view name = trace.string(StringId{id});
            m_other[id] = options.by == CallGrouping::Module ? isModuleCall(name)
                          : operators                        ? !isPythonCall(name) && !isRecordingSpan(name)
                                                             : isPythonCall(name);
            m_same[id] = id;
            if (isProfilerStep(name))
                m_same[id] = m_mark = m_mark == 0 ? id : m_mark;
            else if (!options.stepRange.empty() && isOfRange(name, options.stepRange))
                m_same[id] = m_range = m_range == 0 ? id : m_range;
        }
        for (const ActivityKind kind :
             {ActivityKind::Step, ActivityKind::Phase, ActivityKind::CpuOp, ActivityKind::UserAnnotation,
              ActivityKind::Sync, ActivityKind::Overhead, ActivityKind::Nvtx})
            m_kinds[static_cast<std::size_t>(kind)] = operators;
        for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
            m_kinds[static_cast<std::size_t>(kind)] = operators && options.time == CallTime::Host;
        m_kinds[static_cast<std::size_t>(ActivityKind::Other)] = true; // by name
    }

    [[nodiscard]] bool isCall(ActivityKind kind, std::uint32_t name) const
    {
        return m_kinds[static_cast<std::size_t>(kind)] && (kind != ActivityKind::Other || m_other[name] != 0);
    }
    /// The same for all steps.
    [[nodiscard]] std::uint32_t same(std::uint32_t name) const { return m_same[name]; }
    [[nodiscard]] std::string text(std::uint32_t name) const
    {
        if (name == m_same.size())
            return std::string(kLaunchNotRecorded);
        const std::string_view text = m_trace.string(StringId{name});
        return std::string(name != 0 && (name == m_mark || name == m_range) ? withoutNumber(text) : text);
    }
    /// The name of kLaunchNotRecorded: one after those of the trace.
    [[nodiscard]] std::uint32_t notRecorded() const { return static_cast<std::uint32_t>(m_same.size()); }

private:
    const Trace& m_trace;
    std::array<bool, kActivityKinds> m_kinds{};
    std::vector<unsigned char> m_other;    ///< by string id: it is a call if the kind is Other
    std::vector<std::uint32_t> m_same;     ///< by string id
    std::uint32_t m_mark = 0, m_range = 0; ///< the first step mark and step range; 0: none
};

/// Measures time within the scope only. Times must not decrease.
class ScopeClock {
public:
    ScopeClock(const Intervals& window, std::int64_t from, std::int64_t to) : m_window(window), m_to(to)
    {
        moveTo(from);
        m_now = from;
    }

    /// Time within the scope since the last call.
    std::int64_t passTo(std::int64_t time)
    {
        time = std::min(time, m_to);
        if (time <= m_now)
            return 0;
        std::int64_t passed = 0;
        if (m_window.empty()) {
            passed = time - m_now;
        } else {
            while (m_next < m_window.size() && toNs(m_window[m_next].begin) < time) {
                const std::int64_t begin = std::max(m_now, toNs(m_window[m_next].begin));
                const std::int64_t end = toNs(m_window[m_next].end);
                passed += std::max<std::int64_t>(0, std::min(time, end) - begin);
                if (end > time)
                    break;
                ++m_next;
            }
        }
        m_now = time;
        return passed;
    }
    /// True if the time of the last call is within the scope.
    [[nodiscard]] bool isInside() const
    {
        return m_window.empty() || (m_next < m_window.size() && toNs(m_window[m_next].begin) <= m_now);
    }

private:
    void moveTo(std::int64_t time)
    {
        const auto after = std::upper_bound(m_window.begin(), m_window.end(), time,
                                            [](std::int64_t t, const TimeRange& range) { return t < toNs(range.end); });
        m_next = static_cast<std::size_t>(after - m_window.begin());
    }

    const Intervals& m_window;
    std::int64_t m_to, m_now = 0;
    std::size_t m_next = 0; ///< the first range that ends after m_now
};

/// What one thread has found so far.
struct Found {
    PathTree tree;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> launches; ///< correlation id and node, or kOutside
};

/// Walks over the slices of a track from one time to another. A slice that started earlier is only a caller here.
class Walk {
public:
    Walk(const Names& names, Found& found, const Intervals& window, std::int64_t from, std::int64_t to, bool launches)
        : m_names(names), m_found(found), m_clock(window, from, to), m_from(from), m_launches(launches)
    {
    }

    /// Slices in order of their starts, longest first.
    void add(std::int64_t begin, std::int64_t end, std::uint32_t name, ActivityKind kind, std::uint8_t depth,
             SliceId id)
    {
        passTo(std::max(begin, m_from));
        // Of slices with equal times, the one with the smaller depth is the outer one.
        std::size_t level = m_open.size();
        while (level > m_outer && m_open[level - 1].begin == begin && m_open[level - 1].end == end &&
               m_open[level - 1].depth > depth)
            --level;
        put(level, {begin, end, end, id, 0, m_names.same(name), kind, depth, false});
    }
    /// A step or phase that is recorded on its own track: the caller of every other slice that is open, even of
    /// one that started before it.
    void addOuter(std::int64_t begin, std::int64_t end, std::uint32_t name, ActivityKind kind, SliceId id)
    {
        passTo(std::max(begin, m_from));
        put(m_outer, {begin, end, end, id, 0, m_names.same(name), kind, 0, false});
        ++m_outer;
    }
    /// A call that may launch device work.
    void addLaunch(std::int64_t begin, std::uint64_t correlation)
    {
        if (!m_launches || correlation == 0 || begin < m_from)
            return;
        passTo(begin);
        const std::uint32_t node = m_open.empty() ? 0 : m_open.back().node;
        m_found.launches.emplace_back(correlation, m_clock.isInside() ? node : kOutside);
    }
    void finish() { passTo(kLatest); }

private:
    struct Open {
        std::int64_t begin = 0, end = 0, until = 0; ///< until: at most the end of the slice around it
        SliceId id;
        std::uint32_t node = 0, name = 0;
        ActivityKind kind = ActivityKind::Other;
        std::uint8_t depth = 0;
        bool counted = false; ///< as a call
    };

    /// Opens a slice inside of the first `level` open ones and around the others.
    void put(std::size_t level, const Open& slice)
    {
        const std::vector<Open> inner(m_open.begin() + static_cast<std::ptrdiff_t>(level), m_open.end());
        for (const Open& one : inner)
            m_found.tree[one.node].calls -= one.counted;
        m_open.resize(level);
        open(slice);
        for (const Open& one : inner)
            open(one);
    }

    void passTo(std::int64_t time)
    {
        while (!m_open.empty() && m_open.back().until <= time) {
            m_found.tree[m_open.back().node].self += m_clock.passTo(m_open.back().until);
            m_open.pop_back();
            m_outer = std::min(m_outer, m_open.size());
        }
        const std::int64_t passed = m_clock.passTo(time);
        if (!m_open.empty())
            m_found.tree[m_open.back().node].self += passed;
    }

    void open(Open slice)
    {
        slice.node = m_found.tree.child(m_open.empty() ? 0 : m_open.back().node, slice.name, slice.kind);
        slice.until = m_open.empty() ? slice.end : std::min(slice.end, m_open.back().until);
        slice.counted = slice.begin >= m_from && m_clock.isInside();
        PathTree::Node& node = m_found.tree[slice.node];
        node.calls += slice.counted;
        node.note(slice.end - slice.begin, slice.id);
        m_open.push_back(slice);
    }

    const Names& m_names;
    Found& m_found;
    ScopeClock m_clock;
    std::int64_t m_from;
    bool m_launches;
    std::vector<Open> m_open;
    std::size_t m_outer = 0; ///< the first of m_open come from addOuter()
};

/// A part of a track that one thread walks over.
struct Unit {
    TrackId track;
    std::int64_t from = kEarliest, to = kLatest;
    bool inOrder = true; ///< the starts increase from block to block
    std::size_t slices = 0;
};

bool isInOrder(const TrackSlices& slices)
{
    if (slices.ordered)
        return true;
    for (std::size_t i = 0; i + 1 < slices.blocks.size(); ++i) {
        const BlockPin block = slices.blocks[i].pin();
        if (block && block->columns.begin(block->size() - 1) > slices.begins[i + 1])
            return false;
    }
    return true;
}

class Building {
public:
    Building(const Trace& trace, const CallTreeOptions& options, const std::stop_token& stop)
        : m_trace(trace), m_options(options), m_stop(stop), m_names(trace, options),
          m_threads(options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency()))
    {
        if (!options.scope.window.empty()) {
            m_from = toNs(options.scope.window.front().begin);
            m_to = toNs(options.scope.window.back().end);
        }
    }

    CallTree run()
    {
        findLoops();
        for (const Track& track : m_trace.tracks())
            if (isHostThread(track) && isIn(m_options.scope, track.id) && !m_loops.contains(track.id))
                addUnits(track.id);
        const std::size_t hostUnits = m_units.size();
        if (isDevice())
            for (const Track& track : m_trace.tracks())
                if (!isHostThread(track) && isIn(m_options.scope, track.id) && hasWork(track.id))
                    addUnits(track.id, false);
        for (const Unit& unit : m_units)
            m_slices += unit.slices;
        parallelFor(hostUnits, m_threads, [&](std::size_t i) { walk(m_units[i]); });
        merge();
        if (isDevice() && !m_stop.stop_requested()) {
            findLaunchesOutside();
            sortLaunches();
            // From here on, only device work counts: the tree gives the places.
            for (std::uint32_t i = 0; i < m_tree.nodes().size(); ++i)
                m_tree[i].self = 0;
            parallelFor(m_units.size() - hostUnits, m_threads, [&](std::size_t i) { addWork(m_units[hostUnits + i]); });
            mergeWork();
        }
        if (m_stop.stop_requested())
            return {};
        CallTree tree = m_tree.finish([&](std::uint32_t name) { return m_names.text(name); }, !isDevice());
        tree.steps = m_options.scope.steps;
        return tree;
    }

private:
    [[nodiscard]] bool isDevice() const { return m_options.time == CallTime::Device; }

    [[nodiscard]] bool hasWork(TrackId track) const
    {
        const auto& blocks = m_trace.slicesOf(track).blocks;
        return std::any_of(blocks.begin(), blocks.end(), [](const BlockRef& block) {
            return block.summary().holds(ActivityKind::Kernel) || block.summary().holds(ActivityKind::GpuMemcpy) ||
                   block.summary().holds(ActivityKind::GpuMemset);
        });
    }

    /// A recorded Python program has a track for its steps and phases, which its main thread runs.
    void findLoops()
    {
        for (const Track& loop : m_trace.tracks()) {
            if (loop.kind != TrackKind::MainThread || loop.tid != 0 || loop.pid == 0 || !isIn(m_options.scope, loop.id))
                continue;
            for (const Track& thread : m_trace.tracks())
                if (thread.kind == TrackKind::Thread && thread.pid == loop.pid && thread.tid == loop.pid &&
                    isIn(m_options.scope, thread.id)) {
                    m_loopOf[thread.id] = loop.id;
                    m_loops.insert(loop.id);
                }
        }
    }

    /// The steps and phases around the slices of a unit.
    [[nodiscard]] std::vector<Slice> loopAround(const Unit& unit) const
    {
        const auto loop = m_loopOf.find(unit.track);
        if (loop == m_loopOf.end())
            return {};
        return sortedWhere(m_trace, loop->second, [&](const SliceView& slice) {
            return toNs(slice.begin()) < unit.to && toNs(slice.end()) > unit.from &&
                   m_names.isCall(slice.kind(), slice.nameId().value);
        });
    }

    /// @param bounded  only the part within the scope; device work may run after it
    void addUnits(TrackId track, bool bounded = true)
    {
        const TrackSlices& slices = m_trace.slicesOf(track);
        const std::int64_t begin = bounded ? m_from : kEarliest, end = bounded ? m_to : kLatest;
        if (!isInOrder(slices)) {
            m_units.push_back({track, begin, end, false, slices.count});
            return;
        }
        for (std::size_t first = 0; first < slices.blocks.size(); first += kBlocksPerUnit) {
            const std::size_t after = std::min(slices.blocks.size(), first + kBlocksPerUnit);
            Unit unit{track, begin, end, true, 0};
            if (first > 0)
                unit.from = std::max(begin, slices.begins[first]);
            if (after < slices.blocks.size())
                unit.to = std::min(end, slices.begins[after]);
            for (std::size_t i = first; i < after; ++i)
                unit.slices += slices.blocks[i].summary().count;
            if (unit.from < unit.to)
                m_units.push_back(unit);
        }
    }

    /// A tree that no other thread uses. One tree serves many units, because merging trees costs more than the walk if
    /// there are many paths.
    std::unique_ptr<Found> borrow()
    {
        const std::lock_guard lock(m_mutex);
        if (m_free.empty())
            return std::make_unique<Found>();
        std::unique_ptr<Found> found = std::move(m_free.back());
        m_free.pop_back();
        return found;
    }
    void giveBack(std::unique_ptr<Found> found, const Unit& unit)
    {
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(found));
        m_done += unit.slices;
        if (m_options.progress && m_slices > 0)
            m_options.progress(static_cast<double>(m_done) / static_cast<double>(m_slices));
    }

    void walk(const Unit& unit)
    {
        if (m_stop.stop_requested())
            return;
        std::unique_ptr<Found> found = borrow();
        Walk walk(m_names, *found, m_options.scope.window, unit.from, unit.to, isDevice());
        const std::vector<Slice> loop = loopAround(unit);
        std::size_t next = 0;
        const auto before = [&](std::int64_t time) {
            for (; next < loop.size() && toNs(loop[next].begin) <= time; ++next)
                walk.addOuter(toNs(loop[next].begin), toNs(loop[next].end()), loop[next].name.value, loop[next].kind,
                              loop[next].id);
        };
        if (unit.inOrder)
            walkBlocks(unit, walk, before);
        else
            walkSorted(unit, walk, before);
        before(unit.to);
        walk.finish();
        giveBack(std::move(found), unit);
    }

    /// @param before  adds what is around the slices and starts until a time
    template <class Before>
    void walkBlocks(const Unit& unit, Walk& walk, const Before& before) const
    {
        std::vector<Early> early; // slices that started before the unit
        const auto flush = [&] {
            std::stable_sort(early.begin(), early.end(), [](const Early& a, const Early& b) {
                return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
            });
            for (const Early& slice : early) {
                before(slice.begin);
                walk.add(slice.begin, slice.end, slice.name, slice.kind, slice.depth, slice.id);
            }
            early.clear();
        };
        for (const BlockRef& ref : m_trace.slicesOf(unit.track).around(unit.from, unit.to)) {
            if (m_stop.stop_requested())
                return;
            const BlockPin block = ref.pin();
            if (!block)
                continue;
            const SliceColumns& columns = block->columns;
            block->forEach(unit.from, unit.to, [&](std::uint32_t position) {
                const ActivityKind kind = columns.kind(position);
                const std::uint32_t name = columns.name(position);
                const bool isCall = m_names.isCall(kind, name);
                if (!isCall && !isCudaCall(kind))
                    return true;
                const std::int64_t begin = columns.begin(position);
                const SliceId id{unit.track, columns.ordinal(position)};
                if (begin < unit.from) {
                    if (isCall)
                        early.push_back({begin, columns.end(position), id, name, kind, columns.depth(position)});
                    return true;
                }
                if (!early.empty())
                    flush();
                before(begin);
                if (isCall)
                    walk.add(begin, columns.end(position), name, kind, columns.depth(position), id);
                else
                    walk.addLaunch(begin, static_cast<std::uint64_t>(columns.link(position)));
                return true;
            });
        }
        flush();
    }

    /// For a trace that still grows, whose blocks overlap.
    template <class Before>
    void walkSorted(const Unit& unit, Walk& walk, const Before& before) const
    {
        const std::vector<Slice> slices = sortedWhere(m_trace, unit.track, [&](const SliceView& slice) {
            const ActivityKind kind = slice.kind();
            return toNs(slice.begin()) < unit.to && toNs(slice.end()) > unit.from &&
                   (isCudaCall(kind) || m_names.isCall(kind, slice.nameId().value));
        });
        for (const Slice& slice : slices) {
            before(toNs(slice.begin));
            if (m_names.isCall(slice.kind, slice.name.value))
                walk.add(toNs(slice.begin), toNs(slice.end()), slice.name.value, slice.kind, slice.depth, slice.id);
            else
                walk.addLaunch(toNs(slice.begin), slice.correlation.value);
        }
    }

    void merge()
    {
        for (const std::unique_ptr<Found>& found : m_free) {
            const std::vector<std::uint32_t> here = m_tree.add(found->tree);
            m_launches.reserve(m_launches.size() + found->launches.size());
            for (const auto& [correlation, node] : found->launches)
                m_launches.emplace_back(correlation, node == kOutside ? kOutside : here[node]);
        }
        m_free.clear();
    }

    /// Calls before and after the scope, to tell their work from work without a recorded call.
    void findLaunchesOutside()
    {
        if (m_options.scope.window.empty())
            return;
        for (const Track& track : m_trace.tracks())
            for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
                if (isHostThread(track))
                    forEachViewOf(
                        m_trace, track.id, kind,
                        [&](const SliceView& call) {
                            const std::int64_t begin = toNs(call.begin());
                            if (call.correlation().value != 0 &&
                                (begin < m_from || begin >= m_to || !isIn(m_options.scope, track.id)))
                                m_launches.emplace_back(call.correlation().value, kOutside);
                        },
                        m_stop);
    }

    void sortLaunches()
    {
        // A stable sort keeps the outer of two calls with one id (a runtime call and the driver call in it) first.
        const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
        if (!std::is_sorted(m_launches.begin(), m_launches.end(), before))
            std::stable_sort(m_launches.begin(), m_launches.end(), before);
    }

    /// @return the node around the launch, kOutside, or none if it was not recorded
    [[nodiscard]] std::optional<std::uint32_t> launchOf(std::uint64_t correlation, std::size_t& guess) const
    {
        // Work usually runs in the order of its launches.
        if (guess + 1 < m_launches.size() && m_launches[guess + 1].first == correlation &&
            m_launches[guess].first != correlation)
            return m_launches[++guess].second;
        const auto found =
            std::lower_bound(m_launches.begin(), m_launches.end(), correlation,
                             [](const auto& launch, std::uint64_t wanted) { return launch.first < wanted; });
        if (correlation == 0 || found == m_launches.end() || found->first != correlation)
            return std::nullopt;
        guess = static_cast<std::size_t>(found - m_launches.begin());
        return found->second;
    }

    /// Adds device work: the first level of the unit's tree stands for nodes of m_tree, by index + 1, or 0 for work
    /// without a recorded launch.
    void addWork(const Unit& unit)
    {
        std::unique_ptr<Found> found = borrow();
        std::size_t guess = 0;
        for (const BlockRef& ref : m_trace.slicesOf(unit.track).around(unit.from, unit.to)) {
            if (m_stop.stop_requested())
                break;
            const BlockPin block = ref.pin();
            if (!block)
                continue;
            const SliceColumns& columns = block->columns;
            block->forEach(unit.from, unit.to, [&](std::uint32_t position) {
                const ActivityKind kind = columns.kind(position);
                const std::int64_t begin = columns.begin(position);
                if (!isDeviceWork(kind) || begin < unit.from)
                    return true;
                const auto launch = launchOf(static_cast<std::uint64_t>(columns.link(position)), guess);
                if (launch == kOutside || (!launch && !isInWindow(begin)))
                    return true;
                const std::uint32_t place = found->tree.child(0, launch ? *launch + 1 : 0, ActivityKind::Other);
                PathTree::Node& node = found->tree[found->tree.child(place, columns.name(position), kind)];
                const std::int64_t duration = columns.duration(position);
                node.self += duration;
                ++node.calls;
                node.note(duration, {unit.track, columns.ordinal(position)});
                return true;
            });
        }
        giveBack(std::move(found), unit);
    }

    [[nodiscard]] bool isInWindow(std::int64_t begin) const
    {
        return m_options.scope.window.empty() || beginsWithin(traceTime(begin), m_options.scope.window);
    }

    void mergeWork()
    {
        for (const std::unique_ptr<Found>& found : m_free) {
            const std::vector<PathTree::Node>& nodes = found->tree.nodes();
            for (const PathTree::Node& work : nodes) {
                if (work.calls == 0)
                    continue;
                const std::uint32_t place = nodes[work.parent].name;
                const std::uint32_t around =
                    place == 0 ? m_tree.child(0, m_names.notRecorded(), ActivityKind::Other) : place - 1;
                PathTree::Node& node = m_tree[m_tree.child(around, work.name, work.kind)];
                node.self += work.self;
                node.calls += work.calls;
                node.note(work.longestTime, work.longest);
            }
        }
        m_free.clear();
    }

    struct Early {
        std::int64_t begin = 0, end = 0;
        SliceId id;
        std::uint32_t name = 0;
        ActivityKind kind = ActivityKind::Other;
        std::uint8_t depth = 0;
    };

    std::map<TrackId, TrackId> m_loopOf; ///< by thread: the track with its steps and phases
    std::set<TrackId> m_loops;
    const Trace& m_trace;
    const CallTreeOptions& m_options;
    const std::stop_token& m_stop;
    Names m_names;
    unsigned m_threads;
    std::int64_t m_from = kEarliest, m_to = kLatest; ///< the scope, from its first to its last moment
    std::vector<Unit> m_units;                       ///< of host threads, then of device tracks
    std::mutex m_mutex;                              ///< guards m_free and m_done; held during options.progress
    std::vector<std::unique_ptr<Found>> m_free;
    std::size_t m_slices = 0, m_done = 0;
    PathTree m_tree;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> m_launches; ///< by correlation id
};

} // namespace

bool isPythonCall(std::string_view name)
{
    return name.find(".py(") != name.npos || name.starts_with("<built-in ") || name.starts_with("<frozen ") ||
           name.starts_with("<string>(") || isModuleCall(name);
}

bool isModuleCall(std::string_view name)
{
    return name.starts_with("nn.Module: ");
}

bool hasCalls(const Trace& trace, CallGrouping grouping)
{
    if (grouping != CallGrouping::Operator)
        return hasKind(trace, ActivityKind::Other) &&
               anyName(trace, grouping == CallGrouping::Python ? isPythonCall : isModuleCall);
    return std::ranges::any_of(
        trace.tracks(), [&](const Track& track) { return isHostThread(track) && trace.sliceCount(track.id) > 0; });
}

CallScope scopeOf(const Trace& trace, const std::vector<Step>& steps)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        ranges.push_back(onHost(step));
    CallScope scope{unite(std::move(ranges)), steps.size(), {}};
    for (const Track& track : trace.tracks())
        if (isOfSameProcess(trace, track, steps))
            scope.tracks.push_back(track.id);
    return scope;
}

CallTree callTree(const Trace& trace, const CallTreeOptions& options, const std::stop_token& stop)
{
    return Building(trace, options, stop).run();
}

PathTree::PathTree() : m_nodes(1), m_places(1024) {}

std::uint32_t PathTree::look(std::uint32_t parent, std::uint32_t last, std::uint32_t name, ActivityKind kind)
{
    std::size_t place = placeOf(parent, name);
    while (m_places[place] != 0) {
        const Node& node = m_nodes[m_places[place]];
        if (node.parent == parent && node.name == name)
            break;
        place = (place + 1) & (m_places.size() - 1);
    }
    std::uint32_t found = m_places[place];
    if (found == 0) {
        found = static_cast<std::uint32_t>(m_nodes.size());
        m_places[place] = found;
        Node node;
        node.parent = parent;
        node.name = name;
        node.kind = kind;
        m_nodes.push_back(node);
        if (2 * m_nodes.size() > m_places.size())
            grow();
    }
    if (last != 0)
        m_nodes[last].next = found;
    m_nodes[parent].lastChild = found;
    return found;
}

void PathTree::grow()
{
    m_places.assign(2 * m_places.size(), 0);
    for (std::uint32_t i = 1; i < m_nodes.size(); ++i) {
        std::size_t place = placeOf(m_nodes[i].parent, m_nodes[i].name);
        while (m_places[place] != 0)
            place = (place + 1) & (m_places.size() - 1);
        m_places[place] = i;
    }
}

std::vector<std::uint32_t> PathTree::add(const PathTree& other)
{
    std::vector<std::uint32_t> here(other.m_nodes.size());
    for (std::uint32_t i = 1; i < other.m_nodes.size(); ++i) {
        const Node& theirs = other.m_nodes[i];
        here[i] = child(here[theirs.parent], theirs.name, theirs.kind);
        Node& mine = m_nodes[here[i]];
        mine.self += theirs.self;
        mine.calls += theirs.calls;
        if (theirs.longestTime >= 0)
            mine.note(theirs.longestTime, theirs.longest);
    }
    return here;
}

CallTree PathTree::finish(const std::function<std::string(std::uint32_t)>& nameOf, bool withoutTime) const
{
    const auto count = static_cast<std::uint32_t>(m_nodes.size());
    std::vector<std::int64_t> totals(count);
    std::vector<bool> kept(count);
    for (std::uint32_t i = count; i-- > 0;) {
        const Node& node = m_nodes[i];
        totals[i] += node.self;
        kept[i] = kept[i] || i == 0 || totals[i] > 0 || (withoutTime && node.calls > 0);
        if (i > 0) {
            totals[node.parent] += totals[i];
            kept[node.parent] = kept[node.parent] || kept[i];
        }
    }
    CallTree tree;
    std::unordered_map<std::uint32_t, std::uint32_t> names;
    std::vector<std::uint32_t> nameAt(count);
    std::vector<std::uint32_t> first(count + 1);
    for (std::uint32_t i = 1; i < count; ++i) {
        if (!kept[i])
            continue;
        const auto [known, isNew] =
            names.try_emplace(m_nodes[i].name, static_cast<std::uint32_t>(tree.names.size() + 1));
        if (isNew)
            tree.names.push_back(nameOf(m_nodes[i].name));
        nameAt[i] = known->second;
        ++first[m_nodes[i].parent + 1];
    }
    tree.names.insert(tree.names.begin(), std::string()); // the root's
    for (std::uint32_t i = 0; i < count; ++i)
        first[i + 1] += first[i];
    std::vector<std::uint32_t> children(first[count]), at(first);
    for (std::uint32_t i = 1; i < count; ++i)
        if (kept[i])
            children[at[m_nodes[i].parent]++] = i;
    // A stack of nodes to visit, smallest child first, makes the order of visits the preorder.
    tree.nodes.clear();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{0, 0}}; // node here, parent in the result
    while (!open.empty()) {
        const auto [i, parent] = open.back();
        open.pop_back();
        const Node& node = m_nodes[i];
        const auto place = static_cast<std::uint32_t>(tree.nodes.size());
        tree.nodes.push_back({parent, place + 1, nameAt[i], node.kind, Nanoseconds{node.self}, Nanoseconds{totals[i]},
                              node.calls, node.longest, Nanoseconds{node.longestTime}});
        const auto begin = children.begin() + first[i], end = children.begin() + first[i + 1];
        std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
            return totals[a] != totals[b] ? totals[a] < totals[b] : tree.names[nameAt[a]] > tree.names[nameAt[b]];
        });
        for (auto child = begin; child != end; ++child)
            open.emplace_back(*child, place);
    }
    for (auto i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 1;)
        tree.nodes[tree.nodes[i].parent].end = std::max(tree.nodes[tree.nodes[i].parent].end, tree.nodes[i].end);
    return tree;
}

} // namespace profiler::analysis
