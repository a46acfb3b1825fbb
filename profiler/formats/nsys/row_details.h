#pragma once

#include "profiler/formats/nsys/export_schema.h"
#include "profiler/model/arg_source.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace profiler::formats::nsys {

/// Reads every column of the row of a slice on demand; string ids and enumeration values are replaced by their texts.
class RowDetails final : public ArgSource {
public:
    /// Opens a separate connection to the file.
    static Result<std::unique_ptr<RowDetails>> open(const std::filesystem::path& path, ExportSchema schema);
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override;

private:
    RowDetails(SqliteFile file, ExportSchema schema) : m_file(std::move(file)), m_schema(std::move(schema)) {}
    /// Empty if the file has no text for it.
    [[nodiscard]] std::string lookedUp(std::size_t meaning, std::int64_t id) const;

    mutable std::mutex m_mutex; ///< serializes the use of the connection; no other lock is taken while it is held
    SqliteFile m_file;
    ExportSchema m_schema;
    mutable std::map<std::string, Rows, std::less<>> m_rows; ///< by table: a prepared statement for one row
    mutable std::map<std::pair<std::size_t, std::int64_t>, std::string> m_texts; ///< cache by meaning and number
};

} // namespace profiler::formats::nsys
