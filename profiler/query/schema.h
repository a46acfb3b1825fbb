#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The tables that a query can read, with the types, units and meanings of their columns. The same lists declare the
/// tables to SQLite, complete names in the editor, and are printed as documentation.
namespace profiler::query {

enum class Unit : std::uint8_t {
    None,
    Duration, ///< nanoseconds
    Time,     ///< a position on the time axis of the trace, in nanoseconds
    Bytes,
    SliceId, ///< `id` of a slice
    Share,   ///< a fraction of 1
};
/// "ns", "ns", "bytes", "", "share of 1"; empty for None and SliceId.
std::string_view unitText(Unit unit);

enum class Type : std::uint8_t { Integer, Real, Text };

struct ColumnInfo {
    std::string name;
    Type type = Type::Integer;
    Unit unit = Unit::None;
    std::string doc;
};

struct TableInfo {
    std::string name, doc;
    std::vector<ColumnInfo> columns;
    std::string select{}; ///< for a view: the SELECT statement that defines it
};

/// Columns of the table `slice`, in this order.
enum class SliceColumn : int {
    Id,
    Ts,
    Dur,
    TsEnd,
    Name,
    Kind,
    Category,
    Track,
    TrackName,
    Depth,
    Parent,
    Step,
    Correlation,
    Sequence,
    ExternalId,
    Device,
    Stream,
    Bytes,
    Value,
    CopyKind,
    Src,
    Dst,
    Shapes,
    Dtypes,
    GridX,
    GridY,
    GridZ,
    BlockX,
    BlockY,
    BlockZ,
    Registers,
    SharedMemory,
    DynamicSharedMemory,
    LocalMemory,
    Occupancy,
    Precision,
    TensorCores,
    IsOpen,
    IsBackward,
    IsAsync,
};

/// The table `slice`.
const TableInfo& sliceInfo();
/// Tables derived from `slice`: kernel, memcpy, op.
const std::vector<TableInfo>& viewInfos();
/// All tables and views, `slice` first. Tables of Source::extraTables are not included.
const std::vector<TableInfo>& tables();

/// A function in addition to those of SQLite.
struct FunctionInfo {
    std::string signature, doc;
};
const std::vector<FunctionInfo>& functions();

/// A query with a title, to start from.
struct Example {
    std::string title, sql;
};
const std::vector<Example>& examples();

/// The CREATE TABLE statement for SQLite. The declared type of a column contains its unit.
std::string declaration(const TableInfo& table);
/// The unit in a declared type; None for a null pointer.
Unit unitOfDeclaredType(const char* type);

} // namespace profiler::query
