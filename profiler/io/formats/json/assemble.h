#pragma once

#include "profiler/io/formats/json/event_sink.h"

#include <map>
#include <string>
#include <utility>

namespace profiler::formats::json {

/// Takes over what a later part of the file holds, all but its rows.
void append(Harvest& whole, Harvest&& part);

/// Gives the builder what is known once the whole file was scanned: rows' names, ranges of two events, flows, counters,
/// devices and metadata. Adds to `whole.losses`.
/// @param values  of the trace's outermost object: raw JSON by key
void assemble(SharedBuild& shared, Harvest& whole, const std::map<std::string, std::string>& values);

/// A process as rows show it; by its number in the file or the hash of its text, and which of them it is.
struct Process {
    std::int64_t pid = 0;
    std::string name;
};
using Processes = std::map<std::pair<std::int64_t, bool>, Process>;

/// Parts of assemble().
void assembleRanges(SharedBuild& shared, Harvest& whole);
void assembleFlows(SharedBuild& shared, Harvest& whole);
void assembleCounters(SharedBuild& shared, Harvest& whole, const Processes& processes,
                      const std::map<std::string, std::string>& values);
/// Units of counters by their names, as our own files have them.
std::map<std::string, std::string> counterUnits(const std::map<std::string, std::string>& values);
/// @param losses  gets what the metadata events lack
/// @return the processes of all rows, those of counters too
Processes assembleRows(SharedBuild& shared, const Harvest& whole, Losses& losses);
void assembleMetadata(SharedBuild& shared, const Harvest& whole, const std::map<std::string, std::string>& values);

} // namespace profiler::formats::json
