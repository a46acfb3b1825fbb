#include "app/document/report_saver.h"

#include "advisor/report/report.h"
#include "app/document/session.h"
#include "app/report/pdf_report.h"
#include "app/services/tune_controller.h"

#include <utility>

namespace app {

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

ReportSaver::~ReportSaver()
{
    m_thread.cancelAndWait();
    for (const Wanted& wanted : m_wanted)
        static_cast<void>(write(wanted.contents, wanted.path)); // no receiver is left
}

void ReportSaver::save(ReportContents contents, const std::filesystem::path& path)
{
    m_wanted.push_back({std::move(contents), path});
    startNext();
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
                if (written)
                    emit saved(path);
                else
                    emit failed(written.error());
                startNext();
            });
        },
        [this](const profiler::Error& error) {
            m_busy = false;
            emit failed(error);
            startNext();
        });
}

} // namespace app
