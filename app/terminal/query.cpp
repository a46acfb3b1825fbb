#include "profiler/query/query.h"

#include "advisor/advice.h"
#include "advisor/rule.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/output.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <iterator>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using namespace profiler::query;

constexpr std::size_t kTableRows = 1000; ///< a longer table is not read on a terminal
constexpr std::size_t kWidestCell = 100; ///< characters; the names of kernels are longer
constexpr std::string_view kTypes[] = {"integer", "real", "text"};

std::string_view stateText(State state)
{
    switch (state) {
    case State::Fires:
        return "fires";
    case State::Silent:
        return "silent";
    default:
        return "cannot tell";
    }
}

std::string_view savingUnitText(SavingUnit unit)
{
    constexpr std::string_view kUnits[] = {"us_per_step", "us_per_epoch", "us_per_validation", "bytes"};
    return kUnits[static_cast<std::size_t>(unit)];
}

/// The advisor's verdicts, which are computed when a query reads them.
ExtraTable findingTable(const profiler::Trace& trace)
{
    using enum Type;
    ExtraTable table;
    table.info = {"finding",
                  "the advisor's verdicts",
                  {{"id", Text, Unit::None, "key of the rule, such as loader.workers"},
                   {"state", Text, Unit::None, "fires, silent, cannot tell"},
                   {"title", Text, Unit::None, "what is wrong"},
                   {"reason", Text, Unit::None, "one sentence with its number"},
                   {"saving_low", Real, Unit::None, "what the change could save, in saving_unit"},
                   {"saving_mid", Real, Unit::None, "as saving_low"},
                   {"saving_high", Real, Unit::None, "as saving_low"},
                   {"saving_unit", Text, Unit::None, "us_per_step, us_per_epoch, us_per_validation, bytes"}}};
    table.rows = [&trace] {
        std::vector<std::vector<Value>> rows;
        for (const RuleAdvice& rule : advise(trace, nullptr)) {
            const auto& saving = rule.advice.saving;
            const auto number = [&](double Saving::*part) { return saving ? Value(*saving.*part) : Value(); };
            rows.push_back({rule.id, std::string(stateText(rule.advice.state)), rule.advice.title,
                            rule.advice.reason.text, number(&Saving::low), number(&Saving::mid), number(&Saving::high),
                            saving ? Value(std::string(savingUnitText(saving->unit))) : Value()});
        }
        return rows;
    };
    return table;
}

std::vector<TableInfo> allTables()
{
    std::vector<TableInfo> all = tables();
    all.push_back(findingTable(profiler::Trace()).info);
    return all;
}

int listTables(bool json, const Streams& streams)
{
    if (json) {
        Json list = Json::array();
        for (const TableInfo& table : allTables()) {
            Json columns = Json::array();
            for (const ColumnInfo& column : table.columns)
                columns.push_back({{"name", column.name},
                                   {"type", kTypes[static_cast<std::size_t>(column.type)]},
                                   {"unit", unitText(column.unit)},
                                   {"doc", column.doc}});
            list.push_back({{"name", table.name}, {"doc", table.doc}, {"columns", columns}});
        }
        Json calls = Json::array();
        for (const FunctionInfo& function : functions())
            calls.push_back({{"signature", function.signature}, {"doc", function.doc}});
        streams.out << jsonText({{"schema", 1}, {"tables", list}, {"functions", calls}}) << '\n';
        return kDone;
    }
    for (const TableInfo& table : allTables()) {
        streams.out << table.name << ": " << table.doc << '\n';
        TextTable text({"column", "type", "unit", ""}, {false, false, false, false});
        for (const ColumnInfo& column : table.columns)
            text.add({column.name, std::string(kTypes[static_cast<std::size_t>(column.type)]),
                      std::string(unitText(column.unit)), column.doc});
        streams.out << text.text() << '\n';
    }
    streams.out << "Functions, in addition to those of SQLite:\n";
    for (const FunctionInfo& function : functions())
        streams.out << "  " << function.signature << ": " << function.doc << '\n';
    return kDone;
}

/// A value for a table: with its unit; positions in time from the start of the trace.
std::string shown(const Value& value, Unit unit, profiler::TraceTime begin)
{
    if (std::holds_alternative<std::monostate>(value))
        return "-";
    if (const auto* text = std::get_if<std::string>(&value)) {
        std::string line = *text;
        std::replace_if(
            line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
        if (line.size() > kWidestCell) {
            std::size_t end = kWidestCell;
            while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) // never within a character
                --end;
            line = line.substr(0, end) + "…";
        }
        return line;
    }
    const auto* integer = std::get_if<std::int64_t>(&value);
    const double number = integer ? static_cast<double>(*integer) : std::get<double>(value);
    switch (unit) {
    case Unit::Duration:
        return profiler::timeText(number / 1e3);
    case Unit::Time:
        return integer ? profiler::positionText(profiler::traceTime(*integer) - begin)
                       : profiler::significantText(number);
    case Unit::Bytes:
        return profiler::bytesText(number);
    case Unit::Share:
        return profiler::shareText(number);
    default:
        return integer ? std::to_string(*integer) : profiler::significantText(number);
    }
}

