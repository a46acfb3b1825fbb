#include "app/document/session.h"
#include "app/views/summary/summary_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    auto* panel = new SummaryPanel(context.selection, parent);
    Session* session = context.session;
    const auto showAnalysed = [=] {
        const auto analysed = session->analysed();
        if (analysed) // shares the analysis without copying it
            panel->show(analysed->trace, {analysed, &analysed->facts}, {analysed, &analysed->summary});
        else
            panel->show(nullptr, nullptr, nullptr);
        panel->setAnalysing(!analysed && session->trace()->sliceCount() > 0, session->whyNotAnalysed());
    };
    QObject::connect(session, &Session::traceChanged, panel,
                     [=] { panel->setAnalysing(!session->analysed() && session->trace()->sliceCount() > 0); });
    QObject::connect(session, &Session::analysedChanged, panel, showAnalysed);
    QObject::connect(panel, &SummaryPanel::stepsByRepetitionWanted, session, &Session::setStepsByRepetition);
    QObject::connect(panel, &SummaryPanel::stepRangeWanted, session, &Session::setStepRange);
    showAnalysed();
    return panel;
}

} // namespace

View summary()
{
    return {QCoreApplication::translate("views", "Summary"), ViewArea::Bottom, 0, create};
}

} // namespace app::views
