#include "trainer/config/knob_rows.h"

// Rows for the model and the data.
namespace config::rows {

namespace {

void addModel(Rows& rows)
{
    rows.push_back(otherTask(
        choice(key::workload, kModel, "Model",
               {"convnet", "resnet18", "resnet50", "vit", "gpt", "bert", "lstm", "mlp", "convolution", "torchscript",
                "plugin"},
               "whole run",
               "Model to train: a network for images (convnet, ResNet, ViT), for text (GPT, BERT, LSTM) or for "
               "tables (MLP), a single convolution, or your own model from a file.")));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin"},
               lossMayChange(choice(
                   key::modelSize, kModel, "Size", {"small", "tiny", "base", "large"}, "every step",
                   "Size of the model: a tiny model takes milliseconds per step on a CPU, a large one fills a GPU."))));
    rows.push_back(unless(
        key::workload.name, {"torchscript", "plugin"},
        lossMayChange(zeroIs("by size", number(key::modelWidth, kModel, "Width", 0, 0, 65536, "channels", "every step",
                                               "Channels or features of the model's first layer. 0: set by the model's "
                                               "size.")))));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin"},
               lossMayChange(
                   zeroIs("by size", number(key::modelDepth, kModel, "Depth", 0, 0, 1000, "layers", "every step",
                                            "Layers, or blocks per stage of a ResNet. 0: set by the model's size.")))));
    rows.push_back(unless(
        key::workload.name, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm", "convolution"},
        learned(choice(key::modelNorm, kModel, "Normalization", {"batch", "group", "none"}, "every step",
                       "Layer after convolutions and hidden layers: batch norm, group norm (independent of the batch), "
                       "or none. Transformers and LSTMs do not use it."))));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm", "convolution"},
               lossMayChange(flag(
                   key::convBias, kModel, "Bias before normalization", true, "every step",
                   "Adds a bias to layers directly before a normalization, which cancels it: costs time and memory "
                   "without any effect."))));
    rows.push_back(
        onlyIf(key::workload.name, {"vit", "gpt", "bert"},
               choice(key::attention, kModel, "Attention", {"math", "sdpa"}, "every step",
                      "Attention of transformers: math computes matmul, softmax, matmul; sdpa is one operator that "
                      "never stores the score matrix.")));
    rows.push_back(
        onlyIf(key::workload.name, {"vit", "gpt", "bert"},
               warmsUp(WarmUp::Compilation,
                       flag(key::fusePointwise, kModel, "Fuse pointwise operations", false, "every step",
                            "Runs the five pointwise operations of GELU in transformers as one kernel: compiled just "
                            "in time on a GPU, LibTorch's built-in kernel on a CPU."))));
    rows.push_back(onlyIf(
        key::workload.name, {"torchscript", "plugin"},
        otherTask(path(key::modelPath, kModel, "Model file", PathKind::File, "none", "whole run",
                       "Your own model: a TorchScript file for torchscript, a shared library for plugin. It contains "
                       "code and runs only if its SHA-256 is entered as trusted."))));
    rows.push_back(
        onlyIf(key::workload.name, {"torchscript", "plugin"},
               text(key::trustedSha256, kModel, "Trusted SHA-256", "whole run",
                    "SHA-256 of the model file that may run. Any other file at the same path is rejected.")));
    rows.push_back(onlyIf(
        key::workload.name, {"torchscript", "plugin"},
        otherTask(choice(key::modelLoss, kModel, "Loss of the model file", {"cross_entropy", "mse", "given"},
                         "every step",
                         "Loss of a TorchScript model: cross_entropy for classes or tokens, mse for numbers, or given "
                         "if the model returns the loss itself when called with inputs and target."))));
    rows.push_back(
        onlyIf(key::workload.name, {"torchscript", "plugin"},
               text(key::inputShapes, kModel, "Inputs of the model file", "whole run",
                    "Shapes of one sample's inputs for a TorchScript model, such as 3,32,32 or, for two inputs, "
                    "128;128. Empty: not checked against the dataset before the first step.")));
}

