#pragma once

#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"

#include <memory>
#include <string>
#include <string_view>

/// Traces from text. One line says one thing; `#` starts a comment; a name with blanks stands in quotes ("data wait",
/// with
/// \" \\ \n inside). Indentation means nothing. Times are µs, or carry a unit: 5ns 5us 5ms 5s; 0.5 is 500 ns.
///
/// A track line makes a track (or goes back to it, when it was named before) and the slices below it lie on it:
///
///     main                              "main thread"
///     thread NAME
///     worker INDEX                      "loader worker INDEX"
///     stream DEVICE STREAM              "stream STREAM"
///     annotations DEVICE STREAM         "annotations STREAM": ranges shown beside a stream
///     domain NAME                       NVTX ranges of a domain
///     counter NAME
///   after each: name=N pid=N tid=N unit=TEXT process=NAME
///
/// Slices: kind, name, begin, duration (or `open`: begun, never ended):
///
///     step INDEX BEGIN DURATION         named "step", value=INDEX
///     phase NAME BEGIN DURATION         stage NAME …  (loader stage)     wait NAME …  (loader wait)
///     op NAME …                         call NAME …   (cuda_runtime)     driver NAME …   sync NAME …
///     kernel NAME …                     memset NAME …                    nvtx NAME …
///     copy HtoD BEGIN DURATION          named "Memcpy HtoD"; HtoD DtoH DtoD PtoP HtoH Unknown
///     annotation NAME …                 gpu_annotation NAME …            overhead NAME …    other NAME …
///   after each: value=N bytes=N corr=N seq=N src=M dst=M (pageable pinned device array managed) depth=N async backward
///               name=N ext=N shapes=TEXT types=TEXT dev=N (its device) on=N (its stream)
/// Without depth= the nesting is found from the intervals.
///
/// Samples of the counter above:     sample TIME VALUE
/// The trace itself:                 meta KEY REST OF LINE      device INDEX NAME [UUID]      format NAME
///                                   lost [dropped=N] [unmatched=N] [cut] [live] [note=TEXT]
/// Repetition, not nested; the i-th time moves all times by i × PERIOD, adds i to step indexes and value=, and i × 1000
/// to corr= and seq=:
///
///     repeat 20 every 100
///       main
///         step 0 0 100
///         phase "data wait" 0 11
///     end
namespace test_support {

/// The trace of a text. Prints the line and what is wrong with it, and aborts, when the text is not one.
std::shared_ptr<const profiler::Trace> traceFromText(std::string_view text);

/// Feeds texts into a builder, for traces that grow: a later text finds the tracks of the earlier ones.
class TextFeeder {
public:
    explicit TextFeeder(profiler::TraceBuilder& builder);
    ~TextFeeder();
    TextFeeder(const TextFeeder&) = delete;
    TextFeeder& operator=(const TextFeeder&) = delete;
    /// Aborts as traceFromText does.
    void feed(std::string_view text);

private:
    struct State;
    std::unique_ptr<State> m;
};

/// A trace as such a text, in one canonical form: to compare with a literal or a golden file, and to be read again.
/// Slices by track, then begin; times in µs; depth= where it is not 0.
std::string traceToText(const profiler::Trace& trace);

} // namespace test_support
