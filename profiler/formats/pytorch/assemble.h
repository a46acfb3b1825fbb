#pragma once

#include "profiler/formats/pytorch/event_sink.h"

#include <map>
#include <string>
#include <utility>

namespace profiler::formats::json {

/// Appends what a later part of the file holds, except its rows, range ends and samples.
void append(ScanResult& whole, ScanResult&& part);

/// A process as the rows show it, keyed by its number in the file or by the hash of its text (the bool tells which).
struct Process {
    std::int64_t pid = 0;
    std::string name;
    std::int32_t sortIndex = 0;
};
using Processes = std::map<std::pair<std::int64_t, bool>, Process>;

// These functions give the builder what is known only after the whole file was scanned. They add losses to `whole`.
// `values` are the values of the trace's outermost object: raw JSON by key.

void assembleFlows(SharedBuild& shared, ScanResult& whole);
/// Units of counters by counter name, as files written by Stepscope store them.
std::map<std::string, std::string> counterUnits(const std::map<std::string, std::string>& values);
/// @param losses  receives defects of the metadata events
/// @return the processes of all rows, including the rows of counters
Processes assembleRows(SharedBuild& shared, const ScanResult& whole, Losses& losses);
/// Removes notes about the original trace that also apply to this copy.
void dropDuplicateNotes(std::vector<Message>& notes);
void assembleMetadata(SharedBuild& shared, const ScanResult& whole, const std::map<std::string, std::string>& values);

} // namespace profiler::formats::json
