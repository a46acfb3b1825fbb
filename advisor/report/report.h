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

namespace advisor {

/// What a report may tell of; what is null or empty is left out.
struct ReportInput {
    std::string title;
    const profiler::Trace* trace = nullptr;
    const std::vector<profiler::analysis::Step>* steps = nullptr; ///< of the trace; null: those that it marks
    const config::TrainingConfig* config = nullptr;               ///< of the run
    std::vector<ExperimentResult> experiments;
    const TuneResult* tuning = nullptr;
    const ProgramTuneResult* program = nullptr; ///< a tuning of a program
    const Difference* difference = nullptr;     ///< the run before (a) against this one (b)
};

/// The contents of a report, for whatever shows it: plain text everywhere but in the figures.
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
    std::vector<Table> results; ///< of tuning and of experiments: what a reader asks about first
    std::vector<Figure> figures;
    std::vector<Table> tables;
    std::vector<RuleAdvice> advice;
    std::vector<Code> code; ///< to paste, for what fires or was kept
    std::string patch;      ///< unified diff that makes what was kept in a program; may be empty
    std::string command;    ///< the program's new command line; may be empty
};
ReportModel reportModel(const ReportInput& input);

/// "Should save 1.00 ms to 3.00 ms a step.", or why nothing is predicted.
std::string savingSentence(const Advice& advice);

/// One HTML file that needs nothing besides: style and figures are in it, and whatever comes from traces and
/// configurations is escaped.
std::string toHtml(const ReportModel& model);

/// Writes it beside `path` and renames it.
profiler::Result<void> writeReport(const std::filesystem::path& path, const ReportInput& input);

} // namespace advisor
