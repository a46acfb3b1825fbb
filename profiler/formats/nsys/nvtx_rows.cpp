#include "profiler/formats/nsys/export_rows.h"

#include <array>
#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

enum : int { kStart = 1, kEnd, kType, kText, kTextId, kTid, kEndTid, kDomain };
const std::vector<std::string_view> kColumns = {"start",  "end",       "eventType",    "text",
                                                "textId", "globalTid", "endGlobalTid", "domainId"};

std::string_view nameOf(Import& import, const Rows& row)
{
    // Exports of 2021 have an empty text in addition to the id.
    if (const std::string_view text = row.isNull(kText) ? std::string_view() : row.text(kText); !text.empty())
        return text;
    const auto id = row.integer(kTextId);
    return id ? import.strings.text(import.strings.at(*id)) : std::string_view();
}

/// The range's name without the per-call suffix of torch.autograd.profiler.emit_nvtx(): "aten::mm" for "aten::mm, seq =
/// 7, op_id = 12, sizes = [[2, 3]]". The details keep the whole text.
std::string_view withoutOperands(std::string_view text)
{
    for (const std::string_view mark : {", seq = ", ", op_id = ", ", sizes = "})
        if (const std::size_t at = text.find(mark); at != text.npos && at > 0)
            text = text.substr(0, at);
    return text;
}

/// Domain names are events among the others, and not always before the first range of the domain.
Result<void> readDomains(Import& import)
{
    for (const auto& [value, name] : import.enums.eventTypes) {
        if (name != "NvtxDomainCreate" || !import.schema.has(tableOf(Source::Nvtx), "eventType"))
            continue;
        auto done = forEachRow(
            import, tableOf(Source::Nvtx), kColumns,
            [&](const Rows& row) {
                import.tracks.nameDomain(row.integer(kTid).value_or(0), row.integer(kDomain).value_or(0),
                                         std::string(nameOf(import, row)));
            },
            fmt::format("WHERE eventType = {}", value));
        if (!done)
            return done;
    }
    return {};
}

bool isRange(std::string_view type)
{
    return type.ends_with("PushPopRange") || type.ends_with("StartEndRange") || type.ends_with("PushRange") ||
           type.ends_with("StartRange");
}

} // namespace

Result<void> readNvtx(Import& import)
{
    if (auto done = readDomains(import); !done)
        return done;
    const bool typed = import.schema.has(tableOf(Source::Nvtx), "eventType");
    return forEachRow(import, tableOf(Source::Nvtx), kColumns, [&](const Rows& row) {
        const std::string_view type =
            typed ? import.enums.eventType(row.integer(kType).value_or(-1)) : std::string_view("NvtxPushPopRange");
        const bool range = isRange(type), mark = type.ends_with("Mark");
        if (!range && !mark)
            return;
        auto slice = timed(import, row, Source::Nvtx, mark);
        if (!slice)
            return;
        slice->kind = ActivityKind::Nvtx;
        slice->name = import.strings.intern(withoutOperands(nameOf(import, row))).value;
        if (slice->name == 0)
            named(import, row, kTextId, tableOf(Source::Nvtx));
        const std::int64_t tid = row.integer(kTid).value_or(0);
        const bool ofThread = mark || type.find("Push") != type.npos;
        import.tracks.add(import.tracks.nvtx(tid, row.integer(kDomain).value_or(0), ofThread), *slice);
    });
}

} // namespace profiler::formats::nsys
