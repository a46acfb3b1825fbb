#pragma once

#include "advisor/rule.h"
#include "profiler/model/message.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Changes to a recorded Python program: to its source, to its command line, or as hooks into torch. They are made by
/// the patcher (resources/python/stepscope/change), a Python program that reads the recorded files and writes none.
namespace advisor::change {

/// How a change is applied to the program.
enum class How {
    Source,   ///< the user's file is changed
    Argument, ///< the command line is changed
    Hook,     ///< a hook changes torch inside the program
    ToRead    ///< the user has to make the change; there may be a proposal
};
/// "source", "argument", "hook", "to read".
std::string_view howName(How how);

/// A range of a source file. Lines are counted from 1, columns are UTF-8 byte offsets from 0.
struct SourceSite {
    std::string file; ///< absolute
    std::int64_t line = 0, column = 0, endLine = 0, endColumn = 0;
};

/// A change of one knob of the configuration; values in the format of config::toText.
struct WantedChange {
    std::string key, to;
};

/// The result for one change.
struct ChangeResult {
    std::string key, to;
    std::optional<std::string> from; ///< value in the recorded program, if it is a single setting
    How how = How::ToRead;
    bool measurable = false;       ///< an experiment with the program can show its effect
    profiler::Message whyNot;      ///< why it is not made in the source; empty if it is
    std::string proposal;          ///< a unified diff to read; may be empty
    std::vector<SourceSite> sites; ///< the places that change
};

/// A file of the user's before and after the change.
struct PatchedFile {
    std::filesystem::path path;
    std::string before, after; ///< bytes
};

struct ProgramPatch {
    std::vector<ChangeResult> changes; ///< in the order of the request
    std::vector<PatchedFile> files;
    std::string diff;                         ///< unified diff of all files; empty if no file changes
    std::vector<std::string> command;         ///< empty: the recorded one
    std::map<std::string, std::string> hooks; ///< keys and values for STEPSCOPE_CHANGES
    /// Changes that were applied to the files since they were recorded (apply.h). `files` contains these changes as
    /// well, and `diff` starts from files without the requested changes. Empty if the files are the recorded ones.
    std::vector<WantedChange> applied;
    std::vector<std::filesystem::path> appliedFiles; ///< the files that contain them
};

struct PatcherOptions {
    /// The interpreter; must be at least as new as the program's Python. Never taken from a trace: opening a trace must
    /// not start a program that the trace names.
    std::string python = "python3";
    std::filesystem::path patcher = {};    ///< its __main__.py; empty: the one that belongs to this program
    std::vector<std::string> command = {}; ///< the command whose arguments to change; empty: the recorded one
    std::filesystem::path originals = {};  ///< folder with the originals of applied patches; empty: defaultOriginals()
                                           ///< of apply.h
    std::vector<std::string> without = {}; ///< keys of applied changes to revert in the result
};

/// True for the trace of a Python program whose facts are recorded.
bool describesProgram(const profiler::Trace& trace);

/// The trace's program with all of the changes together. Nothing is written.
/// @return an error if the trace has no facts or the patcher cannot be run
profiler::Result<ProgramPatch> patchProgram(const profiler::Trace& trace, const std::vector<WantedChange>& changes,
                                            const PatcherOptions& options = {});

/// The program with each of the changes separately, in the same order.
profiler::Result<std::vector<ProgramPatch>> patchProgramByEach(const profiler::Trace& trace,
                                                               const std::vector<WantedChange>& changes,
                                                               const PatcherOptions& options = {});

// Encodes bytes for JSON, because the text of a file may not be UTF-8.

std::string toBase64(std::string_view bytes);
/// No value if the text is not Base64 with padding.
std::optional<std::string> fromBase64(std::string_view text);

// The patches for the advice on a recorded Python program. Every program that shows findings calls patchFindings()
// after advise(): a finding whose change can be measured with the program then has a toggle.

/// The patch of a finding's change, or why there is none.
struct FindingPatch {
    std::optional<ProgramPatch> patch; ///< of one change
    profiler::Message whyNot;
};
/// By rule id. A rule that does not fire has an empty entry.
using FindingPatches = std::map<std::string, FindingPatch>;

/// Creates the patches of all findings and sets `toggle` of those that an experiment can measure. Runs the patcher once
/// and reads the user's files; call it from a worker thread.
/// @param options `command` is the command to change; empty: the recorded one
FindingPatches patchFindings(const profiler::Trace& trace, std::vector<RuleAdvice>& advice,
                             const PatcherOptions& options = {});

} // namespace advisor::change
