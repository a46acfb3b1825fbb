#pragma once

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

/// Changes of a recorded Python program: its source, its command line, or hooks into torch. The work is done by the
/// patcher (resources/python/stepscope/change), a Python program that reads the recorded files and writes none.
namespace advisor::change {

/// How a change reaches the program.
enum class How {
    Source,   ///< the user's file is different
    Argument, ///< the command line is different
    Hook,     ///< a hook changes torch inside the program
    ToRead    ///< a person has to do it; there may be a proposal
};
/// "source", "argument", "hook", "to read".
std::string_view howName(How how);

/// A range of a source file. Lines count from 1, columns are UTF-8 bytes from 0.
struct SourceSite {
    std::string file; ///< absolute
    std::int64_t line = 0, column = 0, endLine = 0, endColumn = 0;
};

/// A change of one knob of the configuration; values as config::toText has them.
struct WantedChange {
    std::string key, to;
};

/// What became of a change.
struct ChangeResult {
    std::string key, to;
    std::optional<std::string> from; ///< of the recorded program, where it is one setting
    How how = How::ToRead;
    bool measurable = false;       ///< an experiment with the program can show its effect
    profiler::Message whyNot;      ///< why it is not made in the source; empty where it is
    std::string proposal;          ///< a unified diff to read; may be empty
    std::vector<SourceSite> sites; ///< the places that are different
};

/// A file of the user's before and after.
struct PatchedFile {
    std::filesystem::path path;
    std::string before, after; ///< bytes
};

struct ProgramPatch {
    std::vector<ChangeResult> changes; ///< as they were wanted
    std::vector<PatchedFile> files;
    std::string diff;                         ///< unified, of all files; empty where no file is different
    std::vector<std::string> command;         ///< empty: as it was recorded
    std::map<std::string, std::string> hooks; ///< keys and values for STEPSCOPE_CHANGES
    /// What was applied to the files since they were recorded (apply.h). `files` holds these changes too, and `diff`
    /// starts from files without the wanted changes. Empty where the files are the recorded ones.
    std::vector<WantedChange> applied;
    std::vector<std::filesystem::path> appliedFiles; ///< that hold them
};

struct PatcherOptions {
    /// The interpreter; must be at least as new as the program's Python. Never one that a trace names: opening a trace
    /// starts nothing that the trace names.
    std::string python = "python3";
    std::filesystem::path patcher = {};    ///< its __main__.py; empty: the one that belongs to this program
    std::vector<std::string> command = {}; ///< to be changed by arguments; empty: the recorded one
    std::filesystem::path originals = {};  ///< of applied patches; empty: defaultOriginals() of apply.h
    std::vector<std::string> without = {}; ///< keys of applied changes that the result leaves out
};

/// Whether the trace is of a Python program whose facts are recorded.
bool describesProgram(const profiler::Trace& trace);

/// The trace's program with all of the changes together. Nothing is written.
/// @return an error where the trace has no facts, or the patcher cannot be run
profiler::Result<ProgramPatch> patchProgram(const profiler::Trace& trace, const std::vector<WantedChange>& changes,
                                            const PatcherOptions& options = {});

/// The program with each of the changes by itself, in their order.
profiler::Result<std::vector<ProgramPatch>> patchProgramByEach(const profiler::Trace& trace,
                                                               const std::vector<WantedChange>& changes,
                                                               const PatcherOptions& options = {});

} // namespace advisor::change
