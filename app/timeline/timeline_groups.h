#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <vector>

namespace app {

/// A node of the track tree of a trace: process → loader workers, threads, NVTX domains, devices → streams and
/// annotations, counters.
struct RowNode {
    enum class Kind { Group, Track, Counter };

    Kind kind = Kind::Group;
    QString key; ///< without process and thread ids: the same in every snapshot and in the next run
    QString name;
    QString detail;            ///< secondary text: "thread 4711", "NVIDIA H100", the unit of a counter
    profiler::TrackId track;   ///< Track, Counter
    bool startsFolded = false; ///< a large, less important group, or a track or group in which hardly anything happens
    std::vector<RowNode> children;
};

/// The tree in default order. Tracks without slices are left out, and so are groups with a single row. With a single
/// process, its level is left out, too. Processes and devices are sorted by the file's sort index
/// (Track::processSortIndex), those without one by number, devices last.
std::vector<RowNode> rowTree(const profiler::Trace& trace);

} // namespace app
