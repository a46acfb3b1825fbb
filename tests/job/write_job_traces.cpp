#include "tests/support/job_traces.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

/// Writes the traces of a simulated job. The number of events of a rank is about steps × layers × (6 + 2 × operators).
int main(int argc, char** argv)
{
    using test_support::Fault;
    const std::map<std::string, Fault> faults = {{"compute", Fault::SlowCompute},  {"throttling", Fault::Throttling},
                                                 {"host", Fault::SlowHost},        {"loader", Fault::SlowLoader},
                                                 {"gc", Fault::GarbageCollection}, {"link", Fault::SlowLink}};
    if (argc != 6 && (argc != 8 || !faults.contains(argv[6]))) {
        std::fputs(
            "write_job_traces FOLDER RANKS STEPS LAYERS OPERATORS [compute|throttling|host|loader|gc|link RANK]\n",
            stderr);
        return 2;
    }
    test_support::JobTraceOptions options;
    options.ranks = std::atoi(argv[2]);
    options.ranksPerHost = 8;
    options.steps = std::atoi(argv[3]);
    options.layers = std::atoi(argv[4]);
    options.extraOperators = std::atoi(argv[5]);
    options.tensorParallel = options.ranks % 2 == 0 ? 2 : 1;
    if (argc == 8) {
        options.fault = faults.at(argv[6]);
        options.faultyRanks = {std::atoi(argv[7])};
    }
    test_support::writeJobTraces(argv[1], options);
}
