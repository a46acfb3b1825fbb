#pragma once

#include "profiler/job/open_job.h"
#include "tests/support/job_traces.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace job_test {

namespace fs = std::filesystem;

inline profiler::Result<profiler::job::Job> open(const std::vector<fs::path>& inputs,
                                                 const profiler::job::JobOptions& options = {})
{
    auto files = profiler::job::findJobFiles(inputs);
    if (!files)
        return tl::unexpected(files.error());
    return profiler::job::openJob(std::move(*files), options);
}

inline std::vector<std::int64_t> numbers(const profiler::job::Job& job)
{
    std::vector<std::int64_t> ranks;
    for (const auto& rank : job.ranks)
        ranks.push_back(rank.rank);
    return ranks;
}

inline bool hasNote(const std::vector<profiler::Message>& notes, std::string_view id)
{
    return std::ranges::find(notes, id, &profiler::Message::id) != notes.end();
}

} // namespace job_test
