#include "trainer/config/knob_rows.h"

// Rows for the step: optimizer, schedule, gradients, precision, memory, transfer.
namespace config::rows {

void addOptimizer(Rows& rows)
{
    rows.push_back(
        learned(choice(key::optimizer, kOptimizer, "Optimizer",
                       {"sgd", "adam", "adamw", "lars", "lamb", "nvlamb", "novograd"}, "every step",
                       "How gradients change the weights. SGD is the simplest; AdamW usually needs a smaller learning "
                       "rate (0.001); LARS, LAMB, NVLAMB and NovoGrad are for large batches.")));
    rows.push_back(learned(real(key::learningRate, kOptimizer, "Learning rate", 0.05, 0, 100, "every step",
                                "How far each step moves the weights. With a schedule, this is the highest rate.")));
    rows.push_back(
        learned(choice(key::lrScaling, kOptimizer, "Scale learning rate", {"none", "linear", "sqrt"}, "every step",
                       "Multiplies the learning rate by the ratio of the batch size to the reference batch, or by the "
                       "square root of that ratio. Linear suits SGD with a warm-up, sqrt suits AdamW.")));
    rows.push_back(
        unless(key::lrScaling.name, {"none"},
               learned(advanced(number(key::lrBaseBatch, kOptimizer, "Reference batch", 32, 1, 1000000, "samples",
                                       "every step", "The batch size that the learning rate was chosen for.")))));
    rows.push_back(
        learned(real(key::weightDecay, kOptimizer, "Weight decay", 0.0005, 0, 10, "every step",
                     "Pulls the weights towards zero: as L2 regularization with SGD and Adam, decoupled from the "
                     "gradient with the others. LARS and LAMB skip biases and norms.")));
    rows.push_back(onlyIf(key::optimizer.name, {"sgd", "lars"},
                          learned(real(key::momentum, kOptimizer, "Momentum", 0.9, 0, 0.9999, "every step",
                                       "Fraction of the previous step that is kept. Used by SGD and LARS."))));
    rows.push_back(onlyIf(key::optimizer.name, {"sgd"},
                          learned(advanced(flag(key::nesterov, kOptimizer, "Nesterov", false, "every step",
                                                "Uses Nesterov momentum, which looks one step ahead. Used by SGD.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
               learned(advanced(real(key::beta1, kOptimizer, "Beta 1", 0.9, 0, 0.9999, "every step",
                                     "Decay rate of the mean of gradients in Adam and its variants. NovoGrad's authors "
                                     "use 0.95.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
               learned(advanced(real(key::beta2, kOptimizer, "Beta 2", 0.999, 0, 0.999999, "every step",
                                     "Decay rate of the mean of squared gradients in Adam and its variants. NovoGrad's "
                                     "authors use 0.98.")))));
    rows.push_back(onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
                          learned(advanced(real(key::epsilon, kOptimizer, "Epsilon", 1e-8, 0, 1, "every step",
                                                "Prevents division by zero in Adam and its variants.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"lars"},
               learned(advanced(real(key::trustCoefficient, kOptimizer, "Trust coefficient", 0.001, 0, 1, "every step",
                                     "Limits how far LARS may move a layer, as a fraction of the norm of its "
                                     "weights.")))));
    rows.push_back(choice(key::implementation, kOptimizer, "Implementation", {"plain", "foreach", "fused"},
                          "every step",
                          "plain: one operator per weight tensor (for-loop). foreach: one operator per list of "
                          "tensors. fused: one kernel for the whole update, for SGD, Adam and AdamW only. All give the "
                          "same results."));
}

void addSchedule(Rows& rows)
{
    rows.push_back(
        learned(choice(key::schedule, kSchedule, "Schedule",
                       {"constant", "cosine", "linear", "step", "cyclic", "one_cycle", "range_test"}, "every step",
                       "How the learning rate changes over the training. range_test raises it step by step and reports "
                       "the rate at which the loss fell fastest.")));
    rows.push_back(
        unless(key::schedule.name, {"cyclic", "one_cycle", "range_test"},
               scaledWithLength(learned(
                   number(key::warmupSteps, kSchedule, "Warm-up", 0, 0, 1e9, "steps", "first steps",
                          "Raises the rate linearly over this many first steps. Large batches and Adam need it. Not "
                          "used by cyclic, one_cycle and range_test, which start low.")))));
    rows.push_back(onlyIf(key::schedule.name, {"cosine", "linear", "one_cycle"},
                          learned(advanced(real(key::finalShare, kSchedule, "Final fraction", 0.001, 0, 1, "every step",
                                                "Rate at the end of cosine, linear and one_cycle, as a fraction of the "
                                                "highest.")))));
    rows.push_back(onlyIf(key::schedule.name, {"step"},
                          scaledWithLength(learned(advanced(number(key::scheduleStepSize, kSchedule, "Step size", 1000,
                                                                   1, 1e9, "steps", "every step",
                                                                   "Steps between two reductions of the rate by the "
                                                                   "schedule 'step'."))))));
    rows.push_back(onlyIf(key::schedule.name, {"step"},
                          learned(advanced(real(key::scheduleGamma, kSchedule, "Factor", 0.1, 0, 1, "every step",
                                                "Factor of each reduction of the rate by the schedule 'step'.")))));
    rows.push_back(onlyIf(key::schedule.name, {"cyclic"},
                          scaledWithLength(learned(advanced(
                              number(key::cycleSteps, kSchedule, "Half cycle", 500, 1, 1e9, "steps", "every step",
                                     "Steps from the lowest to the highest rate of 'cyclic'."))))));
    rows.push_back(
        onlyIf(key::schedule.name, {"cyclic", "one_cycle"},
               learned(advanced(real(key::lowestShare, kSchedule, "Lowest fraction", 0.1, 0, 1, "every step",
                                     "Lowest rate of 'cyclic' and 'one_cycle', as a fraction of the highest.")))));
    rows.push_back(onlyIf(key::schedule.name, {"one_cycle"},
                          learned(advanced(real(key::cycleShare, kSchedule, "Cycle fraction", 0.9, 0.1, 1, "every step",
                                                "Length of the cycle of 'one_cycle', as a fraction of the "
                                                "training.")))));
    rows.push_back(
        onlyIf(key::schedule.name, {"range_test"},
               learned(advanced(real(key::rangeLowest, kSchedule, "Range start", 1e-6, 1e-12, 1, "every step",
                                     "First rate of a range test; the last is the learning rate.")))));
}

void addGradients(Rows& rows)
{
    rows.push_back(lossMayChange(
        flag(key::setToNone, kGradients, "Set gradients to None", false, "every step",
             "Frees gradients before each step instead of filling them with zeros: no fill, and the backward pass "
             "writes instead of adding. The optimizer then skips parameters without a gradient.")));
    rows.push_back(batchFactor(sharesMemory(withObjective(
        Objective::Memory,
        otherBatches(
            Batches::OtherSize,
            number(key::accumulation, kGradients, "Accumulate", 1, 1, 100000, "batches", "every step",
                   "Micro-batches whose gradients are added before the weights are updated: a larger batch in the "
                   "memory of a small one. Steps and the schedule count weight updates."))))));
    rows.push_back(learned(zeroIs(
        "never", real(key::clipNorm, kGradients, "Clip gradient norm", 0, 0, 1e9, "every step",
                      "Scales all gradients down if their total norm exceeds this value. 0: never. Common values are 1 "
                      "for transformers and 10 to 100 for other models."))));
    rows.push_back(learned(
        advanced(zeroIs("never", real(key::clipValue, kGradients, "Clip gradient values", 0, 0, 1e9, "every step",
                                      "Limits every gradient element to the range from minus to plus this value. 0: "
                                      "never.")))));
    rows.push_back(lossMayChange(choice(key::onNan, kGradients, "On NaN loss", {"stop", "continue"}, "every step",
                                        "What to do if the loss that is read back is infinite or NaN.")));
}

void addPrecision(Rows& rows)
{
    rows.push_back(choice(key::memoryFormat, kPrecision, "Memory format", {"contiguous", "channels_last"}, "every step",
                          "Memory layout of images and weights: contiguous stores one channel after the other, "
                          "channels_last keeps the channels of a pixel together, which convolutions often prefer."));
    rows.push_back(sharesMemory(lossMayChange(
        choice(key::amp, kPrecision, "Mixed precision", {"off", "bf16", "fp16"}, "every step",
               "Runs the convolutions and matmuls of the forward pass in half precision. Faster on devices with "
               "instructions for it. FP16 scales the loss and skips steps that overflow."))));
    rows.push_back(lossMayChange(
        gpuOnly(flag(key::tf32, kPrecision, "TF32", false, "every step",
                     "Allows TF32 (10-bit mantissa) for FP32 matmuls. Convolutions use it in any case."))));
    rows.push_back(warmsUp(WarmUp::Autotuning,
                           gpuOnly(flag(key::cudnnBenchmark, kPrecision, "cuDNN autotuner", false, "first steps",
                                        "Benchmarks cuDNN's algorithms once per shape and keeps the fastest. Useful if "
                                        "shapes do not change."))));
    rows.push_back(
        warmsUp(WarmUp::Compilation,
                flag(key::compile, kPrecision, "Compile", false, "every step",
                     "Records the forward and backward pass as a CUDA graph, which launches thousands of kernels at "
                     "once. If recording fails, a notice gives the reason and the training continues without it. GPU "
                     "only. Use eval.package to run a model compiled by PyTorch in validation, on any device.")));
}

void addMemory(Rows& rows)
{
    rows.push_back(sharesMemory(withObjective(
        Objective::Memory,
        choice(key::checkpointing, kMemory, "Recompute activations", {"off", "all", "cheap"}, "every step",
               "Recomputes activations in the backward pass instead of storing them. all: those of every block, which "
               "costs about one more forward pass. cheap: those of norms, activations, softmax and upsampling where "
               "this frees the most memory per time, as measured in the first steps."))));
    rows.push_back(flag(key::shareMemory, kMemory, "Share batch memory", false, "every step",
                        "Creates tensors directly on the loader's memory instead of copying each batch once more."));
    rows.push_back(batchSearch(otherBatches(
        Batches::OtherSize,
        flag(key::findMax, kMemory, "Find the largest batch", false, "before the run",
             "Tries larger and larger batch sizes, each in a separate process, until one runs out of memory, and "
             "trains with the largest that fits."))));
    rows.push_back(advanced(zeroIs(
        "all free memory", number(key::memoryLimit, kMemory, "Memory limit", 0, 0, 1e8, "MiB", "before the run",
                                  "Memory that the training may use on the CPU: the search for the largest batch stays "
                                  "below it, and the advisor compares the peak with it. 0: all free memory."))));
}

void addTransfer(Rows& rows)
{
    rows.push_back(
        gpuOnly(flag(key::nonBlocking, kTransfer, "Asynchronous copies", false, "every step",
                     "Copies the next batch to the GPU on a separate stream during the computation. Needs pinned "
                     "memory (loader.pin_memory). No effect on a CPU.")));
    rows.push_back(otherTrainingSamples(flag(
        key::augmentOnDevice, kTransfer, "Augment on the device", false, "every step",
        "Augments whole batches of images on the model's device instead of each sample in the loader, with the same "
        "random choices. Images are cropped after scaling to the model's size, so they are slightly softer.")));
    rows.push_back(otherTrainingSamples(learned(advanced(
        zeroIs("none", real(key::noise, kTransfer, "Noise", 0, 0, 10, "every step",
                            "Standard deviation of the random noise added to numeric training inputs. 0: none."))))));
    rows.push_back(
        unless(key::noise.name, {"0"},
               lossMayChange(flag(
                   key::createOnDevice, kTransfer, "Create tensors on the device", false, "every step",
                   "Draws the noise of augment.noise on the device instead of drawing it on the CPU and copying it. "
                   "The device's random numbers differ from the CPU's."))));
    rows.push_back(zeroIs(
        "at the end",
        number(key::syncEvery, kTransfer, "Read the loss every", 1, 0, 1000000, "steps", "every step",
               "Number of steps between reads of loss and accuracy from the device. Each read waits for all of the "
               "device's work. 0: only at the end of an epoch. Between reads, the values are summed on the device.")));
}

} // namespace config::rows
