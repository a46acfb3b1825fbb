#include "trainer/config/knob_rows.h"

// Rows about how it is trained: optimizer, schedule, step, validation, debugging, recording.
namespace config::rows {

void addOptimizer(Rows& rows)
{
    rows.push_back(
        learned(choice(key::optimizer, kOptimizer, "Optimizer",
                       {"sgd", "adam", "adamw", "lars", "lamb", "nvlamb", "novograd"}, "every step",
                       "How gradients change the weights. SGD is the simplest; AdamW usually wants a smaller "
                       "learning rate (0.001); LARS, LAMB, NVLAMB and NovoGrad are for large batches.")));
    rows.push_back(learned(real(key::learningRate, kOptimizer, "Learning rate", 0.05, 0, 100, "every step",
                                "How far each step moves the weights; with a schedule, the highest rate.")));
    rows.push_back(
        learned(choice(key::lrScaling, kOptimizer, "Scale the rate", {"none", "linear", "sqrt"}, "every step",
                       "Multiplies the learning rate by how many times larger a step's batch is than the reference "
                       "batch, or by the square root of that. Linear suits SGD with a warm-up, the root AdamW.")));
    rows.push_back(
        unless(key::lrScaling.name, {"none"},
               learned(advanced(number(key::lrBaseBatch, kOptimizer, "Reference batch", 32, 1, 1000000, "samples",
                                       "every step", "The batch that the learning rate was chosen for.")))));
    rows.push_back(
        learned(real(key::weightDecay, kOptimizer, "Weight decay", 0.0005, 0, 10, "every step",
                     "Pulls the weights towards zero: as L2 with SGD and Adam, decoupled from the gradient with the "
                     "others. LARS and LAMB leave biases and norms alone.")));
    rows.push_back(onlyIf(key::optimizer.name, {"sgd", "lars"},
                          learned(real(key::momentum, kOptimizer, "Momentum", 0.9, 0, 0.9999, "every step",
                                       "Share of the step before that is kept. Used by SGD and LARS."))));
    rows.push_back(onlyIf(key::optimizer.name, {"sgd"},
                          learned(advanced(flag(key::nesterov, kOptimizer, "Nesterov", false, "every step",
                                                "Looks one step of the momentum ahead. Used by SGD.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
               learned(advanced(real(key::beta1, kOptimizer, "Beta 1", 0.9, 0, 0.9999, "every step",
                                     "How long Adam and its kin remember gradients. NovoGrad's authors use 0.95.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
               learned(advanced(real(key::beta2, kOptimizer, "Beta 2", 0.999, 0, 0.999999, "every step",
                                     "How long Adam and its kin remember the size of gradients. NovoGrad's authors use "
                                     "0.98.")))));
    rows.push_back(onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
                          learned(advanced(real(key::epsilon, kOptimizer, "Epsilon", 1e-8, 0, 1, "every step",
                                                "Keeps Adam and its kin from dividing by zero.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"lars"},
               learned(advanced(real(key::trustCoefficient, kOptimizer, "Trust coefficient", 0.001, 0, 1, "every step",
                                     "How far LARS may move a layer, as a share of the norm of its weights.")))));
    rows.push_back(choice(key::implementation, kOptimizer, "Implementation", {"plain", "foreach", "fused"},
                          "every step",
                          "One operator for each weight tensor, one for each list of them, or one kernel for the whole "
                          "update. The same numbers, far fewer operators. Fused exists for SGD, Adam and AdamW."));
}

void addSchedule(Rows& rows)
{
    rows.push_back(
        learned(choice(key::schedule, kSchedule, "Schedule",
                       {"constant", "cosine", "linear", "step", "cyclic", "one_cycle", "range_test"}, "every step",
                       "How the learning rate changes over the training. A range test raises it step by step and "
                       "tells at which rate the loss fell fastest.")));
    rows.push_back(
        unless(key::schedule.name, {"cyclic", "one_cycle", "range_test"},
               scaledWithLength(learned(
                   number(key::warmupSteps, kSchedule, "Warm-up", 0, 0, 1e9, "steps", "first steps",
                          "Raises the rate evenly over the first so many steps. Large batches and Adam need it. Not "
                          "used by cyclic, one_cycle and range_test, which begin low.")))));
    rows.push_back(
        onlyIf(key::schedule.name, {"cosine", "linear", "one_cycle"},
               learned(advanced(real(key::finalShare, kSchedule, "Final share", 0.001, 0, 1, "every step",
                                     "Rate at the end of cosine, linear and one_cycle, as a share of the highest.")))));
    rows.push_back(onlyIf(
        key::schedule.name, {"step"},
        scaledWithLength(learned(advanced(number(key::scheduleStepSize, kSchedule, "Step size", 1000, 1, 1e9, "steps",
                                                 "every step", "Steps between two falls of the schedule 'step'."))))));
    rows.push_back(onlyIf(key::schedule.name, {"step"},
                          learned(advanced(real(key::scheduleGamma, kSchedule, "Factor", 0.1, 0, 1, "every step",
                                                "Factor of each fall of the schedule 'step'.")))));
    rows.push_back(onlyIf(key::schedule.name, {"cyclic"},
                          scaledWithLength(learned(advanced(
                              number(key::cycleSteps, kSchedule, "Half cycle", 500, 1, 1e9, "steps", "every step",
                                     "Steps from the lowest to the highest rate of 'cyclic'."))))));
    rows.push_back(
        onlyIf(key::schedule.name, {"cyclic", "one_cycle"},
               learned(advanced(real(key::lowestShare, kSchedule, "Lowest share", 0.1, 0, 1, "every step",
                                     "Rate at the bottom of 'cyclic' and 'one_cycle', as a share of the highest.")))));
    rows.push_back(onlyIf(key::schedule.name, {"one_cycle"},
                          learned(advanced(real(key::cycleShare, kSchedule, "Cycle's share", 0.9, 0.1, 1, "every step",
                                                "Length of the cycle of 'one_cycle', as a share of the training.")))));
    rows.push_back(onlyIf(key::schedule.name, {"range_test"},
                          learned(advanced(real(key::rangeLowest, kSchedule, "Range from", 1e-6, 1e-12, 1, "every step",
                                                "First rate of a range test; it ends at the learning rate.")))));
}

void addGradients(Rows& rows)
{
    rows.push_back(lossMayChange(
        flag(key::setToNone, kGradients, "Drop gradients", false, "every step",
             "Gives gradients back before each step instead of filling them with zeros: no fill, and the backward pass "
             "writes instead of adding. Parameters without a gradient are then left alone by the optimizer.")));
    rows.push_back(batchFactor(sharesMemory(judgedBy(
        Objective::Memory,
        otherBatches(
            Batches::OtherSize,
            number(key::accumulation, kGradients, "Accumulate", 1, 1, 100000, "batches", "every step",
                   "Batches whose gradients are added up before the weights change: a larger batch in the memory "
                   "of a small one. Steps, and the schedule, count changes of the weights."))))));
    rows.push_back(learned(zeroIs(
        "never", real(key::clipNorm, kGradients, "Clip the norm", 0, 0, 1e9, "every step",
                      "Scales all gradients down together when their norm is above this; 0: never. 1 is usual for "
                      "transformers, 10 to 100 elsewhere."))));
    rows.push_back(learned(
        advanced(zeroIs("never", real(key::clipValue, kGradients, "Clip values", 0, 0, 1e9, "every step",
                                      "Cuts every element of the gradients off at plus and minus this; 0: never.")))));
    rows.push_back(
        lossMayChange(choice(key::onNan, kGradients, "When the loss is lost", {"stop", "continue"}, "every step",
                             "What happens when the loss that is read back is infinite or no number.")));
}

void addPrecision(Rows& rows)
{
    rows.push_back(choice(key::memoryFormat, kPrecision, "Memory format", {"contiguous", "channels_last"}, "every step",
                          "Order of images and weights in memory: channel by channel, or pixel by pixel, which "
                          "convolutions often prefer."));
    rows.push_back(sharesMemory(lossMayChange(
        choice(key::amp, kPrecision, "Mixed precision", {"off", "bf16", "fp16"}, "every step",
               "Runs convolutions and matrix products of the forward pass in half precision. Pays where the "
               "device has instructions for it. FP16 scales the loss, and skips steps that overflow."))));
    rows.push_back(lossMayChange(
        gpuOnly(flag(key::tf32, kPrecision, "TF32", false, "every step",
                     "Lets matrix products in FP32 use TF32's ten bits of mantissa. Convolutions do so in any "
                     "case."))));
    rows.push_back(warmsUp(WarmUp::Autotuning,
                           gpuOnly(flag(key::cudnnBenchmark, kPrecision, "cuDNN autotuner", false, "first steps",
                                        "Tries cuDNN's algorithms for each shape once and keeps the fastest. For "
                                        "shapes that do not change."))));
    rows.push_back(
        warmsUp(WarmUp::Compilation,
                flag(key::compile, kPrecision, "Compile", false, "every step",
                     "Records forward and backward pass as a CUDA graph, which starts thousands of kernels at once. "
                     "Where that fails, it says why and goes on without. There is none on a processor. What "
                     "validation runs can be compiled by PyTorch, on any device: eval.package.")));
}

void addMemory(Rows& rows)
{
    rows.push_back(sharesMemory(judgedBy(
        Objective::Memory,
        choice(key::checkpointing, kMemory, "Recompute activations", {"off", "all", "cheap"}, "every step",
               "Computes activations again in the backward pass instead of keeping them. all: those of every block, "
               "which takes about one more forward pass. cheap: those of norms, activations, softmax and upsampling, "
               "where they free the most memory for their time, measured in the first steps."))));
    rows.push_back(flag(key::shareMemory, kMemory, "Share batch memory", false, "every step",
                        "Makes tensors on the loader's memory instead of copying each batch once more."));
    rows.push_back(batchSearch(otherBatches(
        Batches::OtherSize,
        flag(key::findMax, kMemory, "Find the largest batch", false, "before the run",
             "Tries larger and larger batches in processes of their own, until one runs out of memory, and "
             "trains with the largest that fits."))));
    rows.push_back(advanced(
        zeroIs("all free", number(key::memoryLimit, kMemory, "Memory limit", 0, 0, 1e8, "MiB", "before the run",
                                  "Memory that the training may use on the processor: the search for the largest batch "
                                  "stays below, and the advisor judges the peak by it. 0: what is free."))));
}

void addTransfer(Rows& rows)
{
    rows.push_back(
        gpuOnly(flag(key::nonBlocking, kTransfer, "Copy beside the training", false, "every step",
                     "Copies the next batch to the GPU on a stream of its own while it computes. From pinned memory "
                     "only (loader.pin_memory). On a processor there is nothing to copy to.")));
    rows.push_back(otherTrainingSamples(flag(
        key::augmentOnDevice, kTransfer, "Augment on the device", false, "every step",
        "Augments whole batches of pictures or volumes on the model's device instead of each sample in the loader. "
        "The same choices at random. What is cut from a picture is cut at the model's size, so a little softer; "
        "what a turned volume shows beyond its cube is the cube's border.")));
    rows.push_back(otherTrainingSamples(learned(advanced(
        zeroIs("none", real(key::noise, kTransfer, "Noise", 0, 0, 10, "every step",
                            "Standard deviation of random noise that is added to training inputs that are numbers. "
                            "0: none."))))));
    rows.push_back(
        unless(key::noise.name, {"0"},
               lossMayChange(flag(
                   key::createOnDevice, kTransfer, "Create tensors on the device", false, "every step",
                   "Draws the noise of augment.noise where it is used instead of drawing it on the host and copying "
                   "it. The device's random numbers are others than the host's."))));
    rows.push_back(zeroIs(
        "at the end",
        number(key::syncEvery, kTransfer, "Read the loss every", 1, 0, 1000000, "steps", "every step",
               "Every how many steps loss and accuracy are read back from the device, which waits for all of its work. "
               "0: only at the end of an epoch. In between they are summed up on the device.")));
}

} // namespace config::rows
