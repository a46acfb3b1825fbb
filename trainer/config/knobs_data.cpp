#include "trainer/config/knob_rows.h"

// Rows for the run and for data loading.
namespace config::rows {

void addRun(Rows& rows)
{
    rows.push_back(choice(key::device, kRun, "Device", {"auto", "cpu", "cuda"}, "whole run",
                          "Device that trains the model. auto uses the GPU if it is usable, otherwise the CPU."));
    rows.push_back(onlyIf(key::steps.name, {"0"},
                          ofMeasurement(lossMayChange(number(
                              key::epochs, kRun, "Epochs", 2, 1, 100000, "", "whole run",
                              "Number of passes over all training samples. Ignored if a number of steps is set.")))));
    rows.push_back(ofMeasurement(lossMayChange(zeroIs(
        "by epochs",
        number(key::steps, kRun, "Steps", 0, 0, 1e9, "", "whole run",
               "Ends the training after this many steps, whatever the epoch. 0: trains for the number of epochs.")))));
    rows.push_back(
        searched(ValueSearch::Doubling,
                 batchFactor(sharesMemory(otherBatches(
                     Batches::OtherSize,
                     number(key::batchSize, kRun, "Batch size", 32, 1, 65536, "samples", "every step",
                            "Samples per step. Larger batches use the device better and need more memory."))))));
    rows.push_back(otherBatches(
        Batches::OtherSamples,
        advanced(number(
            key::seed, kRun, "Seed", 1, 0, 2147483647, "", "whole run",
            "Determines the initial weights, the sample order and the augmentation: equal seeds give equal runs."))));
    rows.push_back(advanced(zeroIs(
        "all cores",
        number(
            key::threads, kRun, "Threads", 0, 0, 1024, "threads", "every step",
            "CPU threads per operator of the training (intra-op threads). 0: one per usable core. Fewer threads leave "
            "cores to the loader's workers."))));
}

void addLoading(Rows& rows)
{
    rows.push_back(searched(
        ValueSearch::Neighbours,
        sharesMemory(number(
            key::workers, kLoading, "Workers", 0, 0, 256, "threads", "loader",
            "Threads that load batches while the model trains. 0: the training waits while each batch is loaded."))));
    rows.push_back(unless(
        key::workers.name, {"0"},
        sharesMemory(number(key::prefetchFactor, kLoading, "Prefetch factor", 2, 1, 64, "batches", "loader",
                            "Batches that each worker loads ahead. More hides slow files better and needs more memory. "
                            "No effect without workers."))));
    rows.push_back(
        unless(key::workers.name, {"0"},
               withObjective(Objective::EpochTime,
                        flag(key::persistentWorkers, kLoading, "Persistent workers", false, "start of an epoch",
                             "Keeps the workers between epochs instead of starting new ones."))));
    rows.push_back(
        gpuOnly(flag(key::pinMemory, kLoading, "Pin memory", false, "loader",
                     "Puts batches into page-locked memory: copies to a GPU are faster and can run asynchronously.")));
    rows.push_back(
        otherBatches(Batches::OtherSamples,
                     advanced(flag(key::shuffle, kLoading, "Shuffle", true, "loader",
                                   "Visits the training samples in a new order in every epoch. Streams keep their "
                                   "order."))));
    rows.push_back(onlyIf(key::dataset.name, {"stream"},
                          lossMayChange(advanced(flag(
                              key::shardStreams, kLoading, "Shard streams", true, "loader",
                              "Each worker reads its own part of a stream. false: every worker reads the whole stream, "
                              "so each sample is repeated once per worker: a common mistake.")))));
}

} // namespace config::rows
