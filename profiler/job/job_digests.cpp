#include "profiler/job/job_digests.h"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace profiler::job {

namespace {

using analysis::CollectiveCall;
using analysis::CollectiveGroup;
using analysis::CollectiveKind;
using analysis::RankDigest;
using analysis::RankStep;
using analysis::WorkTotal;

constexpr std::string_view kBegin = "stepscope job 1\n";
/// Of times and durations in ns: clocks count from 1970 or later, and differences of two of them stay in range.
constexpr std::int64_t kMostNs = std::int64_t{1} << 61;
constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;

// Encoder and Decoder have the same functions, so that one list of fields serves both. Integers are written in groups
// of seven bits, the lowest first, and signed ones with their sign in the lowest bit.

class Encoder {
public:
    template <std::integral Integer>
    void number(Integer value)
    {
        std::uint64_t rest = 0;
        if constexpr (std::signed_integral<Integer>) {
            const auto wide = static_cast<std::int64_t>(value);
            rest = static_cast<std::uint64_t>(wide) << 1 ^ static_cast<std::uint64_t>(wide >> 63);
        } else {
            rest = value;
        }
        for (; rest >= 0x80; rest >>= 7)
            m_bytes += static_cast<char>(rest | 0x80);
        m_bytes += static_cast<char>(rest);
    }
    template <class Real>
    void real(Real value)
    {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        m_bytes.append(bytes, sizeof value);
    }
    void duration(Nanoseconds value) { number(value.count()); }
    void time(TraceTime value) { number(toNs(value)); }
    void kind(CollectiveKind value) { number(static_cast<std::uint8_t>(value)); }
    void text(std::string_view value)
    {
        number(value.size());
        m_bytes += value;
    }
    void path(const std::filesystem::path& value) { text(value.string()); }
    void message(const Message& value) { text(messageLine(value)); }
    template <class Values, class Field>
    void list(const Values& values, const Field& field)
    {
        number(values.size());
        for (const auto& value : values)
            field(*this, value);
    }
    [[nodiscard]] std::string take() { return std::move(m_bytes); }

private:
    std::string m_bytes{kBegin};
};

class Decoder {
public:
    explicit Decoder(std::string_view bytes) : m_rest(bytes), m_isGood(bytes.starts_with(kBegin))
    {
        m_rest.remove_prefix(m_isGood ? kBegin.size() : m_rest.size());
    }

