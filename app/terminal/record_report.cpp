#include "app/terminal/record_report.h"

#include "advisor/runner/shell_words.h"
#include "app/terminal/json_text.h"

#include <fmt/format.h>
#include <fstream>

namespace app::terminal {

using namespace advisor;

namespace {

using profiler::Error;

int statusOf(const RecordReport& report)
{
    const int command = report.end ? report.end->shellStatus() : 0;
    return command == 0 && report.error ? kBadInput : command;
}

nlohmann::ordered_json jsonOf(const RecordReport& report, const RecordOptions& options)
{
    nlohmann::ordered_json json{{"schema", 1},
                                {"trace", (report.written.empty() ? options.trace : report.written).string()}};
    if (report.ranks > 0)
        json["ranks"] = report.ranks;
    if (report.result) {
        json["processes"] = report.result->processes;
        json["events"] = report.result->events;
        json["dropped"] = report.result->dropped;
        json["notes"] = textsJson(report.result->notes);
        json["note_messages"] = messagesJson(report.result->notes);
    }
    if (report.end) {
        json["exit_status"] = report.end->shellStatus();
        json["signal"] = report.end->signal;
        json["ended"] = report.end->text();
    }
    if (report.error)
        json["error"] = errorJson(*report.error);
    return json;
}

void printReport(const RecordReport& report, const RecordOptions& options, std::ostream& to)
{
    constexpr const char* kName = "stepscope-cli record: ";
    if (report.error) {
        to << kName << report.error->message();
        if (report.end)
            to << " · the command " << report.end->text();
        to << '\n';
        return;
    }
    const auto& result = *report.result;
    for (const profiler::Message& note : result.notes)
        to << kName << note.text << '\n';
    to << kName
       << fmt::format("{} · {}{} {}, {} events{} · the command {}\n",
                      (report.written.empty() ? options.trace : report.written).string(),
                      report.ranks > 0 ? fmt::format("{} ranks, ", report.ranks) : "", result.processes,
                      result.processes == 1 ? "process" : "processes", result.events,
                      result.dropped > 0 ? fmt::format(" ({} dropped)", result.dropped) : "", report.end->text());
    if (result.events > 0)
        to << kName << "to see what could be faster: stepscope-cli advise "
           << runner::commandLine({(report.written.empty() ? options.trace : report.written).string()}) << '\n';
}

} // namespace

int say(const RecordReport& report, const RecordOptions& options, const Streams& streams)
{
    const int status = statusOf(report);
    if (!options.report.empty()) {
        std::ofstream file(options.report, std::ios::trunc);
        file << jsonText(jsonOf(report, options), true) << '\n';
        file.close();
        if (file)
            return status;
        streams.err << "stepscope-cli record: the report could not be written: " << options.report.string() << '\n';
    }
    if (options.json && !report.error)
        streams.err << jsonText(jsonOf(report, options), true) << '\n';
    else
        printReport(report, options, streams.err);
    return status;
}

} // namespace app::terminal
