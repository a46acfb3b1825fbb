#include "app/document/remote_job.h"

#include "advisor/runner/remote_frames.h"
#include "profiler/job/job_digests.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace app {

namespace {

using advisor::runner::harmlessText;

void makeHarmless(std::vector<profiler::Message>& messages)
{
    for (profiler::Message& message : messages)
        message = {harmlessText(message.id), {}, harmlessText(message.text)};
}

void makeHarmless(profiler::analysis::RankDigest& rank)
{
    for (std::string* text : {&rank.host, &rank.device})
        *text = harmlessText(*text);
    for (profiler::analysis::CollectiveGroup& group : rank.communication.groups)
        group.name = harmlessText(group.name);
    for (profiler::analysis::WorkTotal& work : rank.work)
        work.name = harmlessText(work.name);
}

} // namespace

profiler::Result<RemoteJob> remoteJob(std::string_view bytes, const std::string& host)
{
    auto job = profiler::job::decodeJob(bytes);
    if (!job)
        return tl::unexpected(job.error());
    RemoteJob remote;
    const auto nameHere = [&](const std::filesystem::path& file) -> std::filesystem::path {
        std::string name = harmlessText(file.string());
        std::ranges::replace_if(
            name, [](char c) { return c == '\n' || c == '\t'; }, '?'); // it is shown in a line
        return host + ':' + name;
    };
    std::set<std::filesystem::path> names;
    for (std::filesystem::path& file : job->files.files) {
        remote.paths.push_back(file.string());
        const std::filesystem::path name = nameHere(file);
        file = name;
        for (int i = 2; !names.insert(file).second; ++i) // differed only in what is not shown
            file = name.string() + " (" + std::to_string(i) + ')';
    }
    job->files.format = harmlessText(job->files.format);
    for (std::size_t i = 0; i < job->ranks.size(); ++i) {
        makeHarmless(job->ranks[i]);
        job->ranks[i].file = job->files.files[job->fileOf[i]].string();
    }
    for (profiler::job::ExcludedFile& excluded : job->excluded) {
        excluded.file = nameHere(excluded.file);
        excluded.why = {harmlessText(excluded.why.id), {}, harmlessText(excluded.why.text)};
    }
    makeHarmless(job->notes);
    job->analysis = profiler::analysis::analyseJob(job->ranks);
    remote.job = *std::move(job);
    return remote;
}

} // namespace app
