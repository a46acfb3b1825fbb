#include "trainer/config/knob_rows.h"

// Rows about the work around the steps: the host's, validation, several processes, debugging, recording.
namespace config::rows {

void addHost(Rows& rows)
{
    rows.push_back(
        flag(key::asyncWork, kHost, "Work beside the training", false, "every step",
             "Computes and reads metrics, and writes log and checkpoints, on threads of their own instead of in the "
             "step. The numbers are the same, and come a moment later."));
    rows.push_back(path(key::logFile, kHost, "Log", PathKind::NewFile, "none", "every step",
                        "A file that gets a line for every step: time, samples, learning rate, loss. Empty: none."));
    rows.push_back(zeroIs(
        "never", number(key::checkpointEvery, kHost, "Checkpoint every", 0, 0, 1e9, "steps", "every so many steps",
                        "Every how many steps all that the training needs to go on is written to a file. 0: never.")));
    rows.push_back(unless(key::checkpointEvery.name, {"0"},
                          path(key::checkpointPath, kHost, "Checkpoints", PathKind::NewFolder, "automatic",
                               "every so many steps", "Folder for the checkpoints.")));
    rows.push_back(
        lossMayChange(path(key::resume, kHost, "Go on from", PathKind::File, "none", "whole run",
                           "A checkpoint from which the training goes on, as if it had not been interrupted.")));
    rows.push_back(flag(key::unusedWork, kHost, "Unneeded work", false, "every step",
                        "Does what careless trainings do for nothing: gradients of the inputs and of frozen layers, "
                        "outputs that nobody reads. The results are the same without."));
    rows.push_back(lossMayChange(
        advanced(number(key::frozenBlocks, kHost, "Frozen blocks", 0, 0, 1000, "blocks", "every step",
                        "The first so many blocks of the model keep their weights, as in fine-tuning."))));
}

void addParallel(Rows& rows)
{
    rows.push_back(otherBatches(
        Batches::OtherSize,
        choice(key::parallel, kParallel, "Parallel", {"none", "dp", "ddp"}, "every step",
               "One model; copies of it in one process, to which weights and batch go in every step "
               "(DataParallel); or a process for each copy, which exchange gradients while they compute (DDP). "
               "Under torchrun the processes are torchrun's."),
        {"ddp"}));
    rows.push_back(
        unless(key::parallel.name, {"none"},
               otherBatches(
                   Batches::OtherSize,
                   number(key::localRanks, kParallel, "Copies", 2, 1, 64, "copies", "every step",
                          "Copies of the model on this machine. DDP trains a batch of batch.size on each; DataParallel "
                          "splits one."))));
}

void addRest(Rows& rows)
{
    rows.push_back(judgedBy(
        Objective::ValidationTime,
        flag(key::evalNoGrad, kValidation, "No gradients", true, "validation",
             "Validates without recording what a backward pass would need; false costs time and memory for nothing.")));
    rows.push_back(judgedBy(
        Objective::ValidationTime,
        path(key::evalPackage, kValidation, "Compiled model", PathKind::File, "none", "validation",
             "A package of AOTInductor (.pt2) that runs the model's forward pass in validation, with the "
             "weights of now; compiled with inductor_configs={'always_keep_tensor_constants': True}. Where it does "
             "not fit, it is said why, and the model itself runs.")));
    rows.push_back(judgedBy(Objective::ValidationTime,
                            advanced(text(key::evalPackageSha256, kValidation, "Trusted package", "validation",
                                          "SHA-256 of that file, which says that it may be run: it is code."))));
    rows.push_back(flag(
        key::anomaly, kDebugging, "Detect anomalies", false, "every step",
        "Looks for NaN in every gradient and remembers where each operator was called. For hunting errors: slow."));
    rows.push_back(
        flag(key::autogradProfiler, kDebugging, "LibTorch's profiler", false, "every step",
             "Leaves LibTorch's own profiler on, and throws away what it records: operators on the processor "
             "only."));
    rows.push_back(flag(key::emitNvtx, kDebugging, "NVTX ranges", false, "every step",
                        "Gives every operator as an NVTX range, for tools that listen."));
    rows.push_back(judgedBy(Objective::EpochTime,
                            flag(key::gradcheck, kDebugging, "Check gradients", false, "first step of an epoch",
                                 "Compares gradients with differences of the loss, in double, on a few weights.")));
    rows.push_back(
        judgedBy(Objective::EpochTime, flag(key::gradgradcheck, kDebugging, "Check second gradients", false,
                                            "first step of an epoch", "The same for gradients of gradients.")));
    rows.push_back(
        ofMeasurement(flag(key::captureEnabled, kCapture, "Record", true, "whole run",
                           "Records phases, loader stages, operators and GPU work for the timeline and the advisor.")));
    rows.push_back(ofMeasurement(onlyIf(
        key::captureEnabled.name, {"true"},
        choice(key::captureLevel, kCapture, "Record how much", {"standard", "always", "full"}, "recording",
               "always: phases, loader, kernels and copies, no operators. standard: and operators, runtime calls and "
               "waits in windows of a few steps. full: and shapes, driver calls and every allocation; dearest. What it "
               "costs "
               "is measured in each run, by its steps with operators against those without."))));
    rows.push_back(ofMeasurement(
        unless(key::captureLevel.name, {"always"},
               onlyIf(key::captureEnabled.name, {"true"},
                      advanced(zeroIs("never", number(key::captureOpsEvery, kCapture, "Record operators every", 50, 0,
                                                      1000000, "steps", "recording",
                                                      "Operators are recorded in a window at the start and in one "
                                                      "window of every so many steps. 0: never.")))))));
    rows.push_back(ofMeasurement(unless(
        key::captureLevel.name, {"always"},
        unless(key::captureOpsEvery.name, {"0"},
               onlyIf(key::captureEnabled.name, {"true"},
                      advanced(number(key::captureOpsWindow, kCapture, "Operator window", 5, 1, 1000000, "steps",
                                      "recording", "How many steps each window of recorded operators has.")))))));
}

} // namespace config::rows
