#include "trainer/config/knob_rows.h"

// Rows about the run and how data are loaded.
namespace config::rows {

void addRun(Rows& rows)
{
    rows.push_back(choice(key::device, kRun, "Device", {"auto", "cpu", "cuda"}, "whole run",
                          "Where the model is trained. auto takes the GPU if one can be used, else the processor."));
    rows.push_back(onlyIf(
        key::steps.name, {"0"},
        ofMeasurement(lossMayChange(number(
            key::epochs, kRun, "Epochs", 2, 1, 100000, "", "whole run",
            "How often the training goes through all training samples. Ignored when a number of steps is given.")))));
    rows.push_back(ofMeasurement(lossMayChange(zeroIs(
        "by epochs",
        number(key::steps, kRun, "Steps", 0, 0, 1e9, "", "whole run",
               "Ends the training after this many steps, whatever the epoch. 0: trains for the number of epochs.")))));
    rows.push_back(
        searched(ValueSearch::Doubling,
                 batchFactor(sharesMemory(otherBatches(
                     Batches::OtherSize,
                     number(key::batchSize, kRun, "Batch size", 32, 1, 65536, "samples", "every step",
                            "Samples in one step. Larger batches use the device better and take more memory."))))));
    rows.push_back(otherBatches(
        Batches::OtherSamples,
        advanced(number(
            key::seed, kRun, "Seed", 1, 0, 2147483647, "", "whole run",
            "First weights, order of the samples and augmentation come from it: equal seeds give equal runs."))));
    rows.push_back(advanced(zeroIs(
        "all cores",
        number(
            key::threads, kRun, "Threads", 0, 0, 1024, "threads", "every step",
            "Threads that one operator of the training may use on the processor. 0: one for each core that it may use. "
            "Fewer leave cores to the loader's workers."))));
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
                            "Batches that each worker loads ahead. More evens out slow files and takes more memory. No "
                            "effect without workers."))));
    rows.push_back(
        unless(key::workers.name, {"0"},
               judgedBy(Objective::EpochTime,
                        flag(key::persistentWorkers, kLoading, "Keep workers", false, "start of an epoch",
                             "Keeps the workers from one epoch to the next instead of starting new ones."))));
    rows.push_back(gpuOnly(flag(
        key::pinMemory, kLoading, "Pin memory", false, "loader",
        "Puts batches into page-locked memory, from which copies to a GPU are faster and need not be waited for.")));
    rows.push_back(
        otherBatches(Batches::OtherSamples,
                     advanced(flag(key::shuffle, kLoading, "Shuffle", true, "loader",
                                   "Another order of the training samples in every epoch. Streams keep theirs."))));
    rows.push_back(onlyIf(key::dataset.name, {"stream"},
                          lossMayChange(advanced(flag(
                              key::shardStreams, kLoading, "Share streams out", true, "loader",
                              "Gives each sample of a stream to one worker. false: every worker gives the whole "
                              "stream, so that samples come once for each of them: a mistake that is easily made.")))));
}

} // namespace config::rows
