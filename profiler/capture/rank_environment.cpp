#include "profiler/capture/rank_environment.h"

#include "profiler/os/host_name.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace profiler::capture {

namespace {

std::optional<long> numberIn(const char* variable)
{
    const char* text = std::getenv(variable);
    long value = 0;
    if (!text || std::from_chars(text, text + std::strlen(text), value).ec != std::errc{} || value < 0)
        return std::nullopt;
    return value;
}

/// Names of the variables of a launcher.
struct Launcher {
    const char *rank, *size;
    const char* job; ///< null: none
};
// torchrun, also used by accelerate and deepspeed; Open MPI; MPICH and Intel MPI; srun.
constexpr Launcher kLaunchers[] = {{"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
                                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
                                   {"PMI_RANK", "PMI_SIZE", nullptr},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"}};

} // namespace

std::vector<std::pair<std::string, std::string>> rankMetadata()
{
    for (const Launcher& launcher : kLaunchers) {
        const auto rank = numberIn(launcher.rank), size = numberIn(launcher.size);
        if (!rank || !size || *size < 2 || *rank >= *size)
            continue;
        std::vector<std::pair<std::string, std::string>> found{{rank_key::kRank, std::to_string(*rank)},
                                                               {rank_key::kWorldSize, std::to_string(*size)},
                                                               {rank_key::kHost, os::hostName()}};
        const char* job = launcher.job ? std::getenv(launcher.job) : nullptr;
        if (job && std::string_view(job) != "none") // torchrun's default
            found.emplace_back(rank_key::kJob, job);
        return found;
    }
    return {};
}

} // namespace profiler::capture
