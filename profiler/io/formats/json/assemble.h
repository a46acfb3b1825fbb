#pragma once

#include "profiler/io/formats/json/event_sink.h"

#include <map>
#include <string>
#include <utility>

namespace profiler::formats::json {

/// Takes over what a later part of the file holds, all but its rows, ends of ranges and samples.
void append(Harvest& whole, Harvest&& part);

/// A process as rows show it; by its number in the file or the hash of its text, and which of them it is.
struct Process {
    std::int64_t pid = 0;
    std::string name;
    std::int32_t sortIndex = 0;
};
using Processes = std::map<std::pair<std::int64_t, bool>, Process>;

// The builder gets what is known once the whole file was scanned. Losses go into `whole`. `values` are those of the
// trace's outermost object: raw JSON by key.

void assembleFlows(SharedBuild& shared, Harvest& whole);
/// Units of counters by their names, as our own files have them.
std::map<std::string, std::string> counterUnits(const std::map<std::string, std::string>& values);
/// @param losses  gets what the metadata events lack
/// @return the processes of all rows, those of counters too
Processes assembleRows(SharedBuild& shared, const Harvest& whole, Losses& losses);
/// Takes out what was noted of the trace that the file is a copy of and is as true of the file itself.
void dropNotesToldTwice(std::vector<Message>& notes);
void assembleMetadata(SharedBuild& shared, const Harvest& whole, const std::map<std::string, std::string>& values);

} // namespace profiler::formats::json
