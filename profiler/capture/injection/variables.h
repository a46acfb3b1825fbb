#pragma once

/// Variables that `stepscope-cli record` sets for a command and the injection library reads, beside
/// CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH.
namespace profiler::capture::variable {

/// Path of the trace to be: each process writes `<it>.<pid>`. Not set: the library does nothing.
inline constexpr const char* kTrace = "STEPSCOPE_RECORD";
/// "always", "standard" or "full".
inline constexpr const char* kLevel = "STEPSCOPE_LEVEL";
/// "1": operators of Python's LibTorch too (the Python module switches them on).
inline constexpr const char* kOps = "STEPSCOPE_OPS";
/// Steps: operators of a Python in a window of so many steps of every so many; empty or not set: of all steps.
inline constexpr const char* kOpsEvery = "STEPSCOPE_OPS_EVERY";
inline constexpr const char* kOpsWindow = "STEPSCOPE_OPS_WINDOW";
/// Folder of the hooks into Python, which the preloaded library puts in front of PYTHONPATH (preload.cpp).
inline constexpr const char* kPython = "STEPSCOPE_PYTHON";
/// File to which processes append lines about what cannot be recorded of them.
inline constexpr const char* kNotes = "STEPSCOPE_NOTES";
/// Path of the injection library, for the Python module.
inline constexpr const char* kLibrary = "STEPSCOPE_LIBRARY";
/// Trace times in ns between which is recorded; not set: from the beginning, to the end.
inline constexpr const char* kFrom = "STEPSCOPE_FROM";
inline constexpr const char* kUntil = "STEPSCOPE_UNTIL";

} // namespace profiler::capture::variable
