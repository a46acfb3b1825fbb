#include "app/session/report_saver.h"

#include "advisor/report/report.h"
#include "app/report/pdf_report.h"

#include <utility>

namespace app {

namespace {

profiler::Result<void> write(const ReportContents& contents, const std::filesystem::path& path)
{
    advisor::ReportInput input;
    input.title = contents.title.toStdString();
    input.trace = contents.trace.get();
    input.config = contents.configuration ? &*contents.configuration : nullptr;
    input.experiments = contents.experiments;
    input.tuning = contents.tuning ? &*contents.tuning : nullptr;
    const QString name = QString::fromStdString(path.string());
    return name.endsWith(".pdf", Qt::CaseInsensitive) ? writePdfReport(path, advisor::reportModel(input))
                                                      : advisor::writeReport(path, input);
}

} // namespace

ReportSaver::~ReportSaver()
{
    m_thread.cancel();
}

void ReportSaver::save(ReportContents contents, const std::filesystem::path& path)
{
    m_thread.start([this, contents = std::move(contents), path](const std::stop_token&, const Background::Post& post) {
        const auto written = write(contents, path);
        post([this, path, written] {
            if (written)
                emit saved(path);
            else
                emit failed(written.error());
        });
    });
}

} // namespace app