bool isNumeric(const ResultTable& table, std::size_t column)
{
    for (std::size_t row = 0; row < table.rows; ++row)
        if (std::holds_alternative<std::string>(table.at(row, column)))
            return false;
    return true;
}

std::string tableText(const ResultTable& table, profiler::TraceTime begin)
{
    std::vector<std::string> header;
    std::vector<bool> rightAligned;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        header.push_back(table.columns[column].name);
        rightAligned.push_back(isNumeric(table, column));
    }
    TextTable text(header, rightAligned);
    for (std::size_t row = 0; row < table.rows; ++row) {
        std::vector<std::string> cells;
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            cells.push_back(shown(table.at(row, column), table.columns[column].unit, begin));
        text.add(std::move(cells));
    }
    return text.text();
}

/// RFC 4180: quoted if it contains a separator, a quote or a line end.
std::string csvCell(const Value& value)
{
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value))
        return fmt::format("{}", *real);
    const auto* text = std::get_if<std::string>(&value);
    if (!text || text->find_first_of(",\"\r\n") == std::string::npos)
        return text ? *text : std::string();
    std::string quoted = "\"";
    for (const char c : *text)
        quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

void writeCsv(const ResultTable& table, std::ostream& out)
{
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        out << (column == 0 ? "" : ",") << csvCell(table.columns[column].name);
    out << "\r\n";
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            out << (column == 0 ? "" : ",") << csvCell(table.at(row, column));
        out << "\r\n";
    }
}

Json toJson(const Value& value)
{
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return *integer;
    if (const auto* real = std::get_if<double>(&value))
        return *real;
    const auto* text = std::get_if<std::string>(&value);
    return text ? Json(*text) : Json(nullptr);
}

Json toJson(const ResultTable& table)
{
    Json columns = Json::array(), rows = Json::array();
    for (const ResultColumn& column : table.columns)
        columns.push_back({{"name", column.name}, {"unit", unitText(column.unit)}});
    for (std::size_t row = 0; row < table.rows; ++row) {
        Json cells = Json::array();
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            cells.push_back(toJson(table.at(row, column)));
        rows.push_back(std::move(cells));
    }
    return {{"schema", 1},
            {"columns", columns},
            {"rows", rows},
            {"truncated", table.isCut},
            {"elapsed_us", static_cast<double>(table.elapsed.count()) / 1e3}};
}

int failedWith(const profiler::Error& error, std::string_view sql, const QueryOptions& options, const Streams& streams)
{
    if (options.json)
        streams.out << jsonText({{"schema", 1}, {"error", errorJson(error)}}) << '\n';
    streams.err << error.message() << '\n';
    if (const std::string marked = markedLine(sql, error); !marked.empty())
        streams.err << marked << '\n';
    if (error.code == profiler::Error::Code::Cancelled)
        return kInterrupted;
    const bool isWrongSql = error.code == profiler::Error::Code::Invalid && error.what.id.starts_with("query.");
    return isWrongSql ? kWrongUsage : kBadInput;
}

} // namespace

int query(const QueryOptions& options, const Streams& streams)
{
    if (options.tables)
        return listTables(options.json, streams);
    catchInterrupts();
    std::string sql = options.sql;
    if (sql == "-")
        sql.assign(std::istreambuf_iterator<char>(std::cin), {});
    const auto trace = openTrace(options.trace);
    if (!trace)
        return failedWith(trace.error(), {}, options, streams);
    const auto steps = chosenSteps(**trace, options.steps, options.trace);
    if (!steps)
        return failedWith(steps.error(), {}, options, streams);
    Source source{*trace, *steps};
    source.extraTables.push_back(findingTable(**trace));
    Limits limits;
    const bool isTable = !options.json && !options.csv;
    if (options.limit > 0 || isTable)
        limits.rows = options.limit > 0 ? options.limit : kTableRows;
    limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeoutSeconds * 1e3));
    std::stop_source stop;
    const InterruptWatch watch(stop);
    const auto result = runQuery(source, sql, limits, stop.get_token());
    if (!result)
        return failedWith(result.error(), sql, options, streams);
    if (options.json)
        streams.out << jsonText(toJson(*result)) << '\n';
    else if (options.csv)
        writeCsv(*result, streams.out);
    else
        streams.out << tableText(*result, (*trace)->range().begin);
    if (result->isCut && !options.json)
        streams.err << fmt::format(
            "only the first {} are shown: use --limit for more, or LIMIT and ORDER BY in the query\n",
            result->rows == 1 ? "row" : fmt::format("{} rows", result->rows));
    return kDone;
}

} // namespace app::terminal
