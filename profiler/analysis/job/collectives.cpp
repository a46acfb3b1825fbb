#include "profiler/analysis/job/collectives.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

struct KindName {
    std::string_view part; ///< of a name in lower case without separators; the first that matches counts
    CollectiveKind kind;
};
constexpr std::array<KindName, 13> kKindNames = {{{"allreduce", CollectiveKind::AllReduce},
                                                  {"reducescatter", CollectiveKind::ReduceScatter},
                                                  {"allgather", CollectiveKind::AllGather},
                                                  {"alltoall", CollectiveKind::AllToAll},
                                                  {"sendrecv", CollectiveKind::SendRecv},
                                                  {"broadcast", CollectiveKind::Broadcast},
                                                  {"barrier", CollectiveKind::Barrier},
                                                  {"gather", CollectiveKind::Gather},
                                                  {"scatter", CollectiveKind::Scatter},
                                                  {"reduce", CollectiveKind::Reduce},
                                                  {"send", CollectiveKind::SendRecv},
                                                  {"recv", CollectiveKind::SendRecv},
                                                  {"p2p", CollectiveKind::SendRecv}}};

/// Bytes of an element by PyTorch's name of its type; 0 if unknown.
std::int64_t elementBytes(std::string_view type)
{
    if (type.starts_with("Float8") || type == "Byte" || type == "Char" || type == "Bool")
        return 1;
    if (type == "Half" || type == "BFloat16" || type == "Short")
        return 2;
    if (type == "Float" || type == "Int" || type == "ComplexHalf")
        return 4;
    if (type == "Double" || type == "Long" || type == "ComplexFloat")
        return 8;
    return type == "ComplexDouble" ? 16 : 0;
}

std::int64_t number(std::string_view text, std::int64_t otherwise)
{
    std::int64_t value = otherwise;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc{} ? value : otherwise;
}

/// The numbers of "[0, 1, 2]". A shortened list, "[0, 1, ..., 31]", has fewer than the group has ranks.
std::vector<std::int64_t> numbersIn(std::string_view list)
{
    std::vector<std::int64_t> numbers;
    for (std::size_t at = list.find_first_of("0123456789"); at != list.npos;
         at = list.find_first_of("0123456789", at)) {
        numbers.push_back(number(list.substr(at), 0));
        at = list.find_first_not_of("0123456789", at);
        if (at == list.npos)
            break;
    }
    return numbers;
}

std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037U; // FNV-1a: the same in every process
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash == 0 ? 1 : hash;
}

/// What the arguments of an event say about its collective.
struct Described {
    std::string_view name, type, group, description, ranks;
    std::int64_t in = 0, out = 0, size = 0, sequence = -1;
};

Described describedBy(const SliceDetails& details)
{
    Described found;
    for (const auto& [key, value] : details) {
        if (key == "Collective name")
            found.name = value;
        else if (key == "dtype")
            found.type = value;
        else if (key == "In msg nelems")
            found.in = number(value, 0);
        else if (key == "Out msg nelems")
            found.out = number(value, 0);
        else if (key == "Group size")
            found.size = number(value, 0);
        else if (key == "Process Group Name" || key == "Process Group ID")
            found.group = value;
        else if (key == "Process Group Description")
            found.description = value;
        else if (key == "Process Group Ranks")
            found.ranks = value;
        else if (key == "Seq" || key == "Sequence number")
            found.sequence = number(value, -1);
    }
    return found;
}

/// The name of a call that sends and does not receive: "send", "gloo:send". NCCL's kernel for both is "SendRecv".
bool isSend(std::string_view name)
{
    std::string lower;
    for (const char c : name.substr(0, name.find('(')))
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.find("send") != lower.npos && lower.find("recv") == lower.npos;
}

class Collecting {
public:
    explicit Collecting(const Trace& trace) : m_trace(trace) {}

