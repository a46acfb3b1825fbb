#include "trainer/config/knob_rows.h"

// Rows about what is trained on what: the model and the data.
namespace config::rows {

namespace {

void addModel(Rows& rows)
{
    rows.push_back(otherTask(
        choice(key::workload, kModel, "Model",
               {"convnet", "resnet18", "resnet50", "vit", "gpt", "bert", "lstm", "mlp", "unet3d", "convolution",
                "torchscript", "plugin"},
               "whole run",
               "What is trained: a network for images (convnet, ResNet, ViT), for text (GPT, BERT, LSTM), for "
               "tables (MLP) or for volumes (3-D U-Net), a single convolution, or a model of your own from a file.")));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin"},
               lossMayChange(choice(
                   key::modelSize, kModel, "Size", {"small", "tiny", "base", "large"}, "every step",
                   "How large the model is: tiny takes milliseconds a step on a processor, large fills a GPU."))));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin"},
               lossMayChange(zeroIs(
                   "by size", number(key::modelWidth, kModel, "Width", 0, 0, 65536, "channels", "every step",
                                     "Channels or features of the model's first layer. 0: as its size has them.")))));
    rows.push_back(unless(
        key::workload.name, {"torchscript", "plugin"},
        lossMayChange(zeroIs(
            "by size",
            number(key::modelDepth, kModel, "Depth", 0, 0, 1000, "layers", "every step",
                   "Layers, or blocks in each stage of a ResNet, or levels of a U-Net. 0: as its size has them.")))));
    rows.push_back(unless(
        key::workload.name, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm", "convolution"},
        learned(choice(key::modelNorm, kModel, "Normalisation", {"batch", "group", "none"}, "every step",
                       "What follows convolutions and hidden layers: batch norm, group norm, which does not depend "
                       "on the batch, or nothing. Transformers and LSTMs do not use it."))));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm", "convolution"},
               lossMayChange(flag(
                   key::convBias, kModel, "Bias before normalisation", true, "every step",
                   "A bias in layers whose normalisation directly after takes it away again: costs time and memory "
                   "for nothing."))));
    rows.push_back(
        onlyIf(key::workload.name, {"vit", "gpt", "bert"},
               choice(key::attention, kModel, "Attention", {"math", "sdpa"}, "every step",
                      "Attention of transformers written out as matrix product, softmax, matrix product, or as one "
                      "operator that never stores the scores.")));
    rows.push_back(
        onlyIf(key::workload.name, {"vit", "gpt", "bert"},
               warmsUp(WarmUp::Compilation,
                       flag(key::fusePointwise, kModel, "Fuse pointwise operators", false, "every step",
                            "Runs the five pointwise operations of GELU in transformers as one kernel: compiled just "
                            "in time on a GPU, LibTorch's own on a processor."))));
    rows.push_back(onlyIf(
        key::workload.name, {"torchscript", "plugin"},
        otherTask(path(key::modelPath, kModel, "Model file", PathKind::File, "none", "whole run",
                       "Your own model: a TorchScript file for torchscript, a library for plugin. It is code, and runs "
                       "only when its SHA-256 is given as trusted."))));
    rows.push_back(
        onlyIf(key::workload.name, {"torchscript", "plugin"},
               text(key::trustedSha256, kModel, "Trusted SHA-256", "whole run",
                    "SHA-256 of the model file that may be run. Another file at the same path is refused.")));
    rows.push_back(onlyIf(
        key::workload.name, {"torchscript", "plugin"},
        otherTask(choice(key::modelLoss, kModel, "Loss of the model file", {"cross_entropy", "mse", "given"},
                         "every step",
                         "What a TorchScript model is trained for: classes or tokens, numbers, or a loss that it gives "
                         "itself when it is called with inputs and target."))));
    rows.push_back(
        onlyIf(key::workload.name, {"torchscript", "plugin"},
               text(key::inputShapes, kModel, "Inputs of the model file", "whole run",
                    "Shapes of one sample's inputs that a TorchScript model takes, as in 3,32,32 or 128;128 for two. "
                    "Empty: not checked against the data set before the first step.")));
}

