#include "profiler/query/schema.h"

#include "profiler/query/trace_tables.h"

namespace profiler::query {

namespace {

std::string_view declaredType(const ColumnInfo& column)
{
    switch (column.type) {
    case Type::Text:
        return "TEXT";
    case Type::Real:
        return column.unit == Unit::Share ? "REAL share" : "REAL";
    default:
        break;
    }
    // SQLite gives any type whose name contains "INT" the affinity INTEGER.
    switch (column.unit) {
    case Unit::Duration:
        return "INTEGER ns";
    case Unit::Time:
        return "INTEGER time";
    case Unit::Bytes:
        return "INTEGER bytes";
    case Unit::SliceId:
        return "INTEGER slice";
    default:
        return "INTEGER";
    }
}

TableInfo makeSliceInfo()
{
    using enum Type;
    TableInfo table;
    table.name = "slice";
    table.doc = "every event with a duration: operators, kernels, copies, phases, runtime calls, annotations";
    table.columns = {
        {"id", Integer, Unit::SliceId, "identifies the slice; stays valid while a trace grows"},
        {"ts", Integer, Unit::Time, "start"},
        {"dur", Integer, Unit::Duration, "duration"},
        {"ts_end", Integer, Unit::Time, "ts + dur"},
        {"name", Text, Unit::None, "full name, such as aten::mm or the name of a kernel"},
        {"kind", Text, Unit::None,
         "step, phase, loader_stage, loader_wait, cpu_op, user_annotation, cuda_runtime, cuda_driver, kernel, "
         "gpu_memcpy, gpu_memset, gpu_user_annotation, cuda_sync, overhead, nvtx, other"},
        {"category", Text, Unit::None, "kernels: gemm, convolution, attention, reduction, elementwise …"},
        {"track", Integer, Unit::None, "track.id"},
        {"track_name", Text, Unit::None, "track.name"},
        {"depth", Integer, Unit::None, "nesting within the track, 0: outermost"},
        {"parent", Integer, Unit::SliceId, "id of the slice around it on the same track"},
        {"step", Integer, Unit::None, "step.step of the training step in which the slice starts"},
        {"correlation", Integer, Unit::None, "runtime and driver calls and the device work that they launch"},
        {"sequence", Integer, Unit::None, "operators: autograd sequence number, the same for forward and backward"},
        {"external_id", Integer, Unit::None, "connects an operator with what it launched"},
        {"device", Integer, Unit::None, "CUDA device"},
        {"stream", Integer, Unit::None, "CUDA stream"},
        {"bytes", Integer, Unit::Bytes, "copies, memsets, reads, allocations"},
        {"value", Integer, Unit::None, "steps: index; loader stages: sample or batch; phases: batch"},
        {"copy_kind", Text, Unit::None, "copies: HtoD, DtoH, DtoD, PtoP, HtoH"},
        {"src", Text, Unit::None, "copies: pageable, pinned, device, managed, array"},
        {"dst", Text, Unit::None, "copies: as src"},
        {"shapes", Text, Unit::None, "operators: input shapes as recorded"},
        {"dtypes", Text, Unit::None, "operators: input types as recorded"},
        {"grid_x", Integer, Unit::None, "kernels: blocks"},
        {"grid_y", Integer, Unit::None, "kernels: blocks"},
        {"grid_z", Integer, Unit::None, "kernels: blocks"},
        {"block_x", Integer, Unit::None, "kernels: threads"},
        {"block_y", Integer, Unit::None, "kernels: threads"},
        {"block_z", Integer, Unit::None, "kernels: threads"},
        {"registers", Integer, Unit::None, "kernels: per thread"},
        {"shared_memory", Integer, Unit::Bytes, "kernels: per block, static and dynamic"},
        {"dynamic_shared_memory", Integer, Unit::Bytes, "kernels: the dynamic part"},
        {"local_memory", Integer, Unit::Bytes, "kernels: per thread"},
        {"occupancy", Real, Unit::Share, "kernels: theoretical occupancy"},
        {"precision", Text, Unit::None, "kernels: type of products, if the name contains it: fp32, tf32, fp16 …"},
        {"tensor_cores", Integer, Unit::None, "kernels: 1 if the name shows that tensor cores multiply"},
        {"is_open", Integer, Unit::None, "1 if the end was not recorded"},
        {"is_backward", Integer, Unit::None, "1 for operators of a backward pass"},
        {"is_async", Integer, Unit::None, "1 for asynchronous copies and calls"},
    };
    return table;
}

/// A view of some columns of `slice`, with the documentation that they have there.
TableInfo view(std::string name, std::string doc, const std::vector<std::string>& columns, const std::string& where)
{
    TableInfo table;
    table.name = std::move(name);
    table.doc = std::move(doc);
    for (const std::string& wanted : columns) {
        table.select += (table.select.empty() ? "SELECT " : ", ") + wanted;
        for (const ColumnInfo& column : sliceInfo().columns)
            if (column.name == wanted)
                table.columns.push_back(column);
    }
    table.select += " FROM slice WHERE " + where;
    return table;
}

} // namespace

std::string_view unitText(Unit unit)
{
    switch (unit) {
    case Unit::Duration:
    case Unit::Time:
        return "ns";
    case Unit::Bytes:
        return "bytes";
    case Unit::Share:
        return "share of 1";
    default:
        return "";
    }
}

const TableInfo& sliceInfo()
{
    static const TableInfo info = makeSliceInfo();
    return info;
}

const std::vector<TableInfo>& viewInfos()
{
    static const std::vector<TableInfo> infos = {
        view("kernel", "slices of kind kernel",
             {"id",      "ts",        "dur",           "ts_end",    "name",      "category",    "device",  "stream",
              "track",   "step",      "correlation",   "grid_x",    "grid_y",    "grid_z",      "block_x", "block_y",
              "block_z", "registers", "shared_memory", "occupancy", "precision", "tensor_cores"},
             "kind = 'kernel'"),
        view("memcpy", "slices of kind gpu_memcpy",
             {"id", "ts", "dur", "ts_end", "name", "copy_kind", "src", "dst", "bytes", "device", "stream", "track",
              "step", "correlation", "is_async"},
             "kind = 'gpu_memcpy'"),
        view("op", "slices of kind cpu_op: operators",
             {"id", "ts", "dur", "ts_end", "name", "track", "track_name", "depth", "parent", "step", "sequence",
              "shapes", "dtypes", "is_backward"},
             "kind = 'cpu_op'"),
    };
    return infos;
}

const std::vector<TableInfo>& tables()
{
    static const std::vector<TableInfo> all = [] {
        std::vector<TableInfo> infos{sliceInfo()};
        infos.insert(infos.end(), viewInfos().begin(), viewInfos().end());
        for (const RowTable& table : traceTables())
            infos.push_back(table.info);
        return infos;
    }();
    return all;
}

const std::vector<FunctionInfo>& functions()
{
    static const std::vector<FunctionInfo> all = {
        {"arg(slice_id, key)",
         "an argument of the slice as its file contains it, such as 'Call stack'; NULL if there is none"},
        {"args(slice_id)", "all arguments of the slice in its file, as JSON"},
    };
    return all;
}

const std::vector<Example>& examples()
{
    static const std::vector<Example> all = {
        {"Longest kernels", "SELECT id, ts, dur, name, device, stream, step\nFROM kernel\nORDER BY dur DESC\nLIMIT 50"},
        {"Kernel time by name",
         "SELECT name, SUM(dur), COUNT(*) AS calls, AVG(dur), MAX(dur)\nFROM kernel\nGROUP BY name\nORDER BY 2 DESC"},
        {"Total by operator", "SELECT name, SUM(dur), COUNT(*) AS calls\nFROM op\nGROUP BY name\nORDER BY 2 DESC"},
        {"Pageable copies above 1 MB",
         "SELECT id, ts, dur, name, bytes, bytes * 1.0 / dur AS gb_per_s, src, dst, step\nFROM memcpy\n"
         "WHERE bytes > 1e6 AND 'pageable' IN (src, dst)\nORDER BY dur DESC"},
        {"Device time by kind and step",
         "SELECT step, SUM(dur) FILTER (WHERE kind = 'kernel') AS kernel_ns,\n"
         "       SUM(dur) FILTER (WHERE kind = 'gpu_memcpy') AS memcpy_ns, COUNT(*) AS slices\n"
         "FROM slice\nWHERE kind IN ('kernel', 'gpu_memcpy', 'gpu_memset') AND step IS NOT NULL\n"
         "GROUP BY step\nORDER BY step"},
        {"Slowest steps", "SELECT step, ts, dur, data_wait, copy, forward, backward, optimizer, other\nFROM step\n"
                          "ORDER BY dur DESC\nLIMIT 20"},
        {"Longest gaps of each stream",
         "SELECT previous_end AS ts, ts - previous_end AS dur, track_name, name AS before\n"
         "FROM (SELECT ts, name, track_name,\n"
         "             MAX(ts_end) OVER (PARTITION BY track ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND "
         "1 PRECEDING) AS previous_end\n"
         "      FROM slice WHERE kind IN ('kernel', 'gpu_memcpy', 'gpu_memset'))\n"
         "WHERE ts > previous_end\nORDER BY 2 DESC\nLIMIT 50"},
        {"Launching call of the longest kernels",
         "SELECT k.id, k.ts, k.dur, k.name, c.name AS call, k.ts - c.ts AS latency_ns\n"
         "FROM (SELECT * FROM kernel ORDER BY dur DESC LIMIT 20) AS k\n"
         "JOIN slice AS c ON c.correlation = k.correlation AND c.kind IN ('cuda_runtime', 'cuda_driver')"},
        {"Counters", "SELECT name, unit, COUNT(*) AS samples, MIN(value), MAX(value)\nFROM counter\nGROUP BY track"},
    };
    return all;
}

std::string declaration(const TableInfo& table)
{
    std::string text = "CREATE TABLE x(";
    for (const ColumnInfo& column : table.columns)
        text.append(text.ends_with('(') ? "\"" : ", \"").append(column.name).append("\" ").append(declaredType(column));
    return text + ')';
}

Unit unitOfDeclaredType(const char* type)
{
    const std::string_view text = type ? type : "";
    if (text.ends_with(" ns"))
        return Unit::Duration;
    if (text.ends_with(" time"))
        return Unit::Time;
    if (text.ends_with(" bytes"))
        return Unit::Bytes;
    if (text.ends_with(" slice"))
        return Unit::SliceId;
    return text.ends_with(" share") ? Unit::Share : Unit::None;
}

} // namespace profiler::query
