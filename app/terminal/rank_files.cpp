#include "app/terminal/rank_files.h"

#include "app/terminal/json_text.h"
#include "profiler/capture/rank_environment.h"
#include "profiler/job/job_files.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <optional>

namespace app::terminal {

using namespace advisor;

namespace {

namespace capture = profiler::capture;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::optional<std::int64_t> rankOf(const std::map<std::string, std::string>& metadata)
{
    const auto entry = metadata.find(capture::rank_key::kRank);
    std::int64_t rank = 0;
    if (entry == metadata.end() ||
        std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), rank).ec != std::errc{})
        return std::nullopt;
    return rank;
}

Json textOrNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

/// The metadata by which a trace names its rank, from that of its process.
std::vector<std::pair<std::string, std::string>> traceMetadata(const std::map<std::string, std::string>& process)
{
    constexpr std::pair<const char*, const char*> kKeys[] = {{capture::rank_key::kRank, "rank"},
                                                             {capture::rank_key::kWorldSize, "world_size"},
                                                             {capture::rank_key::kHost, "host.name"},
                                                             {capture::rank_key::kJob, "job.id"}};
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [from, to] : kKeys)
        if (const auto entry = process.find(from); entry != process.end() && !entry->second.empty())
            found.emplace_back(to, entry->second);
    return found;
}

} // namespace

std::map<std::int64_t, RankParts> partsByRank(const std::vector<capture::TracePart>& parts, std::size_t least)
{
    std::map<std::int64_t, RankParts> ranks;
    std::vector<capture::TracePart> others;
    for (const capture::TracePart& part : parts) {
        auto metadata = capture::metadataOf(part);
        const auto rank = rankOf(metadata);
        if (!rank) {
            others.push_back(part);
            continue;
        }
        RankParts& own = ranks[*rank];
        own.parts.push_back(part);
        if (own.metadata.empty())
            own.metadata = std::move(metadata);
    }
    if (ranks.size() < least || ranks.empty())
        return {};
    RankParts& lowest = ranks.begin()->second;
    lowest.parts.insert(lowest.parts.end(), others.begin(), others.end());
    return ranks;
}

profiler::Result<capture::Collected> collectRanks(const std::map<std::int64_t, RankParts>& ranks,
                                                  const RankFilesOptions& options)
{
    capture::Collected all;
    Json rows = Json::array();
    std::optional<profiler::Error> error;
    bool isFirst = true;
    for (const auto& [rank, own] : ranks) {
        const fs::path file = options.folder / fmt::format("rank{}.sstrace", rank);
        capture::CollectOptions collect{
            .trace = file, .mainProcess = own.parts.front().pid, .metadata = options.metadata, .notes = {}};
        for (auto& entry : traceMetadata(own.metadata))
            collect.metadata.push_back(std::move(entry));
        if (isFirst)
            collect.notes = options.notes;
        isFirst = false;
        const auto collected = capture::collectParts(own.parts, collect);
        if (!collected) {
            error = collected.error();
            all.notes.push_back(profiler::message<"record.rank.unwritten", "rank {rank}: {why}">(
                {{"rank", rank}, {"why", error->message()}, {"error", error->what.id}}));
            continue;
        }
        capture::removeParts(own.parts);
        all.events += collected->events;
        all.dropped += collected->dropped;
        all.processes += collected->processes;
        all.notes.insert(all.notes.end(), collected->notes.begin(), collected->notes.end());
        const auto host = own.metadata.find(capture::rank_key::kHost);
        rows.push_back({{"rank", rank},
                        {"file", file.filename().string()},
                        {"host", host == own.metadata.end() ? Json(nullptr) : Json(host->second)},
                        {"process", own.parts.front().pid},
                        {"events", collected->events},
                        {"dropped", collected->dropped},
                        {"notes", messagesJson(collected->notes)}});
    }
    if (rows.empty())
        return tl::unexpected(*error);
    const auto& first = ranks.begin()->second.metadata;
    const auto size = first.find(capture::rank_key::kWorldSize);
    const Json manifest = {{"schema", 1},
                           {"command", options.command},
                           {"directory", options.directory},
                           {"world_size", size == first.end() ? Json(nullptr) : Json(std::stoll(size->second))},
                           {"ranks", rows},
                           {"unrecorded_ranks", textOrNull(options.unrecorded)},
                           {"steps", textOrNull(options.steps)},
                           {"max_bytes", options.maxBytes > 0 ? Json(options.maxBytes) : Json(nullptr)},
                           {"exit_status", options.end.shellStatus()},
                           {"ended", options.end.text()}};
    std::ofstream file(options.folder / profiler::job::kManifest, std::ios::trunc);
    file << jsonText(manifest) << '\n';
    file.close();
    if (!file)
        all.notes.push_back(profiler::message<"record.manifest", "the manifest could not be written: {file}">(
            {{"file", (options.folder / profiler::job::kManifest).string()}}));
    return all;
}

} // namespace app::terminal
