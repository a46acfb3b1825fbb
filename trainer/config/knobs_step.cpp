#include "trainer/config/knob_rows.h"

// Rows about how it is trained: optimizer, schedule, step, validation, debugging, recording.
namespace config::rows {

void addOptimizer(Rows& rows)
{
    rows.push_back(choice(key::optimizer, kOptimizer, "Optimizer",
                          {"sgd", "adam", "adamw", "lars", "lamb", "nvlamb", "novograd"}, "every step",
                          "How gradients change the weights. SGD is the simplest; AdamW usually wants a smaller "
                          "learning rate (0.001); LARS, LAMB, NVLAMB and NovoGrad are for large batches."));
    rows.push_back(real(key::learningRate, kOptimizer, "Learning rate", 0.05, 0, 100, "every step",
                        "How far each step moves the weights; with a schedule, the highest rate."));
    rows.push_back(choice(key::lrScaling, kOptimizer, "Scale the rate", {"none", "linear", "sqrt"}, "every step",
                          "Multiplies the learning rate by how many times larger a step's batch is than the reference "
                          "batch, or by the square root of that. Linear suits SGD with a warm-up, the root AdamW."));
    rows.push_back(advanced(number(key::lrBaseBatch, kOptimizer, "Reference batch", 32, 1, 1000000, "samples",
                                   "every step", "The batch that the learning rate was chosen for.")));
    rows.push_back(real(key::weightDecay, kOptimizer, "Weight decay", 0.0005, 0, 10, "every step",
                        "Pulls the weights towards zero: as L2 with SGD and Adam, decoupled from the gradient with the "
                        "others. LARS and LAMB leave biases and norms alone."));
    rows.push_back(real(key::momentum, kOptimizer, "Momentum", 0.9, 0, 0.9999, "every step",
                        "Share of the step before that is kept. Used by SGD and LARS."));
    rows.push_back(advanced(flag(key::nesterov, kOptimizer, "Nesterov", false, "every step",
                                 "Looks one step of the momentum ahead. Used by SGD.")));
    rows.push_back(advanced(real(key::beta1, kOptimizer, "Beta 1", 0.9, 0, 0.9999, "every step",
                                 "How long Adam and its kin remember gradients. NovoGrad's authors use 0.95.")));
    rows.push_back(advanced(real(key::beta2, kOptimizer, "Beta 2", 0.999, 0, 0.999999, "every step",
                                 "How long Adam and its kin remember the size of gradients. NovoGrad's authors use "
                                 "0.98.")));
    rows.push_back(advanced(real(key::epsilon, kOptimizer, "Epsilon", 1e-8, 0, 1, "every step",
                                 "Keeps Adam and its kin from dividing by zero.")));
    rows.push_back(advanced(real(key::trustCoefficient, kOptimizer, "Trust coefficient", 0.001, 0, 1, "every step",
                                 "How far LARS may move a layer, as a share of the norm of its weights.")));
    rows.push_back(choice(key::implementation, kOptimizer, "Implementation", {"plain", "foreach", "fused"},
                          "every step",
                          "One operator for each weight tensor, one for each list of them, or one kernel for the whole "
                          "update. The same numbers, far fewer operators. Fused exists for SGD, Adam and AdamW."));
}

void addSchedule(Rows& rows)
{
    rows.push_back(choice(key::schedule, kSchedule, "Schedule",
                          {"constant", "cosine", "linear", "step", "cyclic", "one_cycle", "range_test"}, "every step",
                          "How the learning rate changes over the training. A range test raises it step by step and "
                          "tells at which rate the loss fell fastest."));
    rows.push_back(number(key::warmupSteps, kSchedule, "Warm-up", 0, 0, 1e9, "steps", "first steps",
                          "Raises the rate evenly over the first so many steps. Large batches and Adam need it. Not "
                          "used by cyclic, one_cycle and range_test, which begin low."));
    rows.push_back(advanced(real(key::finalShare, kSchedule, "Final share", 0.001, 0, 1, "every step",
                                 "Rate at the end of cosine, linear and one_cycle, as a share of the highest.")));
    rows.push_back(advanced(number(key::scheduleStepSize, kSchedule, "Step size", 1000, 1, 1e9, "steps", "every step",
                                   "Steps between two falls of the schedule 'step'.")));
    rows.push_back(advanced(real(key::scheduleGamma, kSchedule, "Factor", 0.1, 0, 1, "every step",
                                 "Factor of each fall of the schedule 'step'.")));
    rows.push_back(advanced(number(key::cycleSteps, kSchedule, "Half cycle", 500, 1, 1e9, "steps", "every step",
                                   "Steps from the lowest to the highest rate of 'cyclic'.")));
    rows.push_back(advanced(real(key::lowestShare, kSchedule, "Lowest share", 0.1, 0, 1, "every step",
                                 "Rate at the bottom of 'cyclic' and 'one_cycle', as a share of the highest.")));
    rows.push_back(advanced(real(key::cycleShare, kSchedule, "Cycle's share", 0.9, 0.1, 1, "every step",
                                 "Length of the cycle of 'one_cycle', as a share of the training.")));
    rows.push_back(advanced(real(key::rangeLowest, kSchedule, "Range from", 1e-6, 1e-12, 1, "every step",
                                 "First rate of a range test; it ends at the learning rate.")));
}

void addStep(Rows& rows)
{
    rows.push_back(
        flag(key::setToNone, kStep, "Drop gradients", false, "every step",
             "Gives gradients back before each step instead of filling them with zeros: no fill, and the backward pass "
             "writes instead of adding. Parameters without a gradient are then left alone by the optimizer."));
    rows.push_back(choice(key::memoryFormat, kStep, "Memory format", {"contiguous", "channels_last"}, "every step",
                          "Order of images and weights in memory: channel by channel, or pixel by pixel, which "
                          "convolutions often prefer."));
    rows.push_back(choice(key::amp, kStep, "Mixed precision", {"off", "bf16"}, "every step",
                          "Runs convolutions and matrix products of the forward pass in BF16. Pays where the device "
                          "has instructions for it."));
    rows.push_back(
        number(key::syncEvery, kStep, "Read the loss every", 1, 0, 1000000, "steps", "every step",
               "Every how many steps loss and accuracy are read back from the device, which waits for all of its work. "
               "0: only at the end of an epoch. In between they are summed up on the device."));
}

void addRest(Rows& rows)
{
    rows.push_back(
        flag(key::evalNoGrad, kValidation, "No gradients", true, "validation",
             "Validates without recording what a backward pass would need; false costs time and memory for nothing."));
    rows.push_back(flag(
        key::anomaly, kDebugging, "Detect anomalies", false, "every step",
        "Looks for NaN in every gradient and remembers where each operator was called. For hunting errors: slow."));
    rows.push_back(flag(key::captureEnabled, kCapture, "Record", true, "whole run",
                        "Records phases, loader stages, operators and GPU work for the timeline and the advisor."));
    rows.push_back(advanced(
        number(key::captureOpsEvery, kCapture, "Record operators every", 50, 0, 1000000, "steps", "recording",
               "Operators are recorded in a window at the start and in one window of every so many steps. 0: never.")));
    rows.push_back(advanced(number(key::captureOpsWindow, kCapture, "Operator window", 5, 1, 1000000, "steps",
                                   "recording", "How many steps each window of recorded operators has.")));
}

} // namespace config::rows