void addSamples(Rows& rows)
{
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        choice(key::dataset, kData, "Data set",
               {"generated_images", "image_folder", "mnist", "cifar10", "text", "csv", "volumes", "arrays", "stream"},
               "loader",
               "Where samples come from: JPEG files that are generated once, a folder of JPEG and PNG files with one "
               "subfolder for each class, MNIST's or CIFAR-10's files, a text, a table, volumes, NumPy arrays, or a "
               "stream of tar files."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        path(key::datasetPath, kData, "Folder", PathKind::FileOrFolder, "automatic", "loader",
             "File or folder of the data set. Empty: samples are generated once and kept in the user's cache; "
             "a folder of images must be given."))));
    rows.push_back(otherTask(
        otherBatches(Batches::OtherSamples,
                     number(key::datasetSamples, kData, "Samples", 2000, 2, 10000000, "samples", "generated data",
                            "How many samples are generated where there is no data set yet."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        number(key::datasetClasses, kData, "Classes", 10, 2, 1000, "classes", "loader",
               "How many classes generated samples have, and labels of a table, of arrays and of volumes may "
               "have. MNIST and CIFAR-10 have ten; folders have as many as there are."))));
    rows.push_back(
        onlyIf(key::dataset.name, {"generated_images", "stream"},
               otherTask(otherBatches(
                   Batches::OtherSamples,
                   advanced(number(
                       key::datasetSourceSize, kData, "Stored size", 256, 16, 4096, "px", "generated_images, stream",
                       "Edge of the generated images as they are stored. Larger images take longer to decode."))))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        number(key::imageSize, kData, "Image size", 32, 16, 1024, "px", "every step",
               "Edge of the images that the model gets, after cropping and resizing. MNIST and CIFAR-10 keep "
               "their 28 and 32 px."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        advanced(zeroIs("none", real(key::datasetValidation, kData, "Validation share", 0.2, 0, 0.9, "loader",
                                     "Share of the samples that is kept for validation. 0: no validation. MNIST and "
                                     "CIFAR-10 come with their own "
                                     "split."))))));
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
                                      "Tokens of one sample of a text. Attention's work grows with its square.")))));
    rows.push_back(onlyIf(
        key::dataset.name, {"text"},
        otherTask(otherBatches(
            Batches::OtherSamples,
            path(key::tokenizer, kData, "Tokenizer", PathKind::File, "none", "text",
                 "Byte-pair vocabulary of the text: a tokenizer.json, or a vocab.json with merges.txt beside it. "
                 "Empty: each byte is a token.")))));
    rows.push_back(onlyIf(key::dataset.name, {"csv"},
                          otherTask(otherBatches(Batches::OtherSamples,
                                                 text(key::targetColumn, kData, "Target column", "csv",
                                                      "Name of the column to be predicted. Empty: the last one.")))));
    rows.push_back(onlyIf(key::dataset.name, {"csv", "arrays"},
                          otherTask(otherBatches(
                              Batches::OtherSamples,
                              choice(key::targetKind, kData, "Target", {"class", "number"}, "csv, arrays",
                                     "What is predicted of a table or of arrays: one of the classes, or a number.")))));
    rows.push_back(
        onlyIf(key::dataset.name, {"volumes"},
               otherTask(otherBatches(Batches::OtherSamples,
                                      number(key::volumeSize, kData, "Volume size", 32, 4, 512, "voxels", "volumes",
                                             "Edge of the cubes that the model gets, cut out of the volumes.")))));
    rows.push_back(
        learned(flag(key::normalize, kData, "Normalise", true, "loader",
                     "Shifts and scales inputs to mean 0 and deviation 1 by statistics of the training samples; "
                     "images by ImageNet's, MNIST's or CIFAR-10's published ones.")));
    rows.push_back(otherTrainingSamples(learned(otherBatches(
        Batches::OtherSamples,
        flag(key::augment, kData, "Augment", true, "loader",
             "Changes training samples at random, so that the model sees each one differently in every epoch: "
             "crops, mirror images, rotations of volumes, shifted windows of a text. Rows and arrays stay as "
             "they are.")))));
}

} // namespace config::rows
