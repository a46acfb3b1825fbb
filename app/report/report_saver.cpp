#include "app/report/report_saver.h"

#include "advisor/report/report.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/save_dialog.h"
#include "app/report/pdf_report.h"
#include "app/services/journal.h"
#include "app/services/notices.h"
#include "app/services/tuning_service.h"

#include <QCoreApplication>
#include <utility>

namespace app {

QString askForReportFile(QWidget* parent, const QString& title, const QString& suggested)
{
    return askWhereToSave(parent, title, suggested,
                          {{QCoreApplication::translate("Report", "Web page (*.html)"), ".html"},
                           {QCoreApplication::translate("Report", "PDF (*.pdf)"), ".pdf"}});
}

namespace {

profiler::Result<void> write(const ReportContents& contents, const std::filesystem::path& path)
{
    advisor::ReportInput input;
    input.title = contents.title.toStdString();
    input.trace = contents.trace.get();
    input.steps = contents.analysed ? &contents.analysed->facts.steps : nullptr;
    input.config = contents.configuration ? &*contents.configuration : nullptr;
    input.experiments = contents.experiments;
    input.tuning = contents.tuning ? &*contents.tuning : nullptr;
    input.program = contents.program ? &contents.program->result : nullptr;
    const QString name = QString::fromStdString(path.string());
    return name.endsWith(".pdf", Qt::CaseInsensitive) ? writePdfReport(path, advisor::reportModel(input))
                                                      : advisor::writeReport(path, input);
}

} // namespace

ReportSaver::ReportSaver(Notices* notices, const TraceDocument* document, const JournalStore* journal,
                         const TuningService* tuning)
    : m_notices(notices), m_document(document), m_journal(journal), m_tuning(tuning)
{
}

ReportSaver::~ReportSaver()
{
    m_thread.cancelAndWait();
    for (const Wanted& wanted : m_wanted)
        static_cast<void>(write(wanted.contents, wanted.path)); // no receiver is left
}

ReportContents ReportSaver::contentsOfTrace() const
{
    ReportContents contents;
    const QString& title = m_document->title();
    contents.title = title.isEmpty() ? tr("Training report") : tr("Training report: %1").arg(title);
    if (m_document->trace()->sliceCount() > 0)
        contents.trace = m_document->trace();
    if (m_document->analysed() && m_document->analysed()->trace == m_document->trace())
        contents.analysed = m_document->analysed();
    contents.configuration = m_document->configuration();
    return contents;
}

/// Measured changes of a training.
/// @param of  the training they were measured with
void ReportSaver::addMeasured(ReportContents& to, const config::TrainingConfig& of) const
{
    if (!m_document->program().id.isEmpty())
        return; // the trace was recorded from a program
    const auto add = [&](const advisor::ExperimentResult& result) {
        if (m_journal->all().isResultOf(of, result.plan.baseline, result.plan.changes))
            to.experiments.push_back(result);
    };
    for (const KeptChange& kept : m_journal->shown().changes)
        add(kept.result);
    for (const advisor::ExperimentResult& result : m_journal->resultsNotKept())
        add(result);
}

void ReportSaver::saveReport(const std::filesystem::path& path)
{
    emit m_notices->outdated();
    ReportContents contents = contentsOfTrace();
    if (!m_document->program().id.isEmpty()) {
        if (m_tuning->isOfDocument())
            contents.program = m_tuning->programResult();
        for (const KeptChange& kept : m_journal->shown().changes)
            contents.experiments.push_back(kept.result);
        for (const advisor::ExperimentResult& result : m_journal->resultsNotKept())
            contents.experiments.push_back(result);
    } else if (const config::TrainingConfig* shown = m_journal->training()) {
        addMeasured(contents, *shown);
        if (m_tuning->result() && m_tuning->isOfDocument())
            contents.tuning = m_tuning->result();
    }
    save(std::move(contents), path);
}

void ReportSaver::saveTuneReport(const std::filesystem::path& path)
{
    const auto& tuned = m_tuning->result();
    const auto& program = m_tuning->programResult();
    if (!tuned && !program)
        return;
    emit m_notices->outdated();
    ReportContents contents = contentsOfTrace();
    if (!contents.trace || !m_tuning->isOfDocument())
        contents = {};
    if (program) {
        contents.title = tr("Tuning report: %1").arg(m_tuning->origin().name);
        contents.program = program;
        save(std::move(contents), path);
        return;
    }
    if (!contents.trace)
        contents.configuration = tuned->best;
    contents.title = tr("Tuning report: %1").arg(QString::fromStdString(workloadOf(tuned->start)));
    contents.tuning = tuned;
    addMeasured(contents, tuned->start);
    save(std::move(contents), path);
}

void ReportSaver::save(ReportContents contents, const std::filesystem::path& path)
{
    m_wanted.push_back({std::move(contents), path});
    startNext();
}

void ReportSaver::reportFailure(const profiler::Error& error)
{
    emit m_notices->noticed(asQString(error.what.text), asQString(error.message()), true);
}

void ReportSaver::startNext()
{
    if (m_busy || m_wanted.empty())
        return;
    m_busy = true;
    Wanted wanted = std::move(m_wanted.front());
    m_wanted.pop_front();
    m_thread.start(
        [this, wanted = std::move(wanted)](const std::stop_token&, const Background::Post& post) {
            const auto written = write(wanted.contents, wanted.path);
            post([this, path = wanted.path, written] {
                m_busy = false;
                if (written) {
                    emit m_notices->noticed(tr("Report saved."), asQString(path.string()), false);
                    emit m_notices->saved(asQString(path.string()));
                } else {
                    reportFailure(written.error());
                }
                startNext();
            });
        },
        [this](const profiler::Error& error) {
            m_busy = false;
            reportFailure(error);
            startNext();
        });
}

} // namespace app
