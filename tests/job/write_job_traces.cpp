#include "tests/support/job_traces.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

/// Writes the traces of a simulated job. The number of events of a rank is about steps × layers × (6 + 2 × operators).
int main(int argc, char** argv)
{
    using test_support::Fault;
    const std::map<std::string, Fault> faults = {{"compute", Fault::SlowCompute},  {"throttling", Fault::Throttling},
                                                 {"host", Fault::SlowHost},        {"loader", Fault::SlowLoader},
                                                 {"gc", Fault::GarbageCollection}, {"link", Fault::SlowLink}};
    const std::set<std::string> shapes = {"stages", "exchanges", "skew"};
    const auto isKnown = [&](const char* word) { return faults.contains(word) || shapes.contains(word); };
    bool isUsage = argc < 6 || argc % 2 != 0;
    for (int i = 6; i < argc; i += 2)
        isUsage = isUsage || !isKnown(argv[i]);
    if (isUsage) {
        std::fputs("write_job_traces FOLDER RANKS STEPS LAYERS OPERATORS [compute|throttling|host|loader|gc|link RANK] "
                   "[stages N] [exchanges N] [skew SHARE]\n",
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
    for (int i = 6; i < argc; i += 2) {
        const std::string word = argv[i];
        const char* const value = argv[i + 1];
        if (word == "stages") {
            options.pipelineStages = std::atoi(value);
            options.tensorParallel = 1;
        } else if (word == "exchanges") {
            options.parameterExchanges = std::atoi(value);
            options.tensorParallel = 1;
        } else if (word == "skew") {
            options.tokenSkew = std::atof(value);
        } else {
            options.fault = faults.at(word);
            options.faultyRanks = {std::atoi(value)};
        }
    }
    test_support::writeJobTraces(argv[1], options);
}
