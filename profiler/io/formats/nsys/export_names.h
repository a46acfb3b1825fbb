#pragma once

#include "profiler/io/formats/nsys/export_schema.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace profiler::formats::nsys {

/// The file's own strings, read when first asked for and kept as strings of the trace: the table also holds what no
/// slice uses (symbols, log files), which is never read.
class ExportStrings {
public:
    static Result<ExportStrings> open(const SqliteFile& file, const ExportSchema& schema, TraceBuilder& builder);

    /// The string of a row of StringIds; empty where there is none.
    StringId at(std::int64_t id);
    /// StringIds has no row of this id, which at() was asked for just before.
    [[nodiscard]] bool lacks(std::int64_t id) const { return m_missing.contains(id); }
    /// The same without what a runtime call's name ends in: "cudaLaunchKernel_v7000" is cudaLaunchKernel.
    StringId callAt(std::int64_t id);
    [[nodiscard]] std::string_view text(StringId id) const { return m_builder->string(id); }
    StringId intern(std::string_view text) { return m_builder->intern(text); }

private:
    explicit ExportStrings(TraceBuilder& builder) : m_builder(&builder) {}
    TraceBuilder* m_builder;
    std::optional<Rows> m_rows; ///< none: the file has no StringIds
    std::unordered_map<std::int64_t, StringId> m_known, m_calls;
    std::unordered_set<std::int64_t> m_missing;
};

/// What the numbers of an enumeration mean in this file: its own ENUM_ table, or where that is missing the values that
/// CUPTI has had since CUDA 5.
struct ExportEnums {
    std::map<std::int64_t, CopyKind> copies;
    std::map<std::int64_t, MemoryKind> memories;
    std::map<std::int64_t, std::string> syncTypes, overheadTypes;
    std::map<std::int64_t, std::string> eventTypes;   ///< "NvtxPushPopRange"…
    std::map<std::int64_t, std::string> eventClasses; ///< "TRACE_PROCESS_EVENT_CUDA_DRIVER"…
    std::map<std::int64_t, std::string> severities;

    static Result<ExportEnums> read(const SqliteFile& file, const ExportSchema& schema);
    [[nodiscard]] CopyKind copy(std::int64_t value) const;
    [[nodiscard]] MemoryKind memory(std::int64_t value) const;
    [[nodiscard]] std::string_view eventType(std::int64_t value) const;
    /// True for a stream that waits for an event, which no host thread waits for.
    [[nodiscard]] bool isStreamWait(std::int64_t syncType) const;
};

} // namespace profiler::formats::nsys