    RankCollectives device()
    {
        NameAnswers isComm(m_trace, [](std::string_view name) { return isCommunication(name); });
        for (const Track& track : m_trace.tracks())
            if (track.kind == TrackKind::Stream)
                forEachViewOf(m_trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                    if (isComm(kernel.nameId()))
                        add(kernel.slice());
                });
        m_found.onDevice = !m_found.calls.empty();
        if (m_found.onDevice) {
            findLaunches();
            readArguments();
            nameExchanges();
        }
        return finish();
    }

    /// Ranges of a backend last from the call to the completion; operators of c10d only until the call returns, so they
    /// count only if there are no ranges.
    RankCollectives host()
    {
        enum Level : unsigned char { kNone, kOperator, kRange };
        NameAnswers level(m_trace, [](std::string_view name) {
            const bool range = name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:") ||
                               name.starts_with("nccl:");
            const bool op = name.starts_with("c10d::");
            return collectiveKindOf(name) == CollectiveKind::Other ? kNone : range ? kRange : op ? kOperator : kNone;
        });
        std::vector<Slice> ranges, operators;
        for (const Track& track : m_trace.tracks()) {
            if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread &&
                track.kind != TrackKind::NvtxDomain)
                continue;
            forEachView(m_trace, track.id, [&](const SliceView& slice) {
                const Level found = level(slice.nameId());
                if (found != kNone)
                    (found == kRange ? ranges : operators).push_back(slice.slice());
            });
        }
        for (const Slice& slice : ranges.empty() ? operators : ranges)
            add(slice);
        return finish();
    }

