#pragma once

#include "profiler/formats/pytorch/json_values.h"
#include "profiler/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::writers {

/// True for rows that are threads of a device in PyTorch's files.
bool isOfDevice(const Track& track);

/// Writes the fields of an event other than its name and times. Not thread-safe.
class JsonArgs {
public:
    JsonArgs(const Trace& trace, std::string& out);

    /// Appends `,"cat":…`, or nothing if the original file had no category.
    void writeCategory(const Track& track, const Slice& slice, const SliceDetails& details);
    /// Appends the other top-level keys of an event: its colour and its thread clock.
    void writeOwnKeys(const SliceDetails& details);
    /// Appends `,"args":{…}` if there are any: first the columns of the trace under PyTorch's names, then everything
    /// else in the original file.
    void writeArgs(const Track& track, const Slice& slice, const SliceDetails& details);

private:
    void key(std::string_view name, std::string_view otherName = {});
    void columns(const Track& track, const Slice& slice, const SliceDetails& details);
    void launch(const LaunchConfig& launch);
    void others(const SliceDetails& details);

    const Trace& m_trace;
    std::string& m_out;
    bool m_fromJson, m_fromNsys;
    JsonValues m_values;
    std::string_view m_comma;
    std::vector<std::string_view> m_written; ///< keys of the current event that were written, under either name
};

} // namespace profiler::formats::writers
