#pragma once

#include "profiler/io/formats/nsys/export_schema.h"
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

/// Every column of the row that a slice came from, its string ids and enumerated values in words, read when asked.
class RowDetails final : public ArgSource {
public:
    /// Keeps a connection of its own to the file.
    static Result<std::unique_ptr<RowDetails>> open(const std::filesystem::path& path, ExportSchema schema);
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override;

private:
    RowDetails(SqliteFile file, ExportSchema schema) : m_file(std::move(file)), m_schema(std::move(schema)) {}
    /// Empty where the file has no word for it.
    [[nodiscard]] std::string lookedUp(std::size_t meaning, std::int64_t id) const;

    mutable std::mutex m_mutex; ///< a connection serves one thread at a time; nothing else is taken under it
    SqliteFile m_file;
    ExportSchema m_schema;
    mutable std::map<std::string, Rows, std::less<>> m_rows; ///< by table: a statement that asks for one row
    mutable std::map<std::pair<std::size_t, std::int64_t>, std::string> m_words; ///< of a meaning's number: some
};

} // namespace profiler::formats::nsys
