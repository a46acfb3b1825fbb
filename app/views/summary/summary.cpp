#include "app/views/summary/summary_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new SummaryPanel(bench.document.selection(), parent);
    TraceDocument* document = &bench.document;
    const auto showAnalysed = [=] {
        const auto analysed = document->analysed();
        if (analysed) // shares the analysis without copying it
            panel->show(analysed->trace, {analysed, &analysed->facts}, {analysed, &analysed->summary});
        else
            panel->show(nullptr, nullptr, nullptr);
        panel->setAnalysing(!analysed && document->trace()->sliceCount() > 0, document->whyNotAnalysed());
    };
    QObject::connect(document, &TraceDocument::traceChanged, panel,
                     [=] { panel->setAnalysing(!document->analysed() && document->trace()->sliceCount() > 0); });
    QObject::connect(document, &TraceDocument::analysedChanged, panel, showAnalysed);
    QObject::connect(panel, &SummaryPanel::stepsByRepetitionWanted, document, &TraceDocument::setStepsByRepetition);
    QObject::connect(panel, &SummaryPanel::stepRangeWanted, document, &TraceDocument::setStepRange);
    QObject::connect(panel, &SummaryPanel::rankWanted, document, &TraceDocument::setRank);
    showAnalysed();
    return panel;
}

} // namespace

View summary()
{
    return {QCoreApplication::translate("views", "Summary"), ViewArea::Bottom, 0, create};
}

} // namespace app::views
