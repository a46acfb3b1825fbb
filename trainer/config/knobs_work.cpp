#include "trainer/config/knob_rows.h"

// Rows for host work, several processes, validation, debugging and recording.
namespace config::rows {

void addHost(Rows& rows)
{
    rows.push_back(
        flag(key::asyncWork, kHost, "Asynchronous host work", false, "every step",
             "Computes and reads metrics, and writes the log and checkpoints, on background threads instead of in the "
             "step. The numbers are the same but arrive a moment later."));
    rows.push_back(path(key::logFile, kHost, "Log", PathKind::NewFile, "none", "every step",
                        "File that receives one line per step: time, samples, learning rate, loss. Empty: none."));
    rows.push_back(zeroIs(
        "never", number(key::checkpointEvery, kHost, "Checkpoint every", 0, 0, 1e9, "steps", "every n steps",
                        "Number of steps between checkpoints, which hold everything needed to resume the training. 0: "
                        "never.")));
    rows.push_back(unless(key::checkpointEvery.name, {"0"},
                          path(key::checkpointPath, kHost, "Checkpoints", PathKind::NewFolder, "automatic",
                               "every n steps", "Folder for the checkpoints.")));
    rows.push_back(
        lossMayChange(path(key::resume, kHost, "Resume from checkpoint", PathKind::File, "none", "whole run",
                           "Checkpoint from which the training resumes as if it had not been interrupted.")));
    rows.push_back(
        flag(key::unusedWork, kHost, "Unused work", false, "every step",
             "Adds work that is common but unused: gradients of the inputs and of frozen layers, and outputs "
             "that nothing reads. The results are the same without it."));
    rows.push_back(lossMayChange(
        advanced(number(key::frozenBlocks, kHost, "Frozen blocks", 0, 0, 1000, "blocks", "every step",
                        "Number of blocks, counted from the model's input, whose weights stay fixed, as in "
                        "fine-tuning."))));
}

void addParallel(Rows& rows)
{
    rows.push_back(otherBatches(
        Batches::OtherSize,
        choice(key::parallel, kParallel, "Parallel", {"none", "dp", "ddp"}, "every step",
               "none: one model. dp (DataParallel): copies of the model in one process, which receive the weights and "
               "their part of the batch in every step. ddp (DistributedDataParallel): one process per copy; the "
               "processes exchange gradients during the backward pass. torchrun can start the processes too."),
        {"ddp"}));
    rows.push_back(unless(
        key::parallel.name, {"none"},
        otherBatches(Batches::OtherSize,
                     number(key::localRanks, kParallel, "Copies", 2, 1, 64, "copies", "every step",
                            "Copies of the model on this machine. DDP trains a batch of batch.size on each copy; "
                            "DataParallel splits one batch."))));
}

void addRest(Rows& rows)
{
    rows.push_back(withObjective(
        Objective::ValidationTime,
        flag(key::evalNoGrad, kValidation, "No gradients", true, "validation",
             "Validates without recording a graph for the backward pass. false costs time and memory without any "
             "benefit.")));
    rows.push_back(withObjective(
        Objective::ValidationTime,
        path(key::evalPackage, kValidation, "Compiled model", PathKind::File, "none", "validation",
             "AOTInductor package (.pt2) that runs the model's forward pass in validation with the current weights. "
             "Compile it with inductor_configs={'always_keep_tensor_constants': True}. If it does not fit, a notice "
             "gives the reason and the model itself runs.")));
    rows.push_back(withObjective(Objective::ValidationTime,
                            advanced(text(key::evalPackageSha256, kValidation, "Trusted package", "validation",
                                          "SHA-256 of the package that may run: it contains code."))));
    rows.push_back(
        flag(key::anomaly, kDebugging, "Detect anomalies", false, "every step",
             "Checks every gradient for NaN and remembers where each operator was called. For debugging only: slow."));
    rows.push_back(flag(key::autogradProfiler, kDebugging, "LibTorch's profiler", false, "every step",
                        "Runs LibTorch's own profiler for CPU operators and discards its results."));
    rows.push_back(flag(key::emitNvtx, kDebugging, "NVTX ranges", false, "every step",
                        "Emits every operator as an NVTX range for tools such as Nsight Systems."));
    rows.push_back(withObjective(Objective::EpochTime,
                            flag(key::gradcheck, kDebugging, "Check gradients", false, "first step of an epoch",
                                 "Compares gradients with finite differences of the loss, in double precision, for a "
                                 "few weights.")));
    rows.push_back(
        withObjective(Objective::EpochTime, flag(key::gradgradcheck, kDebugging, "Check second gradients", false,
                                            "first step of an epoch", "The same check for gradients of gradients.")));
    rows.push_back(
        ofMeasurement(flag(key::captureEnabled, kCapture, "Record", true, "whole run",
                           "Records phases, loader stages, operators and GPU work for the timeline and the advisor.")));
    rows.push_back(ofMeasurement(onlyIf(
        key::captureEnabled.name, {"true"},
        choice(key::captureLevel, kCapture, "Detail level", {"standard", "always", "full"}, "recording",
               "always: phases, loader, kernels and copies, no operators. standard: also operators, runtime calls and "
               "waits in windows of a few steps. full: also shapes, driver calls and every allocation; the highest "
               "overhead. Each run measures the overhead by comparing steps with and without operator recording."))));
    rows.push_back(ofMeasurement(
        unless(key::captureLevel.name, {"always"},
               onlyIf(key::captureEnabled.name, {"true"},
                      advanced(zeroIs("never", number(key::captureOpsEvery, kCapture, "Record operators every", 50, 0,
                                                      1000000, "steps", "recording",
                                                      "Operators are recorded in one window at the start and then in "
                                                      "one window per this many steps. 0: never.")))))));
    rows.push_back(ofMeasurement(
        unless(key::captureLevel.name, {"always"},
               unless(key::captureOpsEvery.name, {"0"},
                      onlyIf(key::captureEnabled.name, {"true"},
                             advanced(number(key::captureOpsWindow, kCapture, "Operator window", 5, 1, 1000000, "steps",
                                             "recording", "Steps in each window of recorded operators.")))))));
}

} // namespace config::rows