void addSamples(Rows& rows)
{
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        choice(key::dataset, kData, "Dataset",
               {"generated_images", "image_folder", "mnist", "cifar10", "text", "csv", "arrays", "stream"}, "loader",
               "Source of the samples: JPEG files that are generated once, a folder of JPEG and PNG files with one "
               "subfolder per class, the files of MNIST or CIFAR-10, a text, a table, NumPy arrays, or a stream of tar "
               "files."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        path(key::datasetPath, kData, "Folder", PathKind::FileOrFolder, "automatic", "loader",
             "File or folder of the dataset. Empty: samples are generated once and kept in the user's cache; "
             "image_folder requires a folder."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples, number(key::datasetSamples, kData, "Samples", 2000, 2, 10000000, "samples",
                                      "generated data", "Number of samples to generate if there is no dataset yet."))));
    rows.push_back(otherTask(
        otherBatches(Batches::OtherSamples,
                     number(key::datasetClasses, kData, "Classes", 10, 2, 1000, "classes", "loader",
                            "Number of classes of generated samples, and of the labels in tables and arrays. MNIST and "
                            "CIFAR-10 have ten; image folders have one per subfolder."))));
    rows.push_back(onlyIf(
        key::dataset.name, {"generated_images", "stream"},
        otherTask(otherBatches(
            Batches::OtherSamples,
            advanced(number(key::datasetSourceSize, kData, "Stored size", 256, 16, 4096, "px",
                            "generated_images, stream",
                            "Edge length of the generated images on disk. Larger images take longer to decode."))))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        number(key::imageSize, kData, "Image size", 32, 16, 1024, "px", "every step",
               "Edge length of the model's input images, after cropping and resizing. MNIST and CIFAR-10 keep their 28 "
               "and 32 px."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        advanced(zeroIs("none", real(key::datasetValidation, kData, "Validation fraction", 0.2, 0, 0.9, "loader",
                                     "Fraction of the samples held out for validation. 0: no validation. MNIST and "
                                     "CIFAR-10 have their own split."))))));
}

} // namespace

void addModelAndData(Rows& rows)
{
    addModel(rows);
    addSamples(rows);
    rows.push_back(onlyIf(
        key::dataset.name, {"text"},
        otherTask(otherBatches(Batches::OtherSamples,
                               number(key::contextLength, kData, "Context", 64, 2, 1048576, "tokens", "text",
                                      "Tokens per text sample. The cost of attention grows with the square of this "
                                      "number.")))));
    rows.push_back(onlyIf(key::dataset.name, {"csv"},
                          otherTask(otherBatches(Batches::OtherSamples,
                                                 text(key::targetColumn, kData, "Target column", "csv",
                                                      "Name of the column to predict. Empty: the last column.")))));
    rows.push_back(
        onlyIf(key::dataset.name, {"csv", "arrays"},
               otherTask(otherBatches(Batches::OtherSamples,
                                      choice(key::targetKind, kData, "Target", {"class", "number"}, "csv, arrays",
                                             "What to predict from a table or from arrays: a class or a number.")))));
    rows.push_back(
        learned(flag(key::normalize, kData, "Normalize", true, "loader",
                     "Shifts and scales inputs to mean 0 and standard deviation 1, using the statistics of the "
                     "training samples, or the published statistics for ImageNet, MNIST and CIFAR-10 images.")));
    rows.push_back(otherTrainingSamples(learned(otherBatches(
        Batches::OtherSamples,
        flag(key::augment, kData, "Augment", true, "loader",
             "Changes training samples at random, so that each epoch shows the model different variants: crops, "
             "horizontal flips, shifted windows of a text. Table rows and arrays are not changed.")))));
}

} // namespace config::rows
