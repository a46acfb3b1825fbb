#pragma once

#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/model/radix_sort.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// Appends what a later part of the file holds, except its rows, range ends and samples.
void append(ScanResult& whole, ScanResult&& part);

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

/// Finds device work whose launch is not in the file, and calls that share an id and cannot be told apart.
class LaunchCheck {
public:
    void add(const ScanResult& part);
    /// Adds the findings to `losses`; called once. The rows are those of the results.
    void report(const std::vector<RowInfo>& rows, Losses& losses);

private:
    /// Correlation ids of calls and the file offsets of their events, by row and by interface: a runtime call and the
    /// driver call inside it may share an id.
    std::map<std::uint32_t, std::array<std::vector<SortKey>, 2>> m_calls;
    std::vector<SortKey> m_work;
};

} // namespace profiler::formats::json
