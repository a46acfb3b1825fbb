#include "profiler/capture/injection/shared_with_children.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/capture/rank_environment.h"
#include "profiler/model/message.h"
#include "profiler/os/files.h"
#include "profiler/os/memory.h"

#include <charconv>
#include <new>
#include <optional>
#include <string>

namespace profiler::capture::injection {

namespace {

std::int64_t numberOf(const std::string& text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace

SharedWithChildren& sharedWithChildren()
{
    static SharedWithChildren* s_shared = [] {
        // Never unmapped: threads may record until the process has ended. Without such memory, children have their own.
        const auto* memory = new std::optional(os::SharedMapping::anonymous(sizeof(SharedWithChildren)));
        return *memory ? new ((*memory)->data()) SharedWithChildren : new SharedWithChildren;
    }();
    return *s_shared;
}

const RecordingLimits& recordingLimits()
{
    static const RecordingLimits* s_limits = [] {
        auto* limits = new RecordingLimits; // never destroyed: outlives every thread
        if (const auto steps = stepRangeOf(setting(variable::kSteps)))
            limits->steps = *steps;
        if (const auto ranks = rankListOf(setting(variable::kRanks)))
            limits->ranks = *ranks;
        limits->maxBytes = static_cast<std::uint64_t>(numberOf(setting(variable::kMaxBytes)));
        static_cast<void>(sharedWithChildren());
        return limits;
    }();
    return *s_limits;
}

bool isChosenRank(const RecordingLimits& limits)
{
    if (limits.ranks.empty())
        return true;
    std::string rank, size;
    for (const auto& [key, value] : rankMetadata()) {
        rank = key == rank_key::kRank ? value : rank;
        size = key == rank_key::kWorldSize ? value : size;
    }
    if (rank.empty() || containsRank(limits.ranks, numberOf(rank)))
        return true;
    const std::string line =
        messageLine(message<"record.rank.not_chosen", "rank {rank} of {ranks} is not recorded (--ranks)">(
            {{"rank", numberOf(rank)}, {"ranks", numberOf(size)}})) +
        '\n';
    if (const os::Descriptor notes = os::openToAppend(setting(variable::kNotes)))
        static_cast<void>(os::writeAll(notes.get(), line)); // the manifest then lacks this rank
    return false;
}

} // namespace profiler::capture::injection
