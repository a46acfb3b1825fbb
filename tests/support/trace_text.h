#pragma once

#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"

#include <memory>
#include <string>
#include <string_view>

/// Traces from text. Each line is one statement; `#` starts a comment; a name with spaces is quoted ("data wait", with
/// \" \\ \n inside). Indentation has no meaning. Times are in µs unless they have a unit: 5ns 5us 5ms 5s; 0.5 is
/// 500 ns.
///
/// A track line creates a track, or selects it if it exists; the slices below belong to it:
///
///     main                              "main thread"
///     thread NAME
///     worker INDEX                      "loader worker INDEX"
///     stream DEVICE STREAM              "stream STREAM"
///     annotations DEVICE STREAM         "annotations STREAM": ranges shown above a stream
///     domain NAME                       NVTX ranges of a domain
///     counter NAME
///   after each: name=N pid=N tid=N unit=TEXT process=NAME
///
/// Slices: kind, name, start, duration (or `open`: started, never ended):
///
///     step INDEX BEGIN DURATION         named "step", value=INDEX
///     phase NAME BEGIN DURATION         stage NAME …  (loader stage)     wait NAME …  (loader wait)
///     op NAME …                         call NAME …   (cuda_runtime)     driver NAME …   sync NAME …
///     kernel NAME …                     memset NAME …                    nvtx NAME …
///     copy HtoD BEGIN DURATION          named "Memcpy HtoD"; HtoD DtoH DtoD PtoP HtoH Unknown
///     annotation NAME …                 gpu_annotation NAME …            overhead NAME …    other NAME …
///   after each: value=N bytes=N corr=N seq=N src=M dst=M (pageable pinned device array managed) depth=N async backward
///               name=N ext=N shapes=TEXT types=TEXT dev=N (its device) on=N (its stream)
///               a kernel's launch: grid=X,Y,Z block=X,Y,Z registers=N shared=BYTES dynamic=BYTES local=BYTES
/// Without depth=, the nesting is inferred from the intervals.
///
/// Samples of the counter above:     sample TIME VALUE
/// The trace itself:                 meta KEY REST OF LINE      device INDEX NAME [UUID] [sm=90] [sms=132]      format
/// NAME
///                                   lost [dropped=N] [unmatched=N] [cut] [live] [note=TEXT]
/// Repetition (cannot be nested). The i-th iteration adds i × PERIOD to all times, i to step indexes and value=, and i
/// × 1000 to corr= and seq=:
///
///     repeat 20 every 100
///       main
///         step 0 0 100
///         phase "data wait" 0 11
///     end
namespace test_support {

/// The trace described by a text. If the text is invalid, prints the line and the error, and aborts.
std::shared_ptr<const profiler::Trace> traceFromText(std::string_view text);

/// Adds texts to a builder, for traces that grow: a later text may refer to the tracks of earlier ones.
class TextFeeder {
public:
    explicit TextFeeder(profiler::TraceBuilder& builder);
    ~TextFeeder();
    TextFeeder(const TextFeeder&) = delete;
    TextFeeder& operator=(const TextFeeder&) = delete;
    /// Aborts in the same cases as traceFromText.
    void feed(std::string_view text);

private:
    struct State;
    std::unique_ptr<State> m;
};

/// Converts a trace to text in a canonical form that can be compared with a literal or a golden file, and parsed again.
/// Slices are ordered by track, then start; times are in µs; depth= is written if it is not 0.
std::string traceToText(const profiler::Trace& trace);

} // namespace test_support
