#pragma once

#include "profiler/io/formats/writers/json_values.h"
#include "profiler/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::writers {

/// True for rows that are a thread of a device in PyTorch's files.
bool isOfDevice(const Track& track);

/// Writes what an event says beside its name and times. Not thread-safe.
class JsonArgs {
public:
    JsonArgs(const Trace& trace, std::string& out);

    /// Appends `,"cat":…`; nothing where the file that the trace came from named none.
    void writeCategory(const Track& track, const Slice& slice, const SliceDetails& details);
    /// Appends what else stands beside a JSON event's name and times: its colour, the clock of its thread.
    void writeOwnKeys(const SliceDetails& details);
    /// Appends `,"args":{…}` where there are any: what the trace's columns hold under PyTorch's names, then all else
    /// that the file of the trace said.
    void writeArgs(const Track& track, const Slice& slice, const SliceDetails& details);

private:
    void key(std::string_view name, std::string_view otherName = {});
    void columns(const Track& track, const Slice& slice, const SliceDetails& details);
    void launchShapes(const SliceDetails& details);
    void others(const SliceDetails& details);

    const Trace& m_trace;
    std::string& m_out;
    bool m_fromJson, m_fromNsys;
    JsonValues m_values;
    std::string_view m_comma;
    std::vector<std::string_view> m_written; ///< keys, by either name, of the event at hand
};

} // namespace profiler::formats::writers
