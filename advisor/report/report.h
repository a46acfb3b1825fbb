#pragma once

#include "advisor/experiment/difference.h"
#include "advisor/experiment/experiment.h"
#include "advisor/report/svg_chart.h"
#include "advisor/rule.h"
#include "advisor/tuner/program_tuner.h"
#include "advisor/tuner/tuner.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// The report of a run as a neutral model and as one HTML file.
namespace advisor {

/// The contents of a report; null or empty parts are omitted.
struct ReportInput {
    std::string title;
    const profiler::Trace* trace = nullptr;
    const std::vector<profiler::analysis::Step>* steps = nullptr; ///< steps of the trace; null: those that it marks
    const config::TrainingConfig* config = nullptr;               ///< configuration of the run
    std::vector<ExperimentResult> experiments;
    const TuneResult* tuning = nullptr;
    const ProgramTuneResult* program = nullptr; ///< result of tuning a program
    const Difference* difference = nullptr;     ///< the previous run (a) compared with this one (b)
};

/// The contents of a report in a neutral form: plain text everywhere except in the figures.
struct ReportModel {
    struct Table {
        std::string heading;
        std::vector<std::string> header; ///< the first column is text, the others are numbers
        std::vector<std::vector<std::string>> rows;
        std::string note;
    };
    struct Figure {
        std::string heading;
        svg::Chart chart;
        std::string caption;
    };
    struct Code {
        std::string key, python, cpp;
    };
    std::string title;
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<Table> results; ///< results of tuning and experiments, which readers look for first
    std::vector<Figure> figures;
    std::vector<Table> tables;
    std::vector<RuleAdvice> advice;
    std::vector<Code> code; ///< code to copy for findings or kept changes
    std::string patch;      ///< unified diff with the changes that were kept in a program; may be empty
    std::string command;    ///< the program's new command line; may be empty
};
ReportModel reportModel(const ReportInput& input);

/// "Could save 1.00–3.00 ms per step.", or why there is no prediction.
std::string savingSentence(const Advice& advice);

/// The contents of the HTML file without its style, for printing with another one.
std::string htmlBody(const ReportModel& model);

/// A self-contained HTML file: style and figures are embedded, and all text from traces and configurations is escaped.
std::string toHtml(const ReportModel& model);

/// Writes to a temporary file next to `path` and renames it.
profiler::Result<void> writeReport(const std::filesystem::path& path, const ReportInput& input);

} // namespace advisor
