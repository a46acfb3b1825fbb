#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <vector>

namespace app {

/// A node of the tree that a trace's tracks form: process → loader workers, threads, NVTX domains, devices → streams
/// and annotations, counters.
struct RowNode {
    enum class Kind { Group, Track, Counter };

    Kind kind = Kind::Group;
    QString key; ///< without ids of processes and threads: the same in every snapshot, and in the next run
    QString name;
    QString detail;            ///< small print: "thread 4711", "NVIDIA H100", a counter's unit
    profiler::TrackId track;   ///< Track, Counter
    bool startsFolded = false; ///< a group of many of little interest
    std::vector<RowNode> children;
};

/// The tree in its natural order. Tracks without any slice are left out, and a group that would hold one row only.
/// With a single process its level is left out too. Processes and devices stand as the trace's file wishes
/// (Track::processSortIndex), those without a wish by their numbers, devices last.
std::vector<RowNode> rowTree(const profiler::Trace& trace);

} // namespace app