private:
    void add(const Slice& slice)
    {
        CollectiveCall& call = m_found.calls.emplace_back();
        call.range = slice.range();
        call.launched = slice.begin;
        call.kind = collectiveKindOf(m_trace.name(slice));
        call.sendsOnly = call.kind == CollectiveKind::SendRecv && isSend(m_trace.name(slice));
        m_sources.push_back(slice.source);
        m_launchTracks.emplace_back();
        m_named.push_back(false);
        m_correlations.push_back(slice.correlation.value);
    }

    /// NCCL runs an all-to-all with the kernel of point-to-point communication. Profiles of older versions of PyTorch
    /// do not name the collective in the kernel's arguments, so the operator or range that launched it decides.
    void nameExchanges()
    {
        std::map<TrackId, std::vector<CollectiveCall*>> unnamed;
        for (std::size_t i = 0; i < m_found.calls.size(); ++i)
            if (m_found.calls[i].kind == CollectiveKind::SendRecv && !m_named[i] && m_launchTracks[i])
                unnamed[*m_launchTracks[i]].push_back(&m_found.calls[i]);
        NameAnswers isCollective(m_trace, [](std::string_view name) {
            return (name.starts_with("nccl:") || name.starts_with("c10d::")) &&
                   collectiveKindOf(name) != CollectiveKind::Other;
        });
        for (auto& [track, calls] : unnamed) {
            std::ranges::sort(calls, {}, &CollectiveCall::launched);
            forEachView(m_trace, track, [&, next = calls.begin()](const SliceView& slice) mutable {
                if (!isCollective(slice.nameId()))
                    return;
                while (next != calls.end() && (*next)->launched < slice.begin())
                    ++next;
                for (auto call = next; call != calls.end() && (*call)->launched < slice.end(); ++call) {
                    (*call)->kind = collectiveKindOf(slice.name()); // inner ranges come later
                    (*call)->sendsOnly = (*call)->kind == CollectiveKind::SendRecv && isSend(slice.name());
                }
            });
        }
    }

    void findLaunches()
    {
        std::unordered_map<std::uint64_t, std::size_t> wanted;
        for (std::size_t i = 0; i < m_correlations.size(); ++i)
            if (m_correlations[i] != 0)
                wanted.emplace(m_correlations[i], i);
        for (const Track& track : m_trace.tracks()) {
            if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
                continue;
            for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
                forEachViewOf(m_trace, track.id, kind, [&](const SliceView& call) {
                    if (const auto found = wanted.find(call.correlation().value); found != wanted.end()) {
                        m_found.calls[found->second].launched = call.begin();
                        m_launchTracks[found->second] = track.id;
                    }
                });
        }
    }

    void readArguments()
    {
        const ArgSource* source = m_trace.argSource();
        if (!source || m_trace.format() != "pytorch-json")
            return;
        std::vector<std::uint64_t> places;
        std::vector<std::size_t> calls;
        for (std::size_t i = 0; i < m_sources.size(); ++i)
            if (m_sources[i] != 0) {
                places.push_back(m_sources[i]);
                calls.push_back(i);
            }
        std::size_t next = 0;
        source->readMany(places, [&](Result<SliceDetails> details) {
            if (details) {
                const Described by = describedBy(*details);
                m_named[calls[next]] = !by.name.empty();
                describe(m_found.calls[calls[next]], by);
            }
            return ++next < calls.size();
        });
    }

    void describe(CollectiveCall& call, const Described& by)
    {
        if (!by.name.empty())
            if (const CollectiveKind kind = collectiveKindOf(by.name); kind != CollectiveKind::Other)
                call.kind = kind;
        if (call.kind == CollectiveKind::SendRecv && !by.name.empty())
            call.sendsOnly = isSend(by.name);
        call.sequence = by.sequence;
        call.bytes = elementBytes(by.type) * (call.kind == CollectiveKind::AllGather ? by.out : by.in);
        if (!by.group.empty() || !by.ranks.empty())
            call.group = groupOf(by);
    }

    std::uint32_t groupOf(const Described& by)
    {
        std::string identity = std::string(by.group) + '|' + std::string(by.ranks) + '|' + std::to_string(by.size);
        const auto [entry, isNew] = m_groups.try_emplace(std::move(identity), 0);
        if (isNew) {
            entry->second = static_cast<std::uint32_t>(m_found.groups.size());
            const std::string_view name =
                by.description.empty() || by.description == "undefined" ? by.group : by.description;
            m_found.groups.push_back({.key = hashOf(entry->first),
                                      .name = std::string(name),
                                      .ranks = numbersIn(by.ranks),
                                      .size = by.size});
        }
        return entry->second;
    }

    RankCollectives finish()
    {
        std::ranges::stable_sort(m_found.calls, {}, &CollectiveCall::launched);
        return std::move(m_found);
    }

    const Trace& m_trace;
    RankCollectives m_found{.groups = {CollectiveGroup{}}, .calls = {}}; ///< the first group is the unknown one
    std::vector<std::uint64_t> m_sources, m_correlations;                ///< parallel to the calls
    std::vector<std::optional<TrackId>> m_launchTracks;                  ///< parallel to the calls
    std::vector<bool> m_named; ///< parallel to the calls: the arguments name the collective
    std::unordered_map<std::string, std::uint32_t> m_groups;
};

} // namespace

std::string_view collectiveName(CollectiveKind kind)
{
    constexpr std::array<std::string_view, 11> kNames = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                                         "broadcast",  "reduce",     "gather",         "scatter",
                                                         "barrier",    "send_recv",  "other"};
    return kNames[static_cast<std::size_t>(kind)];
}

CollectiveKind collectiveKindOf(std::string_view name)
{
    std::string plain;
    for (const char c : name.substr(0, name.find('('))) // template and parameter lists say nothing
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const KindName& row : kKindNames)
        if (plain.find(row.part) != plain.npos)
            return row.kind;
    return CollectiveKind::Other;
}

bool waitsForAll(CollectiveKind kind)
{
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
           kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll || kind == CollectiveKind::Barrier;
}

double busFactor(CollectiveKind kind, std::int64_t ranks)
{
    const double n = static_cast<double>(std::max<std::int64_t>(ranks, 2));
    switch (kind) {
    case CollectiveKind::AllReduce:
        return 2 * (n - 1) / n;
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll:
        return (n - 1) / n;
    default:
        return 1;
    }
}

RankCollectives collectivesOf(const Trace& trace)
{
    RankCollectives found = Collecting(trace).device();
    return found.onDevice ? found : Collecting(trace).host();
}

} // namespace profiler::analysis