    template <std::integral Integer>
    void number(Integer& value)
    {
        std::uint64_t bits = 0;
        int shift = 0;
        for (unsigned char byte = 0x80; (byte & 0x80) != 0; shift += 7) {
            if (m_rest.empty() || shift > 63)
                return fail();
            byte = static_cast<unsigned char>(m_rest.front());
            m_rest.remove_prefix(1);
            bits |= std::uint64_t{byte & 0x7FU} << shift;
        }
        if constexpr (std::signed_integral<Integer>) {
            const auto wide = static_cast<std::int64_t>(bits >> 1 ^ (~(bits & 1) + 1));
            value = static_cast<Integer>(wide);
            if (value != wide)
                fail();
        } else {
            value = static_cast<Integer>(bits);
            if (value != bits)
                fail();
        }
    }
    template <class Real>
    void real(Real& value)
    {
        if (m_rest.size() < sizeof value)
            return fail();
        std::memcpy(&value, m_rest.data(), sizeof value);
        m_rest.remove_prefix(sizeof value);
    }
    void duration(Nanoseconds& value)
    {
        std::int64_t ns = 0;
        number(ns);
        value = Nanoseconds(ns);
        if (ns < -kMostNs || ns > kMostNs)
            fail();
    }
    void time(TraceTime& value)
    {
        Nanoseconds since{};
        duration(since);
        value = TraceTime(since);
    }
    void kind(CollectiveKind& value)
    {
        std::uint8_t code = 0;
        number(code);
        if (code > static_cast<std::uint8_t>(CollectiveKind::Other))
            return fail();
        value = static_cast<CollectiveKind>(code);
    }
    void text(std::string& value)
    {
        std::size_t size = 0;
        number(size);
        if (size > m_rest.size())
            return fail();
        value = m_rest.substr(0, size);
        m_rest.remove_prefix(size);
    }
    void path(std::filesystem::path& value)
    {
        std::string name;
        text(name);
        value = name;
    }
    void message(Message& value)
    {
        std::string line;
        text(line);
        value = messageOfLine(line);
    }
    template <class Values, class Field>
    void list(Values& values, const Field& field)
    {
        std::size_t count = 0;
        number(count);
        if (count > m_rest.size()) // each element has at least one byte
            return fail();
        for (std::size_t i = 0; i < count && m_isGood; ++i)
            if constexpr (requires { values.emplace_back(); })
                field(*this, values.emplace_back());
            else if (i < values.size()) // of a fixed size
                field(*this, values[i]);
            else
                fail();
    }
    void fail()
    {
        m_isGood = false;
        m_rest = {};
    }
    /// Whether all bytes were read, and nothing was wrong.
    [[nodiscard]] bool isComplete() const { return m_isGood && m_rest.empty(); }

private:
    std::string_view m_rest;
    bool m_isGood;
};

/// Field of a list.
constexpr auto kNumber = [](auto& codec, auto& value) { codec.number(value); };
constexpr auto kReal = [](auto& codec, auto& value) { codec.real(value); };
constexpr auto kDuration = [](auto& codec, auto& value) { codec.duration(value); };
constexpr auto kMessage = [](auto& codec, auto& value) { codec.message(value); };
constexpr auto kPath = [](auto& codec, auto& value) { codec.path(value); };

template <class Codec, class Range>
void rangeFields(Codec& codec, Range& range)
{
    codec.time(range.begin);
    codec.time(range.end);
}

constexpr auto kStep = [](auto& codec, auto& step) {
    codec.number(step.index);
    rangeFields(codec, step.range);
    codec.list(step.parts, kDuration);
    codec.duration(step.bubble);
    codec.number(step.steady);
};

constexpr auto kGroup = [](auto& codec, auto& group) {
    codec.number(group.key);
    codec.text(group.name);
    codec.list(group.ranks, kNumber);
    codec.number(group.size);
};

constexpr auto kCall = [](auto& codec, auto& call) {
    rangeFields(codec, call.range);
    codec.time(call.launched);
    codec.number(call.sequence);
    codec.number(call.bytes);
    codec.duration(call.exposed);
    codec.number(call.group);
    codec.number(call.step);
    codec.kind(call.kind);
    codec.number(call.sendsOnly);
};

constexpr auto kWork = [](auto& codec, auto& work) {
    codec.text(work.name);
    codec.list(work.us, kReal);
    codec.list(work.count, kNumber);
};

constexpr auto kRank = [](auto& codec, auto& rank) {
    codec.number(rank.rank);
    codec.number(rank.worldSize);
    codec.text(rank.host);
    codec.text(rank.file);
    codec.text(rank.device);
    codec.duration(rank.toRealtime);
    codec.number(rank.hasRealtime);
    rangeFields(codec, rank.range);
    codec.list(rank.steps, kStep);
    codec.number(rank.hasSteps);
    codec.number(rank.inferred);
    codec.number(rank.usesDevice);
    codec.number(rank.replicates);
    codec.list(rank.communication.groups, kGroup);
    codec.list(rank.communication.calls, kCall);
    codec.number(rank.communication.onDevice);
    codec.list(rank.work, kWork);
    codec.real(rank.busy);
    codec.real(rank.throttled);
    codec.real(rank.clockMhz);
    codec.number(rank.events);
};

constexpr auto kExcluded = [](auto& codec, auto& excluded) {
    codec.path(excluded.file);
    codec.message(excluded.why);
};

template <class Codec, class Kind>
void jobFields(Codec& codec, Kind& job)
{
    codec.list(job.files.files, kPath);
    codec.text(job.files.format);
    codec.list(job.ranks, kRank);
    codec.list(job.fileOf, kNumber);
    codec.number(job.worldSize);
    codec.list(job.missing, kNumber);
    codec.list(job.excluded, kExcluded);
    codec.list(job.notes, kMessage);
}

bool isIn(std::int64_t value, std::int64_t least, std::int64_t most)
{
    return value >= least && value <= most;
}

bool isShare(double value)
{
    constexpr double kMost = 1 + 1e-6;   // a sum may be rounded
    return value >= 0 && value <= kMost; // not NaN
}

bool isAmount(double value)
{
    constexpr double kMost = 1e15;
    return value >= 0 && value <= kMost; // not NaN
}

bool isOrdered(const TimeRange& range)
{
    return range.begin <= range.end;
}

bool isUsable(const RankStep& step)
{
    bool isGood = isOrdered(step.range) && isIn(step.index, -kMostNumber, kMostNumber) && step.bubble >= Nanoseconds{};
    for (const Nanoseconds part : step.parts)
        isGood = isGood && part >= Nanoseconds{} && part <= step.range.duration();
    return isGood;
}

bool isUsable(const CollectiveCall& call, const RankDigest& rank)
{
    return isOrdered(call.range) && call.exposed >= Nanoseconds{} && call.exposed <= call.range.duration() &&
           call.group < rank.communication.groups.size() &&
           isIn(call.step, -1, static_cast<std::int64_t>(rank.steps.size()) - 1);
}

bool isUsable(const RankDigest& rank)
{
    bool isGood = isIn(rank.rank, 0, kMostNumber) && isOrdered(rank.range) && !rank.steps.empty() &&
                  rank.work.size() <= RankDigest::kMostNames && isShare(rank.busy) && isShare(rank.throttled) &&
                  isAmount(rank.clockMhz);
    for (const RankStep& step : rank.steps)
        isGood = isGood && isUsable(step);
    for (const CollectiveGroup& group : rank.communication.groups)
        isGood = isGood && isIn(group.size, -kMostNumber, kMostNumber);
    for (const CollectiveCall& call : rank.communication.calls)
        isGood = isGood && isUsable(call, rank);
    for (const WorkTotal& work : rank.work) {
        isGood = isGood && work.us.size() == rank.steps.size() && work.count.size() == rank.steps.size();
        for (const float us : work.us)
            isGood = isGood && isAmount(us);
    }
    return isGood;
}

bool isUsable(const Job& job)
{
    bool isGood = !job.ranks.empty() && job.fileOf.size() == job.ranks.size() && isIn(job.worldSize, 1, kMostRanks);
    for (const std::size_t file : job.fileOf)
        isGood = isGood && file < job.files.files.size();
    for (std::size_t i = 0; i < job.ranks.size() && isGood; ++i)
        isGood = isUsable(job.ranks[i]) && (i == 0 || job.ranks[i - 1].rank < job.ranks[i].rank);
    for (const std::int64_t rank : job.missing)
        isGood = isGood && isIn(rank, 0, kMostRanks);
    return isGood;
}

} // namespace

std::string encodeJob(const Job& job)
{
    Encoder encoder;
    jobFields(encoder, job);
    return encoder.take();
}

Result<Job> decodeJob(std::string_view bytes)
{
    Decoder decoder(bytes);
    Job job;
    jobFields(decoder, job);
    if (!decoder.isComplete() || !isUsable(job))
        return fail<"job.digests", "the figures of the job are damaged">(
            Error::Code::Malformed, {}, "check that the versions of Stepscope on both machines are the same");
    return job;
}

} // namespace profiler::job
