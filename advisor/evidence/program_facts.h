#pragma once

#include "advisor/source_place.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a recorded Python program consists of, as its hooks wrote it into the trace's metadata
/// (resources/python/stepscope/facts.py): its loaders, optimizers and models, the calls that a change could concern,
/// and where in the user's files each of them is. The document comes from another process: everything in it may be
/// missing, wrong or hostile.
namespace advisor {

/// An argument or attribute of an object.
struct ProgramSetting {
    std::string name;
    nlohmann::json value;
    bool given = false;   ///< passed explicitly
    std::string argument; ///< destination of the command line's option whose value it is; empty: none
    std::optional<SourcePlace> configuration; ///< value in a configuration file that it comes from; `what` is its key
};

/// An object that the program made, or a place from which it calls something.
struct ProgramObject {
    std::string id;        ///< "loader:0"
    std::string kind;      ///< "loader", "optimizer", "zero_grad": see facts.py
    std::string className; ///< "torch.utils.data.DataLoader"
    std::string framework; ///< that made it: "lightning"; empty: the program itself
    std::string role;      ///< of a loader: "training", "validation"; else empty
    std::optional<SourcePlace> site;
    std::vector<SourcePlace> chain; ///< further frames of the user's files, outwards
    std::vector<ProgramSetting> settings;
    std::int64_t count = 0; ///< how often it was called or used
    nlohmann::json fields;  ///< what else is known, by kind

    /// The setting of that name; nullptr without it.
    [[nodiscard]] const ProgramSetting* setting(std::string_view name) const;
    /// Its value as text, as config::toText has it ("true", "4", "bf16"); empty without it.
    [[nodiscard]] std::string valueText(std::string_view name) const;
    /// A number among the settings or the fields; none where it is missing or not a number.
    [[nodiscard]] std::optional<double> number(std::string_view name) const;
    /// A truth value among the settings or the fields; none where it is missing.
    [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
    /// The class without its module: "DataLoader".
    [[nodiscard]] std::string_view shortName() const;
};

struct ProgramModule {
    std::string model; ///< id of the object
    std::string name;  ///< "layer1.0.conv1"; empty: the outermost
    std::string className;
    std::int64_t parameters = 0; ///< its own
    std::string dtype;           ///< "float32"; empty without parameters
    std::string memoryFormat;    ///< of convolutions: "contiguous", "channels_last", "any"
    bool bias = false, requiresGrad = false;
};

/// A convolution whose result goes straight into a batch norm.
struct ConvolutionBeforeNorm {
    std::string convolution, norm; ///< names of the modules
    bool bias = false;
    std::optional<SourcePlace> site; ///< of the convolution's construction
};

struct ProgramAttention {
    bool fused = false; ///< else written out: a softmax between two products
    std::int64_t count = 0;
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
    nlohmann::json precision, loss, memory, seeds;
    bool followedForward = false; ///< convolutionsBeforeNorm and attention are of a whole forward pass

    /// All objects of a kind, in the order in which the program made them.
    [[nodiscard]] std::vector<const ProgramObject*> ofKind(std::string_view kind) const;
    /// The loader that the training asks for batches; nullptr: not known.
    [[nodiscard]] const ProgramObject* trainingLoader() const;
    /// The optimizer that stepped most often; nullptr: none did.
    [[nodiscard]] const ProgramObject* mainOptimizer() const;
    /// The model with the most parameters; nullptr: none is known.
    [[nodiscard]] const ProgramObject* mainModel() const;
    /// A value of `precision`: "autocast", "cudnn_benchmark"; null without it.
    [[nodiscard]] nlohmann::json precisionOf(std::string_view key) const;
    /// The objects of one of those kinds that a flag of PyTorch was set by: "torch.backends.cudnn.benchmark".
    [[nodiscard]] const ProgramObject* flagSetter(std::string_view name) const;
};

struct ProgramDocument {
    std::optional<ProgramFacts> facts; ///< none: the trace has none, or they cannot be read
    profiler::Message problem;         ///< why they cannot be read; empty else
};
/// Reads the document. Never fails: what is not understood is left out.
ProgramDocument readProgram(std::string_view text);
/// That of a trace; without facts and without a problem where it has none.
ProgramDocument programOf(const profiler::Trace& trace);
/// The document as JSON for other programs, bounded like readProgram(); null where there is none.
nlohmann::json programJson(const profiler::Trace& trace);

/// A value as a knob has it: numbers and words as they are, "true", "false", "none".
std::string settingText(const nlohmann::json& value);

} // namespace advisor
