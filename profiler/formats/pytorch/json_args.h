#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::writers {

/// Writes texts from a file as JSON values. Not thread-safe.
class JsonValues {
public:
    /// Appends numbers, true, false, null, lists and objects unchanged, and any other text as a string. The elements of
    /// a list without quotes ("[float, Scalar]") are quoted.
    void append(std::string& out, std::string_view text);
    /// True for a complete JSON list or object.
    bool isContainer(std::string_view text);

private:
    simdjson::dom::parser m_parser;
};

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

/// Appends what a PyTorch file contains before its events: devices, versions, ranks, and the corresponding entries of
/// the original file.
/// @param base  the zero of the file's clock, ns
void appendJsonHead(std::string& out, const Trace& trace, std::int64_t base);

/// Appends what was lost before the file was written, as an entry after the events; appends nothing if there were no
/// losses.
void appendJsonCapture(std::string& out, const CaptureStats& stats);

} // namespace profiler::formats::writers
