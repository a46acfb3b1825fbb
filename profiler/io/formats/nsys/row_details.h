#pragma once

#include "profiler/io/formats/nsys/export_schema.h"
#include "profiler/model/arg_source.h"

#include <memory>
#include <mutex>

namespace profiler::formats::nsys {

/// Every column of the row that a slice came from, its string ids and enumerated values in words, read when asked.
class RowDetails final : public ArgSource {
public:
    /// Keeps a connection of its own to the file.
    static Result<std::unique_ptr<RowDetails>> open(const std::filesystem::path& path, ExportSchema schema);
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override;

private:
    RowDetails(SqliteFile file, ExportSchema schema) : m_file(std::move(file)), m_schema(std::move(schema)) {}
    [[nodiscard]] std::string lookedUp(std::string_view table, std::string_view column, std::int64_t id) const;

    mutable std::mutex m_mutex; ///< a connection serves one thread at a time; nothing else is taken under it
    SqliteFile m_file;
    ExportSchema m_schema;
};

} // namespace profiler::formats::nsys
