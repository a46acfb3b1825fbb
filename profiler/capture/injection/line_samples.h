#pragma once

#include <cstdint>

namespace profiler::capture::injection {

/// How the user's lines that a Python thread executes are sampled (resources/python/stepscope/lines.py).
struct LineSampling {
    const char* libraries; ///< folders without the user's files, see UserFiles
    std::int64_t intervalNs;
    /// The calling thread is the interpreter's main thread. A thread of ours requests each sample, and the main thread
    /// takes it between two of its instructions: neither waits for the other's GIL, which would take longer than the
    /// sample. A line whose operator has released the GIL is sampled when the operator returns. Otherwise the caller
    /// provides the frames, with sampleLines().
    bool isMainThread;
    bool needsGil; ///< the interpreter is older than 3.13: its main thread may not notice a request by itself
    void (*totals)(std::int64_t*); ///< totals of allocations (bytes, count), read with each sample; or null
};

// All functions are called with the GIL held, except where noted.

/// Samples the calling thread from now on.
/// @return false if a thread is being sampled, the process's interpreter has no readable frames, or no thread could be
/// started
bool startLineSamples(const LineSampling& how);

/// Samples a frame of the thread. @return the time until the next sample, in ns
std::int64_t sampleLines(void* frame);

/// Passes what was sampled so far: each place (code object, line), in the order of its number; then the other members
/// of the document as JSON text. Calls nothing if there is no sample.
void readLineSamples(void (*place)(void* code, int line), void (*rest)(const char* text));

/// Stops sampling. What was sampled is dropped. Called without the GIL, for which our thread may be waiting.
void stopLineSamples();

/// In a forked child, which has no thread that samples: forgets the parent's samples.
void abandonLineSamples();

} // namespace profiler::capture::injection
