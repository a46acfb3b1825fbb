#include "tests/support/job_traces.h"

#include <cstdio>
#include <filesystem>

/// Writes the simulated samples as PyTorch's profiler would: launch_bound/rank0.json and late_rank/rank0.json to
/// rank7.json.
int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fputs("write_samples FOLDER\n", stderr);
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    // An operator takes five times as long on the host as its kernel on the device.
    test_support::JobTraceOptions launchBound;
    launchBound.ranks = launchBound.ranksPerHost = 1;
    launchBound.steps = 20;
    launchBound.layers = 48;
    launchBound.extraOperators = 2;
    launchBound.kernelUs = 8;
    launchBound.distributedInfo = false;
    test_support::writeJobTraces(folder / "launch_bound", launchBound);

    test_support::JobTraceOptions lateRank;
    lateRank.tensorParallel = 2;
    lateRank.fault = test_support::Fault::SlowLoader;
    lateRank.faultyRanks = {5};
    test_support::writeJobTraces(folder / "late_rank", lateRank);
}
