#pragma once

/// Environment variables that `stepscope-cli record` sets for a command and the injection library reads, in addition to
/// CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH.
namespace profiler::capture::variable {

/// Path of the trace to record: each process writes `<path>.<pid>`. If not set, the library does nothing.
inline constexpr const char* kTrace = "STEPSCOPE_RECORD";
/// "always", "standard" or "full".
inline constexpr const char* kLevel = "STEPSCOPE_LEVEL";
/// "1": also record operators of Python's LibTorch (the Python module turns this on).
inline constexpr const char* kOps = "STEPSCOPE_OPS";
/// Numbers of steps: record operators in a window of kOpsWindow steps out of every kOpsEvery; empty or not set for all
/// steps.
inline constexpr const char* kOpsEvery = "STEPSCOPE_OPS_EVERY";
inline constexpr const char* kOpsWindow = "STEPSCOPE_OPS_WINDOW";
/// Folder of the Python hooks, which the preloaded library prepends to PYTHONPATH (preload.cpp).
inline constexpr const char* kPython = "STEPSCOPE_PYTHON";
/// File to which processes append a line about anything that cannot be recorded.
inline constexpr const char* kNotes = "STEPSCOPE_NOTES";
/// Path of the injection library, for the Python module.
inline constexpr const char* kLibrary = "STEPSCOPE_LIBRARY";
/// Trace times in ns between which events are recorded; not set: from the start, until the end.
inline constexpr const char* kFrom = "STEPSCOPE_FROM";
inline constexpr const char* kUntil = "STEPSCOPE_UNTIL";
/// The part of a run that is recorded, as recording_scope.h reads it; empty or not set: everything.
inline constexpr const char* kSteps = "STEPSCOPE_STEPS"; ///< "10-29": training steps, which the Python module counts
inline constexpr const char* kRanks = "STEPSCOPE_RANKS"; ///< "0,7,64-71"
/// Bytes that a rank, with the processes that it forks, may write.
inline constexpr const char* kMaxBytes = "STEPSCOPE_MAX_BYTES";

/// Folder of an always-on recording: Python processes write summaries of their steps there, and this library is loaded
/// only while steps are captured.
inline constexpr const char* kAlwaysOn = "STEPSCOPE_ALWAYS_ON";
/// Seconds between two captures that slow steps start; empty for none.
inline constexpr const char* kCaptureSlow = "STEPSCOPE_CAPTURE_SLOW";

} // namespace profiler::capture::variable
