#pragma once

#include "advisor/advice.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The parts of a recorded Python program, as its hooks wrote them into the trace's metadata
/// (resources/python/stepscope/facts.py): loaders, optimizers, models, the calls that a change could concern, and their
/// places in the user's files. The document comes from another process: anything in it may be missing, wrong or
/// malicious.
namespace advisor {

/// An argument or attribute of an object.
struct ProgramSetting {
    std::string name;
    nlohmann::json value;
    bool given = false;                       ///< passed explicitly
    std::string argument;                     ///< destination name of the command-line option that sets it; empty: none
    std::optional<SourcePlace> configuration; ///< the value in a configuration file that sets it; `what` is its key
};

/// An object that the program created, or a call site.
struct ProgramObject {
    std::string id;        ///< "loader:0"
    std::string kind;      ///< "loader", "optimizer", "zero_grad": see facts.py
    std::string className; ///< "torch.utils.data.DataLoader"
    std::string framework; ///< the framework that created the object: "lightning"; empty: the program itself
    std::string role;      ///< of a loader: "training" or "validation"; otherwise empty
    std::optional<SourcePlace> site;
    std::vector<SourcePlace> chain; ///< further frames of the user's files, from inner to outer
    std::vector<ProgramSetting> settings;
    std::int64_t count = 0; ///< how often it was called or used
    nlohmann::json fields;  ///< other known values, depending on the kind

    /// The setting of that name, or nullptr.
    [[nodiscard]] const ProgramSetting* setting(std::string_view name) const;
    /// A number among the settings or the fields; no value if it is missing or not a number.
    [[nodiscard]] std::optional<double> number(std::string_view name) const;
    /// A boolean among the settings or the fields; no value if it is missing.
    [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
    /// The class without its module: "DataLoader".
    [[nodiscard]] std::string_view shortName() const;
};

struct ProgramModule {
    std::string model; ///< id of the model object
    std::string name;  ///< "layer1.0.conv1"; empty: the root module
    std::string className;
    std::int64_t parameters = 0; ///< without submodules
    std::string dtype;           ///< "float32"; empty without parameters
    std::string memoryFormat;    ///< for convolutions: "contiguous", "channels_last", "any"
    bool bias = false;
};

/// A convolution whose output is the direct input of a batch norm.
struct ConvolutionBeforeNorm {
    std::string convolution, norm; ///< module names
    bool bias = false;
    std::optional<SourcePlace> site; ///< where the convolution is constructed
};

struct ProgramAttention {
    bool fused = false; ///< false: separate operators, with a softmax between two matmuls
    std::int64_t count = 0;
    std::optional<SourcePlace> site;
};

/// A line that calls one of PyTorch's functions repeatedly in the first forward pass of training.
struct RepeatingLine {
    std::string function;     ///< the one called most: "lstm_cell", "__setitem__"
    std::int64_t repeats = 0; ///< of this function, divided by the number of layers that the loop applies
    std::int64_t count = 0;   ///< all functions that the line called
    std::optional<SourcePlace> site;
};

struct ProgramArgument {
    std::string dest;
    std::vector<std::string> options;
    nlohmann::json value;
    bool given = false;
};

struct ProgramFacts {
    std::string script, module, workingDirectory, python, torch;
    std::vector<std::string> command;
    std::vector<ProgramObject> objects;
    std::vector<ProgramArgument> arguments;
    std::vector<ProgramModule> modules;
    std::vector<ConvolutionBeforeNorm> convolutionsBeforeNorm;
    std::vector<ProgramAttention> attention;
    std::vector<RepeatingLine> repeatingLines; ///< most calls first
    bool countedLines = false;                 ///< repeatingLines covers a whole forward pass
    nlohmann::json precision, loss, memory, seeds, environment;
    bool followedForward = false; ///< convolutionsBeforeNorm and attention cover a whole forward pass

    /// All objects of a kind, in the order of creation.
    [[nodiscard]] std::vector<const ProgramObject*> ofKind(std::string_view kind) const;
    /// The loader that training takes batches from; nullptr if unknown.
    [[nodiscard]] const ProgramObject* trainingLoader() const;
    /// The optimizer that stepped most often; nullptr if none did.
    [[nodiscard]] const ProgramObject* mainOptimizer() const;
    /// A value of `precision`: "autocast", "cudnn_benchmark"; null if it is missing.
    [[nodiscard]] nlohmann::json precisionOf(std::string_view key) const;
};

struct ProgramDocument {
    std::optional<ProgramFacts> facts; ///< no value: the trace has no facts, or they cannot be read
    profiler::Message problem;         ///< why they cannot be read; empty otherwise
};
/// Reads the document. Never fails: unknown content is ignored.
ProgramDocument readProgram(std::string_view text);
/// The document of a trace; without facts and without a problem if it has none.
ProgramDocument programOf(const profiler::Trace& trace);
/// The document as JSON for other programs, limited like readProgram(); null if there is none.
nlohmann::json programJson(const profiler::Trace& trace);

/// A value in the format of the knobs: numbers and words unchanged, "true", "false", "none".
std::string settingText(const nlohmann::json& value);

} // namespace advisor
